"""Experiments: what iap.train is given, as text."""
import random

from blocks import policy_of
from lua_text import Call, Raw, lua, some
from optimizers import optimizer_of
from pictures import distraction_of, render_of
from worlds import make_world, with_sky

PAIRED = ("iap.optim.es", "iap.optim.ars", "iap.optim.pgpe", "iap.optim.pepg")


class Case:
    """An experiment: `options` of iap.train in the order in which they are written. `head` is what its script says before, `before` a
    script that makes given.iap, which it begins at.
    """

    def __init__(self, seed, number):
        rng = self.rng = random.Random(f"{seed}/{number}")
        self.name, self.number = f"{seed}-{number}", number
        self.world = make_world(rng)
        self.head, self.before = "", None
        policy = policy_of(rng, self.world)
        # A full covariance of thousands of parameters takes longer than all else.
        wide = ('"content"', '"convolution"', '"histogram"', "iap.policy.cnn", "masked = true")
        large = self.world.slow or any(word in lua(policy) for word in wide)
        self.options = {"env": None, "policy": policy, "optimizer": optimizer_of(rng, large)}
        self.env_form = rng.choice(["make", "table", "name"])
        self.options["env"] = self.env(self.env_form)
        options = self.options
        cheap = not self.world.images and not self.world.slow
        options["iterations"] = rng.randint(8, 25) if cheap and rng.random() < 0.4 else rng.choice([1, 2, 2, 3, 3, 4, 4])
        options["seed"] = rng.choice([0, 1, 7, 2**53 + 1, 2**62])
        options["eval_episodes"] = rng.randint(1, 4)
        options["confirm_episodes"] = rng.randint(0, 3)
        options.update(some(rng, 0.4, {
            "episodes": lambda: rng.randint(1, 3), "episode_seeds": lambda: rng.choice(["common", "pairs", "own"]),
            "action_noise": lambda: rng.choice([0.1, 0.5]), "eval_every": lambda: rng.choice([0, 1, 2, 3, 3, 7]),
            "checkpoint_every": lambda: rng.randint(1, 6)}))
        options.setdefault("eval_every", 1)
        options.update(some(rng, 0.15, {"log": lambda: rng.choice(["jsonl", ["jsonl", "tensorboard"]]),
                                        "retries": lambda: rng.randint(0, 2)}))
        options.update(some(rng, 0.04, {"episode_timeout": 200, "worker_memory": 4000}))
        self.isolated = "episode_timeout" in options or "worker_memory" in options
        self.add_stages(rng)
        self.add_eval_env(rng)
        self.add_faults(rng)
        self.add_init(rng)
        self.add_end(rng)
        self.add_own_options(rng)
        self.portable = rng.random() < 0.06  # whether it computes with what all machines have

    def env(self, form):
        """The environment, as a call, as a table or, where it has no options, as its name."""
        world = self.world
        if form == "make":
            return Raw(f"iap.env.make({lua(world.name)}, {lua(world.options)})")
        return {"name": world.name, **world.options} if form == "table" or world.options else world.name

    def hosted(self):
        """Whether a host comes to the same, which has no workers and computes with the machine's best."""
        return not self.isolated and not self.portable

    def files(self):
        """Names of the files, other than Lua, that the script names."""
        text = lua(self.options)
        return sorted(set(self.world.files()) | {n for n in ("videos", "frames", "slider.xml") if f'"{n}"' in text})

    def other_pixels(self, rng):
        pixels = self.world.options.get("pixels")
        if not pixels or not self.world.resizable:
            return None
        factor = rng.choice([2, 2, 1.5])
        return [int(p * factor) for p in pixels]

    def changes(self, rng, pixels=True):
        world = self.world
        table = {"time_limit": lambda: rng.randint(2, 12 if world.slow else 20), **world.changes}
        if world.mujoco and world.images:
            table["distraction"] = lambda: distraction_of(rng)
            table["render"] = lambda: render_of(rng)
        if pixels and self.other_pixels(rng):
            table["pixels"] = lambda: self.other_pixels(rng)
        changed = some(rng, 0.4, table)
        with_sky(changed, world.options)
        return {**changed, **some(rng, 0.15, {"action_repeat": lambda: rng.randint(1, 3)})}

    def add_stages(self, rng):
        if rng.random() > 0.25:
            return
        even = self.options["optimizer"].name in PAIRED
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
        if rng.random() > 0.22:
            return
        if self.world.others and rng.random() < 0.35:
            other = dict(rng.choice(self.world.others))
            self.options["eval_env"] = Raw(f"iap.env.make({lua(other)})") if rng.random() < 0.3 else other
            return
        changes = self.changes(rng)
        if changes:
            self.options["eval_env"] = changes
            if rng.random() < 0.4:
                self.options["fit"] = rng.choice(["resample", "pool"])

    def add_faults(self, rng):
        if "fragile" in self.world.options and rng.random() < 0.85:
            self.options["failed_return"] = rng.choice([-1.0, 0])
        if self.world.name != "world.lua" or rng.random() > 0.4:
            return
        # None that hangs: what a limit of seconds ends depends on the machine.
        how = rng.choice(["error", "error", "nan", "exit", "table", "long", "reset"])
        self.world.options.update(fragile=rng.randint(2, 5), how=how)
        self.options["env"] = self.env("table")
        if rng.random() < 0.85:
            self.options["failed_return"] = rng.choice([-1.0, 0, -10])
        if how == "exit":
            self.isolated = True
            self.options["isolate"] = True
            self.options["iterations"] = min(self.options["iterations"], 4)  # each takes a process

    def add_init(self, rng):
        """A policy in Lua, or one of a file, sometimes of another image size."""
        if rng.random() > 0.15:
            return
        env, other = self.options["env"], self.other_pixels(rng)
        if rng.random() < 0.4:
            built = f"iap.policy.build({lua(self.options['policy'])}, {lua(env)})"
            self.options["init"] = Raw(f"(function() local p = {built}; p:initialise(11); return p end)()")
            return
        table = {"name": self.world.name, **self.world.options}
        if other and rng.random() < 0.5:
            table["pixels"] = other
        self.before = "\n".join([
            'local iap = require "iap"', f"local p = iap.policy.build({lua(self.options['policy'])}, {lua(table)})", "p:initialise(11)",
            'p:save("given.iap")']) + "\n"
        load = 'iap.policy.load("given.iap", { trust = true })'
        self.options["init"] = rng.choice(["given.iap", Raw(load), Raw(f"{load}:resized({lua(env)})")])
        if rng.random() < 0.4:
            del self.options["policy"]

    def add_end(self, rng):
        if rng.random() < 0.15:
            self.options["on_iteration"] = Raw(rng.choice([
                f"function(row) return row.iteration < {rng.randint(1, 4)} end",
                "function(row) return not row.eval_mean or row.eval_mean < 0.3 end",
                f"function(row) if row.steps > {rng.randint(10, 200)} then return false end end"]))

    def add_own_options(self, rng):
        """A script with options of its own."""
        if rng.random() > 0.1:
            return
        confirm = self.options["confirm_episodes"]
        self.head = f'local own = iap.options {{ confirm = {confirm}, words = {{ "a", "b" }}, t = {{ x = 1.5 }} }}\n'
        self.options["confirm_episodes"] = Raw("own.confirm")

    def script(self, out, left_out=(), changed=None):
        lines = ['local iap = require "iap"', self.head + "local run = iap.train {"]
        for name, value in {**self.options, **(changed or {})}.items():
            if name not in left_out:
                lines.append(f"  {name} = {lua(value)},")
        return "\n".join([*lines, f"  out = {out},", "}", 'print("came to", run.iterations, run.stop_reason, run.best_eval)']) + "\n"
