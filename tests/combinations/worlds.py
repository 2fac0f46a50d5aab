"""Environments of experiments, drawn with the options that go together."""
from lua_text import some
from pictures import distraction_of, pixels_of, render_of
import robots

# Those of a row show and take the same.
ALIKE = [["cartpole-balance", "cartpole-balance-sparse", "cartpole-swingup", "cartpole-swingup-sparse"], ["reacher-easy", "reacher-hard"],
         ["walker-run", "walker-stand", "walker-walk"], ["ball-in-cup-catch"], ["cheetah-run"]]
# Values that texts in between may change.
EXACT = [0.1, 1e-300, 5e-324, 2**53 + 1, -2**62, -0.0, 0, 1.0, 1, 1e15, 123456789.123456789, 2.0**63, -1e-7]
LABELS = ["", "ü\n\"q\"", "a,b", "null", "1e5", "true", "  x ", "\t\\", "[1]", "日本", "%s {} $HOME", "\u007f\u0001"]
DENSE = ("reacher-easy", "reacher-hard", "ball-in-cup-catch")


class World:
    """An environment of a case: how it is made, and what a policy meets there. `changes` may be other ones in a stage or an evaluation,
    each made by a call; `others` are environments that policies of this one can play in.
    """

    def __init__(self, name, options, images, vector, resizable=False, mujoco=False, slow=False):
        self.name, self.options, self.images, self.vector = name, options, images, vector
        self.resizable, self.mujoco, self.slow = resizable, mujoco, slow
        self.changes, self.others = {}, []

    def files(self):
        """Names of the folders and files that it reads, beside Lua."""
        text = repr(self.options)
        return [name for name in ("videos", "frames", "robot.urdf", "scan", "slider.xml") if repr(name) in text]


def with_sky(changes, options):
    """Videos stand in place of a sky that is drawn."""
    if changes.get("distraction", options.get("distraction")) and "render" in changes:
        changes["render"].pop("sky", None)


def mujoco_options(rng):
    options, images = {"time_limit": rng.randint(3, 16)}, []
    if rng.random() < 0.75:
        options["pixels"] = pixels_of(rng)
        images = [("pixels", *options["pixels"], 3, "uint8")]
        options.update(some(rng, 0.45, {"state": lambda: rng.random() < 0.6, "render": lambda: render_of(rng)}))
        options.update(some(rng, 0.2, {"distraction": lambda: distraction_of(rng)}))
        with_sky(options, options)
    options.update(some(rng, 0.3, {"action_repeat": lambda: rng.randint(1, 4)}))
    return options, images, not images or options.get("state", False)


def control(rng):
    row = rng.choice(ALIKE)
    name = rng.choice(row)
    options, images, vector = mujoco_options(rng)
    if name in DENSE and rng.random() < 0.5:
        options["reward"] = rng.choice(["task", "dense"])
    world = World(name, options, images, vector, bool(images), True)
    world.others = [{"name": other, **options} for other in row if other != name]
    if not vector and name in ("walker-walk", "cheetah-run"):
        world.others.append({"name": {"walker-walk": "cheetah-run", "cheetah-run": "walker-walk"}[name], **options})
    if name in DENSE:
        world.changes["reward"] = lambda: rng.choice(["task", "dense"])
    return world


def task(rng):
    options, images, vector = mujoco_options(rng)
    options.update(some(rng, 0.4, {"lean": 0.5, "parts": lambda: rng.choice(["inside", "slider.xml"]),
                                   "seen": lambda: rng.choice(["all", "sensors"])}))
    if images and rng.random() < 0.5:
        options["camera"] = rng.choice(["side", "top", 0, 1])
    options.update(some(rng, 0.08, {"gear": lambda: rng.choice([1e6, 1e9]), "fragile": lambda: rng.randint(2, 4)}))
    world = World("task.lua", options, images, vector, bool(images), True)
    world.changes["lean"] = lambda: 0.1
    return world


def in_lua(rng):
    flag = lambda: rng.random() < 0.5
    options = some(rng, 0.5, {"size": lambda: rng.randint(6, 16), "depth": flag, "rgb": flag, "numbers": lambda: rng.randint(0, 6),
                              "actions": lambda: rng.randint(1, 3), "channels": lambda: rng.choice([1, 3, 4]),
                              "low": lambda: rng.choice([-2.0, 0.0, -1]), "time_limit": lambda: rng.randint(3, 25),
                              "action_repeat": lambda: rng.randint(1, 3)})
    options.update(some(rng, 0.2, {"wind": lambda: {"x": rng.choice([0.1, 0]), "gusts": [0.02, 1]}}))
    options.update(some(rng, 0.12, {"exact": lambda: rng.sample(EXACT, 3), "label": lambda: rng.choice(LABELS), "off": flag,
                                    "pay": lambda: rng.choice([1e-12, 1e15, -1])}))
    if rng.random() < 0.05:
        options["keys"] = {"left": [-1] * options.get("actions", 2), "a": [0] * options.get("actions", 2)}
    size, images = options.get("size", 12), []
    if options.get("depth"):
        images.append(("depth", size, size, 1, "float32"))
    if options.get("rgb", True):
        images.append(("rgb", size, size + 2, options.get("channels", 3), "uint8"))
    if not images and not options.get("numbers", 3):
        options["numbers"] = 3
    world = World("world.lua", options, images, options.get("numbers", 3) > 0)
    world.changes["wind"] = lambda: {"gusts": [0.1]}
    return world


def car_racing(rng):
    flag = lambda: rng.random() < 0.5
    options = {"time_limit": rng.randint(3, 20), "pixels": pixels_of(rng)}
    options.update(some(rng, 0.4, {"state": flag, "modification": lambda: rng.choice(["none", "colour", "bars", "blob", "noise", "video"]),
                                   "early_stop": lambda: rng.randint(0, 8), "action_repeat": lambda: rng.randint(1, 3)}))
    if options.get("modification") == "video":
        options["frames"] = "frames"
    world = World("car-racing", options, [("pixels", *options["pixels"], 3, "uint8")], options.get("state", False), True)
    world.changes["early_stop"] = lambda: 2
    if "frames" not in options:
        world.changes["modification"] = lambda: rng.choice(["none", "bars", "blob"])
    return world


def take_cover(rng):
    options = {"time_limit": rng.randint(3, 20), "pixels": pixels_of(rng)}
    art = lambda: rng.choice(["auto", "freedoom", "procedural"])
    options.update(some(rng, 0.4, {"state": lambda: rng.random() < 0.5, "art": art, "skill": lambda: rng.choice(["hard", "nightmare"]),
                                   "modification": lambda: rng.choice(["none", "walls", "floor", "text"]),
                                   "action_repeat": lambda: rng.randint(1, 4)}))
    world = World("take-cover", options, [("pixels", *options["pixels"], 3, "uint8")], options.get("state", False), True)
    world.changes.update(modification=lambda: rng.choice(["none", "walls", "floor", "text"]), art=art, skill=lambda: "nightmare")
    return world


KINDS = {control: 36, in_lua: 24, task: 14, car_racing: 7, take_cover: 4, robots.legged: 5, robots.walled: 6, robots.footholds: 4}


def make_world(rng):
    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    if kind is robots.legged:
        return kind(rng, World)
    if kind is robots.walled:
        return kind(rng, World, rng.choice(["a1-obstacle-course", "a1-indoor"]))
    if kind is robots.footholds:
        return kind(rng, World, rng.choice(["laikago-stepstones", "laikago-grid", "laikago-stairs"]))
    return kind(rng)
