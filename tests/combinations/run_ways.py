"""Ways to run an experiment by the program alone."""
import json
import re
import shutil
import signal

from files import carry_files
from lua_text import Call, Raw, some


class RunWays:
    """Each begins the experiment anew, beside `base`."""

    def base(self):
        """The run that the others are compared with; False where the experiment is refused, which --dry-run must do, too."""
        if self.case.before:
            (self.folder / "before.lua").write_text(self.case.before)
            self.first = self.run([self.iap, "run", "before.lua"])
            if self.first.rc != 0:
                self.notes.append("refused before: " + (self.first.err.strip().splitlines() or ["nothing said"])[-1])
                return False
        self.first = self.run(self.train("base", "--threads", 1))
        if self.first.rc != 0:
            message = self.first.err.strip().splitlines()
            self.notes.append("refused: " + (message[-1] if message else "nothing said"))
            dry = self.run([self.iap, "run", "experiment.lua", "--out", "dry", "--dry-run", "--threads", 1])
            if dry.rc == 0 and "fragile" in self.case.world.options:
                self.notes.append("dry-run is content, as it plays other episodes")
            elif dry.rc == 0:
                self.fail("dry", f"the run ended by {self.first.rc}: {self.first.err[-500:]}, but --dry-run is content: {dry.out[-300:]}")
            elif dry.err.strip().splitlines()[-1:] != message[-1:]:
                self.notes.append(f"dry-run says otherwise: {dry.err.strip()[-300:]}")
            self.refused_alike(message[-1] if message else "")
            return False
        self.seconds = self.first.seconds
        return True

    def refused_alike(self, message):
        """What ends the run on one thread ends it on others, isolated and in a host, by the same words."""
        results = {"threads": self.run(self.train("refused", "--threads", 3))}
        if self.case.rng.random() < 0.4:
            results["isolate"] = self.run(self.train("refused2", "--set", "isolate=true"))
        if self.case.hosted() and shutil.which("lua5.4"):
            (self.folder / "host.lua").write_text(self.case.script('"refused3"'))
            results["host"] = self.run(["lua5.4", "host.lua"])
        words = re.sub(r"^\w+\.lua:\d+: ", "", message)
        for how, result in results.items():
            if result.rc == 0 or words not in result.err:
                self.fail("refused", f"{how}: exit {result.rc}: {result.err.strip()[-500:]}, before: {message}")
        paths = [self.folder / out / "metrics.csv" for out in ("base", "refused")]
        if [path.exists() for path in paths] == [True, True] and self.table("base") != self.table("refused"):
            self.fail("refused", "metrics.csv differs")

    def way_dry(self):
        """Nothing is written."""
        dry = self.run([self.iap, "run", "experiment.lua", "--out", "dry", "--dry-run", "--threads", 1])
        if self.complete("dry", dry) and (self.folder / "dry").exists():
            self.fail("dry", "--dry-run wrote its folder")

    def way_threads(self):
        """More threads."""
        if self.complete("threads", self.run(self.train("threads", "--threads", self.case.rng.choice([2, 3, 4])))):
            self.compare("threads", "threads")

    def way_isolate(self):
        """Episodes in processes of their own."""
        if self.complete("isolate", self.run(self.train("isolate", "--threads", self.case.rng.choice([1, 2, 3]), "--set", "isolate=true"))):
            self.compare("isolate", "isolate")

    def way_ranks(self):
        """Two processes of an MPI."""
        if not self.ranks:
            return
        more = ["--set", "isolate=true"] if self.case.rng.random() < 0.2 else []
        if self.complete("ranks", self.run(self.train("ranks", "--threads", self.case.rng.choice([1, 2]), *more, before=self.ranks))):
            self.compare("ranks", "ranks")

    def compare_told(self, way, result, story, out=None, **how):
        """Compares the run that a way came to; where it differs, `story` says how it came there."""
        if out is None and not self.complete(way, result):
            return
        had = len(self.wrong)
        self.compare(way, out or way, **how)
        if len(self.wrong) > had:
            self.fail(way, story)

    def way_killed(self):
        """Stopped by signals at any moment, and resumed."""
        rng = self.case.rng
        story = []
        for attempt in range(rng.randint(1, 3)):
            by = rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
            after = 0.05 + rng.random() * self.seconds
            # A SIGKILL reaches mpirun alone, whose ranks hold the folder until they notice.
            by_ranks = bool(self.ranks) and rng.random() < 0.15 and by in (signal.SIGTERM, signal.SIGINT)
            words = self.train("killed", "--threads", rng.randint(1, 3), *(["--resume"] if attempt else []),
                               *(["--set", "isolate=true"] if rng.random() < 0.15 else []), before=self.ranks if by_ranks else [])
            result = self.run(words, after, by)
            story.append((by.name, round(after, 3), result.rc, by_ranks))
            if not by_ranks and result.rc not in (0, 130, -by, 128 + by):
                self.fail("killed", f"{story}: {result.err[-800:]}")
        before = self.ranks if rng.random() < 0.15 else []
        result = self.run(self.train("killed", "--resume", "--threads", rng.randint(1, 3), before=before))
        self.compare_told("killed", result, f"story {story}, mpi {bool(before)}; {result.err[-600:]}")

    def way_cut(self):
        """Fewer iterations first, then all."""
        rng, n = self.case.rng, self.case.options["iterations"]
        cuts = sorted(rng.sample(range(0, n), min(n, rng.randint(1, 2))))
        for i, cut in enumerate(cuts):
            result = self.run(self.train("cut", "--set", f"iterations={cut}", "--threads", rng.randint(1, 2), *(["--resume"] if i else [])))
            if result.rc != 0:
                self.fail("cut", f"iterations={cut}: exit {result.rc}: {result.err[-600:]}")
        result = self.run(self.train("cut", "--resume", "--set", f"iterations={n}"))
        self.compare_told("cut", result, f"cuts {cuts}")

    def way_torn(self):
        """Fewer iterations first, of which the last checkpoint, or the end of the table, is damaged."""
        rng, n = self.case.rng, self.case.options["iterations"]
        cut = rng.randint(1, n)
        if not self.complete("torn", self.run(self.train("torn", "--set", f"iterations={cut}", "--threads", 2))):
            return
        story = f"iterations={cut}"
        path = self.folder / "torn/checkpoint.iap"
        if rng.random() < 0.7 and (self.folder / "torn/checkpoint.previous.iap").exists():
            data = bytearray(path.read_bytes())
            if rng.random() < 0.5:
                data = data[:rng.randint(0, len(data) - 1)]
            else:
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            path.write_bytes(data)
            story += f", {len(data)} bytes of checkpoint.iap"
        if rng.random() < 0.6:
            path = self.folder / "torn/metrics.csv"
            path.write_bytes(path.read_bytes() + rng.choice([b"3,1.5", b"2,", b"\0\0\0"]))
            story += ", more in metrics.csv"
        result = self.run(self.train("torn", "--resume", "--threads", rng.randint(1, 3)))
        self.compare_told("torn", result, f"{story}: {result.err[-600:]}")

    def way_own(self):
        """The script that the run keeps."""
        if self.complete("own", self.run(self.train("own", "--threads", 2, script="base/experiment.lua"))):
            self.compare("own", "own")

    def way_again(self):
        """A complete run is resumed: nothing changes."""
        before = {p.name: p.read_bytes() for p in (self.folder / "base").iterdir() if p.is_file() and p.name != "log.txt"}
        result = self.run(self.train("base", "--resume", "--threads", 2))
        if self.complete("again", result):
            after = {p.name: p.read_bytes() for p in (self.folder / "base").iterdir() if p.is_file() and p.name != "log.txt"}
            for name in sorted(before.keys() | after.keys()):
                if before.get(name) != after.get(name):
                    self.fail("again", f"{name} is another one after --resume of the complete run; {result.err[-400:]}")

    def way_set(self):
        """Some options by --set in place of the script."""
        rng = self.case.rng
        fixed = ("env", "policy", "init", "on_iteration", "optimizer", "curriculum", "log")
        able = [n for n, v in self.case.options.items() if n not in fixed and not isinstance(v, (Raw, Call))]
        chosen = rng.sample(able, min(len(able), 3))
        (self.folder / "less.lua").write_text(self.case.script('iap.run_folder("less")', chosen))
        words = []
        for name in chosen:
            words += ["--seed", self.case.options[name]] if name == "seed" else ["--set", f"{name}={json.dumps(self.case.options[name])}"]
        if self.complete("set", self.run(self.train("set", *words, "--threads", 2, script="less.lua"))):
            self.compare("set", "set")
            self.notes.append(f"set {chosen}")

    def way_stir(self):
        """Resumed again and again, with whatever a resumed run may change, at last as it was begun."""
        rng, options = self.case.rng, self.case.options
        n = options["iterations"]
        story = []
        for attempt in range(rng.randint(2, 4)):
            change = some(rng, 0.4, {"confirm_episodes": lambda: rng.randint(0, 3), "checkpoint_every": lambda: rng.randint(1, 3),
                                     "log": lambda: rng.choice(["jsonl", "tensorboard"]), "iterations": lambda: rng.randint(0, n),
                                     "retries": lambda: rng.randint(0, 2), "isolate": True, "worker_memory": 4000, "quiet": True})
            words = []
            for name, value in change.items():
                words += ["--set", f"{name}={json.dumps(value)}"]
            by = rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]) if rng.random() < 0.4 else None
            after = 0.05 + rng.random() * self.seconds if by else None
            result = self.run(self.train("stir", "--threads", rng.randint(1, 3), *(["--resume"] if attempt else []), *words), after, by)
            story.append((change, by and by.name, after and round(after, 2), result.rc))
            if not by and result.rc != 0:
                return self.fail("stir", f"{story}: {result.err[-800:]}")
        result = self.run(self.train("stir", "--resume", "--threads", rng.randint(1, 3)))
        self.compare_told("stir", result, f"story {story}; {result.err[-500:]}")

    def way_moved(self):
        """A run that goes on in another folder, from another working folder."""
        n = self.case.options["iterations"]
        cut = self.case.rng.randint(0, n - 1)
        result = self.run(self.train("there", "--set", f"iterations={cut}"))
        if not self.complete("moved", result):
            return
        place = self.folder / "away/de ep ü;$x"
        carry_files(self.case, self.folder, place)
        (self.folder / "there").rename(place / "moved")
        result = self.run([self.iap, "run", "experiment.lua", "--out", "moved", "--resume"], cwd=place)
        if self.complete("moved", result):
            self.compare("moved", "away/de ep ü;$x/moved")

    def axes(self):
        """What a sweep may go over: an option, its value and another one that goes with the rest."""
        options = self.case.options
        found = [("episodes", options.get("episodes", 1), options.get("episodes", 1) + 1)]
        if "sigma" in options["optimizer"].options:
            found.append(("optimizer.sigma", options["optimizer"].options["sigma"], 0.5))
        if "time_limit" in self.case.world.options:
            found.append(("env.time_limit", self.case.world.options["time_limit"], 2))
        return found

    def way_sweep(self):
        """The same run as one of a sweep, which may be ended by a signal and started again."""
        rng, options = self.case.rng, self.case.options
        axis, value, other = rng.choice(self.axes())
        words = [self.iap, "sweep", "experiment.lua", "--over", f"{axis}={value},{other}", "--seed", options["seed"],
                 "--out", "sweep", "--jobs", rng.randint(1, 2)]
        halving = rng.random() < 0.5 and options["iterations"] >= 2 and "on_iteration" not in options
        words += ["--halving", 2] if halving else []
        killed = None
        if rng.random() < 0.4:
            killed = rng.choice([signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
            first = self.run(words, 0.05 + 2 * rng.random() * self.seconds, killed)
            if first.rc not in (0, 1, 130, -killed, 128 + killed):
                self.fail("sweep", f"{killed.name}: exit {first.rc}: {first.err[-600:]}")
        result = self.run(words)
        out = f"sweep/{axis.split('.')[-1]}={value}-seed{options['seed']}"
        if result.rc != 0:  # by the other run, whose settings need not go together
            said = (result.err.strip() or result.out.strip())[-400:]
            told = f"sweep {axis} (halving {halving}, killed {killed}): exit {result.rc}: {said}"
            if not (self.folder / out / "result.json").exists():
                return self.fail("sweep", told)
            self.notes.append(told)
            if halving:
                return
        if halving:
            done = self.folder / out / "result.json"
            if not done.exists():
                return self.notes.append("sweep: no result.json")
            if json.loads(done.read_text())["iterations"] != json.loads((self.folder / "base/result.json").read_text())["iterations"]:
                return
            again = self.run(self.train(out, "--resume", "--set", f"{axis}={value}", "--seed", options["seed"]))
            self.complete("sweep", again)
        self.compare_told("sweep", result, f"{axis}, halving {halving}, killed {killed}", out)
