"""Experiments: what iap.train is given, as text."""
import random

from blocks import policy_of
from lua_text import Call, Raw, lua, some
from optimizers import optimizer_of
from worlds import distraction_of, make_world


class Case:
    """An experiment: `options` of iap.train in the order in which they are written."""

    def __init__(self, seed, number):
        rng = self.rng = random.Random(f"{seed}/{number}")
        self.name = f"{seed}-{number}"
        world = self.world = make_world(rng)
        kind = rng.choice(["make", "table", "name"])
        self.isolated = False
        self.options = {"env": None, "policy": policy_of(rng, world), "optimizer": optimizer_of(rng)}
        if kind == "table" or kind == "name" and world.options:
            self.options["env"] = {"name": world.name, **world.options}
        else:
            self.options["env"] = Raw(f"iap.env.make({lua(world.name)}, {lua(world.options)})")
        options = self.options
        options["iterations"] = rng.randint(2, 4)
        options["seed"] = rng.choice([0, 1, 7, 2**53 + 1, 2**62])
        options["eval_episodes"] = rng.randint(1, 4)
        options["confirm_episodes"] = rng.randint(0, 3)
        options.update(some(rng, 0.4, {
            "episodes": lambda: rng.randint(1, 3), "episode_seeds": lambda: rng.choice(["common", "pairs", "own"]),
            "action_noise": lambda: rng.choice([0.1, 0.5]), "eval_every": lambda: rng.randint(0, 3),
            "checkpoint_every": lambda: rng.randint(1, 3)}))
        options.setdefault("eval_every", 1)
        options.update(some(rng, 0.15, {"log": lambda: rng.choice(["jsonl", ["jsonl", "tensorboard"]]),
                                        "retries": lambda: rng.randint(0, 2)}))
        self.add_stages(rng)
        self.add_eval_env(rng)
        self.add_faults(rng)
        if rng.random() < 0.08:
            built = f"iap.policy.build({lua(options['policy'])}, {lua(options['env'])})"
            options["init"] = Raw(f"(function() local p = {built}; p:initialise(11); return p end)()")
        if rng.random() < 0.15:
            options["on_iteration"] = Raw(f"function(row) return row.iteration < {rng.randint(1, 4)} end")

    def other_pixels(self, rng):
        pixels = self.world.options.get("pixels")
        if not pixels or not self.world.resizable:
            return None
        factor = rng.choice([2, 2, 1.5])
        return [int(p * factor) for p in pixels]

    def changes(self, rng, pixels=True):
        world = self.world
        table = {"time_limit": lambda: rng.randint(2, 12 if world.slow else 20)}
        if world.mujoco and world.images:
            table["distraction"] = lambda: distraction_of(rng)
        if "reward" in world.options:
            table["reward"] = "task"
        if pixels and self.other_pixels(rng):
            table["pixels"] = lambda: self.other_pixels(rng)
        return some(rng, 0.4, table)

    def add_stages(self, rng):
        if rng.random() > 0.25:
            return
        even = self.options["optimizer"].name in ("iap.optim.es", "iap.optim.ars", "iap.optim.pgpe")
        stages = []
        for i in range(rng.randint(1, 3)):
            stage = self.changes(rng, even)
            if rng.random() < 0.3:
                stage["episodes"] = rng.randint(1, 2)
            if even and rng.random() < 0.3:
                stage["population"] = 2 * rng.randint(1, 4)
            stages.append({"through": i + 1, **stage})
        del stages[-1]["through"]
        self.options["curriculum"] = [s or Raw("{}") for s in stages]
        if rng.random() < 0.3:
            self.options["fit"] = rng.choice(["resample", "pool"])

    def add_eval_env(self, rng):
        if rng.random() < 0.2:
            changes = self.changes(rng)
            if changes:
                self.options["eval_env"] = changes
                if rng.random() < 0.4:
                    self.options["fit"] = rng.choice(["resample", "pool"])

    def add_faults(self, rng):
        if self.world.name != "world.lua" or rng.random() > 0.4:
            return
        # None that hangs: what a limit of seconds ends depends on the machine.
        how = rng.choice(["error", "error", "nan", "exit"])
        self.world.options.update(fragile=rng.randint(2, 5), how=how)
        env = {"name": self.world.name, **self.world.options}
        self.options["env"] = env
        if rng.random() < 0.85:
            self.options["failed_return"] = rng.choice([-1.0, 0, -10])
        if how == "exit":
            self.isolated = True
            self.options["isolate"] = True

    def script(self, out, left_out=()):
        lines = ['local iap = require "iap"', "local run = iap.train {"]
        for name, value in self.options.items():
            if name not in left_out:
                lines.append(f"  {name} = {lua(value)},")
        return "\n".join([*lines, f"  out = {out},", "}", 'print("came to", run.iterations, run.stop_reason, run.best_eval)']) + "\n"
