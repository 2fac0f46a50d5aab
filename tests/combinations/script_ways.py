"""Scripts that do more than the experiment."""
import shutil
import signal

from lua_text import Raw, lua


class ScriptWays:
    """Each trains beside, or in parts, in one process."""

    def written(self, name, text, *words, lua54=False):
        (self.folder / f"{name}.lua").write_text(text)
        return self.run(["lua5.4", f"{name}.lua"] if lua54 else [self.iap, "run", f"{name}.lua", *words])

    def in_function(self, out, changed=None):
        """iap.train's call as a Lua expression."""
        options = {**self.case.options, **(changed or {}), "out": out, "quiet": True}
        return "iap.train { " + ", ".join(f"{name} = {lua(value)}" for name, value in options.items() if value is not None) + " }"

    def begun(self):
        return 'local iap = require "iap"\n' + self.case.head

    def way_twice(self):
        """Behind another training with the same objects, and an evaluation of its policy."""
        names = [n for n in ("env", "policy", "optimizer", "init", "eval_env", "curriculum") if n in self.case.options]
        shared = "".join(f"local {name} = {lua(self.case.options[name])}\n" for name in names)
        objects = {name: Raw(name) for name in names}
        other = self.in_function("other", {**objects, "seed": self.case.options["seed"] + 1, "iterations": 1})
        text = f"{self.begun()}{shared}local first = {other}\nfirst.policy:reset(3)\n{self.in_function('twice', objects)}\n"
        lua54 = bool(shutil.which("lua5.4")) and self.case.hosted() and self.case.rng.random() < 0.3
        if self.complete("twice", self.written("twice", text, *([] if lua54 else ["--threads", 2]), lua54=lua54)):
            self.compare("twice", "twice")

    def way_series(self):
        """The second of two trainings under one name, killed somewhere and resumed."""
        rng = self.case.rng
        folder = Raw('iap.run_folder("series")')
        first = self.in_function(folder, {"seed": self.case.options["seed"] + 1, "iterations": 1})
        (self.folder / "series.lua").write_text(f"{self.begun()}{first}\n{self.in_function(folder)}\n")
        story = []
        for attempt in range(rng.randint(1, 2)):
            by, after = rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]), 0.05 + rng.random() * 1.6 * self.seconds
            result = self.run(self.train("series", "--threads", 2, *(["--resume"] if attempt else []), script="series.lua"), after, by)
            story.append((by.name, round(after, 3), result.rc))
            if result.rc not in (0, 130, -by, 128 + by):
                self.fail("series", f"{story}: {result.err[-800:]}")
        result = self.run(self.train("series", "--threads", 2, "--resume", script="series.lua"))
        if self.complete("series", result):
            self.compare("series", "series-2")
        if self.wrong:
            self.notes.append(f"series: {story}")

    def way_stumbled(self):
        """Ended by an error in on_iteration, then resumed."""
        rng = self.case.rng
        stop = self.case.options.get("on_iteration", "function() end")
        last = rng.randint(1, self.case.options["iterations"])
        body = f"function(row) if row.iteration == {last} then error('stumbled') end return ({stop})(row) end"
        (self.folder / "stumbled.lua").write_text(self.case.script('iap.run_folder("stumbled")', changed={"on_iteration": Raw(body)}))
        result = self.run(self.train("stumbled", "--threads", 2, script="stumbled.lua"))
        if result.rc != 0 and "stumbled" not in result.err or result.rc == 0 and stop == "function() end" and self.all_played(last):
            self.fail("stumbled", f"exit {result.rc}: {result.err[-600:]}")
        self.compare_told("stumbled", self.run(self.train("stumbled", "--resume", "--threads", rng.randint(1, 3))), f"at {last}")

    def all_played(self, iteration):
        return any(row["iteration"] == str(iteration) for row in self.table("base"))

    def way_prompt(self):
        """Typed at the prompt."""
        (self.folder / "typed.lua").write_text(f"{self.begun()}return {self.in_function('prompt')}\n")
        result = self.run(["sh", "-c", 'echo \'local run = dofile "typed.lua"\' | "$0"', self.iap])
        if self.complete("prompt", result):
            self.compare("prompt", "prompt")

    def way_parts(self):
        """Fewer iterations first, then all, by `resume` in one script."""
        n = self.case.options["iterations"]
        calls = [self.in_function("parts", {"iterations": k, "resume": Raw("true") if i else None})
                 for i, k in enumerate([self.case.rng.randint(0, n - 1), n])]
        if self.complete("parts", self.written("parts", self.begun() + "\n".join(calls) + "\n", "--threads", 2)):
            self.compare("parts", "parts")

    def way_meanwhile(self):
        """Evaluations and another training between its iterations."""
        stop = self.case.options.get("on_iteration", "function() end")
        first = self.in_function("small", {"on_iteration": None, "iterations": 1})
        safe = {n: self.case.options[n] for n in ("isolate", "retries", "failed_return") if n in self.case.options}
        policy = f'iap.eval("small", {lua({"episodes": 2, "trust": True, **safe})})'
        body = f"function(row) if row.iteration == 1 then {first} else local _ = {policy} end return ({stop})(row) end"
        if "failed_return" not in self.case.options and "fragile" in self.case.world.options:
            return
        text = f"{self.begun()}{self.in_function('meanwhile', {'on_iteration': Raw(body)})}\n"
        if self.complete("meanwhile", self.written("meanwhile", text, "--threads", 2)):
            self.compare("meanwhile", "meanwhile")

    def way_begun(self):
        """A training that begins at the run's best policy, by its folder, its file and the policy itself."""
        if "eval_env" in self.case.options or "curriculum" in self.case.options:
            return  # whose policies are of other sizes
        outs = ["begun1", "begun2", "begun3"]
        inits = ["base", "base/best.iap", Raw('iap.policy.load("base", { trust = true })')]
        calls = [self.in_function(out, {"init": init, "iterations": 2, "policy": self.case.options.get("policy") if i < 2 else None})
                 for i, (out, init) in enumerate(zip(outs, inits))]
        if not self.complete("begun", self.written("begun", self.begun() + "\n".join(calls) + "\n", "--threads", 2)):
            return
        for out in outs[1:]:
            if self.table(outs[0]) != self.table(out):
                self.fail("begun", f"metrics.csv of {out} differs from that of {outs[0]}")
            for name in ("best.iap", "final.iap"):
                if out == "begun2" and (self.folder / outs[0] / name).read_bytes() != (self.folder / out / name).read_bytes():
                    self.fail("begun", f"{name} of {out} differs from that of {outs[0]}")
