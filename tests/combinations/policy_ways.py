"""What is done with a policy afterwards."""
import csv
import json
import pathlib
import shutil

HERE = pathlib.Path(__file__).resolve().parent
# What the lines of `iap eval` begin with that must be the same.
FIGURES = ("mean", "95", "standard", "failed", "unstable")


class PolicyWays:
    """Evaluations of the run in `base`."""

    def evaluated(self, words, name, cwd=None):
        """What `iap eval` said, and its table (None where it failed)."""
        path = self.folder / f"{name}.csv"
        result = self.run([*words, "--csv", path, *self.guards()], cwd=cwd)
        if result.rc != 0:
            return result, None
        return result, path.read_text()

    def guards(self):
        """What the run does with episodes that fail, as options of `iap eval`."""
        words = []
        for name in ("retries", "failed_return"):
            if name in self.case.options:
                words += [f"--{name.replace('_', '-')}={self.case.options[name]}"]
        return words + (["--isolate"] if self.case.isolated else [])

    def after_eval(self):
        """The run's own episodes again, in two ways and by Python."""
        rng, options = self.case.rng, self.case.options
        seed, count = options["seed"], options["eval_episodes"]
        plain = [self.iap, "eval", "base", "--episodes", count, "--seed", seed]
        own = ["--trust"] if self.case.isolated and self.case.world.options.get("how") == "exit" else []
        first, rows = self.evaluated([*plain, "--threads", 1, *own], "eval1")
        if rows is None:
            return self.fail("eval", f"exit {first.rc}: {first.err[-600:]}")
        result = json.loads((self.folder / "base/result.json").read_text())
        returns = [float(row["return"]) for row in csv.DictReader(rows.splitlines())]
        mean = 0.0
        for value in returns:
            mean += value
        mean /= len(returns)
        if mean != result["best_eval"]:
            self.fail("eval", f"the run's own episodes: {mean!r} by iap eval, {result['best_eval']!r} in result.json")
        row = [r for r in self.table("base") if int(float(r["iteration"])) == result["best_iteration"]]
        if row and float(row[0]["eval_mean"] or "nan") != result["best_eval"]:
            self.fail("eval", f"best_eval {result['best_eval']!r}, but row {result['best_iteration']} says {row[0]['eval_mean']}")
        ways = {"threads": [*plain, "--threads", 3, *own], "isolate": [*plain, "--isolate", "--threads", 2, *own], "file": None}
        if self.ranks:
            ways["ranks"] = [*self.ranks, *plain, *own]
        for way in rng.sample(sorted(ways), 2):
            cwd = None
            words = ways[way]
            if way == "file":
                cwd = self.folder / "elsewhere"
                cwd.mkdir(exist_ok=True)
                shutil.copy(self.folder / "base/best.iap", cwd / "p.iap")
                for name in {"videos", "frames", "scan"} & set(self.case.files()):  # which stay where they are
                    shutil.copytree(self.folder / name, cwd / name, dirs_exist_ok=True)
                words = [self.iap, "eval", "p.iap", "--episodes", count, "--seed", seed, *own]
            result, other = self.evaluated(words, "eval2", cwd)
            if other != rows:
                self.fail("eval", f"by {way} other rows: {rows!r} and {other!r}; {result.err[-500:]}")
            same = [line for line in first.out.splitlines() if line.startswith(FIGURES)]
            now = [line for line in result.out.splitlines() if line.startswith(FIGURES)]
            if same != now:
                self.fail("eval", f"by {way} {now}, before {same}")
        if not self.python or "failed_return" in options or self.case.isolated:
            return
        python = self.run([self.python, HERE / "evaluate.py", rng.randint(1, 3), seed, count])
        if python.rc != 0:
            self.fail("python", python.err[-900:])
