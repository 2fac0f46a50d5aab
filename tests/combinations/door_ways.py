"""A run's best policy by the command line and by Lua."""
import csv
import json

from lua_text import lua


class DoorWays:
    """Each asks both for the same."""

    def told(self, result, way):
        """A command that may refuse, though not without a word; whether it did what it was to do."""
        if result.rc != 0 and not result.err.strip():
            self.fail(way, f"exit {result.rc} without a word")
        return result.rc == 0

    def both(self, way, words, script):
        """Whether the command line and Lua agree to do it, and do."""
        command = self.told(self.run([self.iap, *words]), way)
        (self.folder / f"{way}.lua").write_text('local iap = require "iap"\n' + script)
        result = self.run([self.iap, "run", f"{way}.lua"])
        if command != (result.rc == 0):
            self.fail(way, f"{words}: done {command}, by Lua {result.rc}: {result.err[-600:]}")
        return command and result.rc == 0

    def after_drawn(self):
        """The pictures of iap.report.strip and of `iap play --strip`, the figures of iap.report.probe and of `iap probe`."""
        if not self.by_hand():
            return
        rng = self.case.rng
        seed, frames = rng.randint(0, 2**40), rng.randint(1, 4)
        view, steps = rng.choice(["overlay", "heatmap", "raw", "side-by-side"]), rng.choice([0, 3])
        words = ["play", "base", "--strip", frames, "--seed", seed, "--view", view, "--trust", "--out", "drawn1.png"]
        options = {"policy": "base", "frames": frames, "seed": seed, "view": view, "steps": steps, "trust": True, "out": "drawn2.png"}
        if self.both("drawn", words + (["--steps", steps] if steps else []), f"iap.report.strip({lua(options)})\n"):
            if (self.folder / "drawn1.png").read_bytes() != (self.folder / "drawn2.png").read_bytes():
                self.fail("drawn", f"{options}: another picture by Lua")
        options = {"policy": "base", "episodes": 4, "seed": seed, "actions": rng.choice(["policy", "random"]),
                   "per_episode": rng.random() < 0.5, "trust": True, "csv": "probe2.csv"}
        words = ["probe", "base", "--episodes", 4, "--seed", seed, "--actions", options["actions"], "--trust", "--csv", "probe1.csv"]
        if self.both("drawn", words + (["--per-episode"] if options["per_episode"] else []), f"iap.report.probe({lua(options)})\n"):
            if (self.folder / "probe1.csv").read_text() != (self.folder / "probe2.csv").read_text():
                self.fail("drawn", f"{options}: other figures by Lua")

    def after_elsewhere(self):
        """The policy in an environment with other options, and in another one."""
        case, rng = self.case, self.case.rng
        if not self.by_hand() or "eval_env" in case.options or "curriculum" in case.options:
            return
        world = case.world
        name, options, words = world.name, dict(world.options), []
        alike = [other for other in world.others if {n: v for n, v in other.items() if n != "name"} == options]
        if alike and rng.random() < 0.6:
            name = rng.choice(alike)["name"]
            words += ["--env", name]
        for option, value in case.changes(rng, False).items():
            options[option] = value
            words += ["--set", f"{option}={json.dumps(value)}"]
        seed = rng.randint(0, 2**60)
        words = ["eval", "base", "--episodes", 3, "--seed", seed, "--csv", "elsewhere.csv", "--trust", *words]
        script = f"""
local policy = iap.policy.load("base", {{ trust = true }})
local result = iap.eval(policy, {{ episodes = 3, seed = {seed}, env = {lua({"name": name, **options})} }})
local file = io.open("elsewhere.txt", "w")
for _, episode in ipairs(result.episodes) do file:write(string.format("%.17g %d\\n", episode.total, episode.steps)) end
file:close()
"""
        if self.both("elsewhere", words, script):
            with open(self.folder / "elsewhere.csv", newline="") as file:
                first = [(float(row["return"]), int(row["steps"])) for row in csv.DictReader(file)]
            second = [(float(a), int(b)) for a, b in (line.split() for line in (self.folder / "elsewhere.txt").read_text().splitlines())]
            if first != second:
                self.fail("elsewhere", f"{words}: {first}, by Lua {second}")
