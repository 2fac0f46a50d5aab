"""Environments of experiments, drawn with the options that go together."""
from lua_text import some


class World:
    """An environment of a case: how it is made, and what a policy meets there."""

    def __init__(self, name, options, images, vector, resizable=False, mujoco=False, slow=False):
        self.name, self.options, self.images, self.vector = name, options, images, vector
        self.resizable, self.mujoco, self.slow = resizable, mujoco, slow


def pixels_of(rng, low=8, high=26):
    return [rng.randint(low, high), rng.randint(low, high)]


def distraction_of(rng):
    if rng.random() < 0.4:
        return rng.choice(["easy", "medium", "hard", True, False])
    flag = lambda: rng.random() < 0.5
    part = lambda table: (lambda: flag() if rng.random() < 0.4 else some(rng, 0.4, table))
    table = some(rng, 0.5, {
        "difficulty": lambda: rng.choice(["easy", "medium", "hard"]), "dynamic": flag,
        "split": lambda: rng.choice(["train", "validation"]),
        "background": part({"dynamic": flag, "count": lambda: rng.randint(0, 5), "video_alpha": lambda: round(rng.random(), 2),
                            "ground_alpha": lambda: round(rng.random(), 2)}),
        "camera": part({"dynamic": flag, "horizontal_delta": lambda: round(rng.random(), 2), "roll_delta": 0.1,
                        "max_vel": lambda: round(rng.random() * 0.3, 2), "vel_std": 0.02, "zoom_in": 0.2, "zoom_out": 0.5,
                        "upper_quadrant": flag}),
        "colour": part({"dynamic": flag, "max_delta": lambda: round(rng.random(), 2), "step_std": 0.05}),
        "noise": part({"dynamic": flag, "std": lambda: round(rng.random() * 0.3, 2)})})
    return table or "easy"


def render_of(rng):
    flag = lambda: rng.random() < 0.5
    return some(rng, 0.5, {"shadows": flag, "reflection": flag, "sky": flag, "samples": lambda: rng.choice([1, 2, 4])})


def mujoco_options(rng):
    options, images = {"time_limit": rng.randint(3, 16)}, []
    if rng.random() < 0.75:
        options["pixels"] = pixels_of(rng)
        images = [("pixels", *options["pixels"], 3, "uint8")]
        options.update(some(rng, 0.45, {"state": lambda: rng.random() < 0.6, "render": lambda: render_of(rng)}))
        options.update(some(rng, 0.12, {"distraction": lambda: distraction_of(rng)}))
    options.update(some(rng, 0.3, {"action_repeat": lambda: rng.randint(1, 4)}))
    return options, images, not images or options.get("state", False)


def make_world(rng):
    kind = rng.choices(["control", "lua", "task", "car-racing", "take-cover", "legged", "course", "indoor", "laikago"],
                       [36, 28, 12, 6, 4, 4, 4, 3, 3])[0]
    flag = lambda: rng.random() < 0.5
    if kind == "control":
        name = rng.choice(["ball-in-cup-catch", "cartpole-balance", "cartpole-balance-sparse", "cartpole-swingup",
                           "cartpole-swingup-sparse", "cheetah-run", "reacher-easy", "reacher-hard", "walker-run", "walker-stand",
                           "walker-walk"])
        options, images, vector = mujoco_options(rng)
        if name.startswith(("reacher", "ball")) and flag():
            options["reward"] = rng.choice(["task", "dense"])
        return World(name, options, images, vector, bool(images), True)
    if kind == "task":
        options, images, vector = mujoco_options(rng)
        if flag():
            options["lean"] = 0.5
        if images and flag():
            options["camera"] = rng.choice(["side", "top", 0, 1])
        return World("task.lua", options, images, vector, bool(images), True)
    if kind == "lua":
        options = some(rng, 0.5, {"size": lambda: rng.randint(6, 16), "depth": flag, "rgb": flag, "numbers": lambda: rng.randint(0, 6),
                                  "actions": lambda: rng.randint(1, 3), "channels": lambda: rng.choice([1, 3, 4]),
                                  "low": lambda: rng.choice([-2.0, 0.0, -1]), "time_limit": lambda: rng.randint(3, 25),
                                  "action_repeat": lambda: rng.randint(1, 3)})
        size, images = options.get("size", 12), []
        if options.get("depth"):
            images.append(("depth", size, size, 1, "float32"))
        if options.get("rgb", True):
            images.append(("rgb", size, size + 2, options.get("channels", 3), "uint8"))
        if not images and not options.get("numbers", 3):
            options["numbers"] = 3
        return World("world.lua", options, images, options.get("numbers", 3) > 0)
    options = {"time_limit": rng.randint(3, 20)}
    if kind == "car-racing":
        options["pixels"] = pixels_of(rng)
        options.update(some(rng, 0.4, {"state": flag, "modification": lambda: rng.choice(["none", "colour", "bars", "blob", "noise"]),
                                       "early_stop": lambda: rng.randint(0, 8), "action_repeat": lambda: rng.randint(1, 3)}))
    if kind == "take-cover":
        options["pixels"] = pixels_of(rng)
        options.update(some(rng, 0.4, {"state": flag, "modification": lambda: rng.choice(["none", "walls", "floor", "text"]),
                                       "art": lambda: rng.choice(["auto", "freedoom", "procedural"]),
                                       "skill": lambda: rng.choice(["hard", "nightmare"])}))
    if kind in ("car-racing", "take-cover"):
        return World(kind, options, [("pixels", *options["pixels"], 3, "uint8")], options.get("state", False), True)
    options["time_limit"] = rng.randint(2, 12)
    options.update(some(rng, 0.3, {"engine": lambda: rng.choice(["bullet", "mujoco"]), "friction": 0.7, "jitter": 0.1}))
    images, vector = [], True
    if kind == "legged":
        options.update(some(rng, 0.4, {"robot": lambda: rng.choice(["a1", "laikago"]), "velocities": flag, "top_speed": 2.0,
                                       "pixels": lambda: pixels_of(rng)}))
        if "pixels" in options:
            images = [("pixels", *options["pixels"], 3, "uint8")]
            vector = False
        return World("legged", options, images, vector, bool(images), slow=True)
    if kind in ("course", "indoor"):
        name = {"course": "a1-obstacle-course", "indoor": "a1-indoor"}[kind]
        options["pixels"] = pixels_of(rng, 8, 20)
        options.update(some(rng, 0.4, {"view": lambda: rng.choice(["camera", "depth"]), "state": flag,
                                       "gait": lambda: rng.choice(["trot", "walk"]), "leg_phases": flag, "body": flag}))
        depth = options.get("view", "camera" if kind == "course" else "depth") == "depth"
        images = [("depth" if depth else "pixels", *options["pixels"], 1 if depth else 3, "float32" if depth else "uint8")]
        return World(name, options, images, options.get("state", True), True, slow=True)
    name = rng.choice(["laikago-stepstones", "laikago-grid", "laikago-stairs"])
    options["time_limit"] = rng.randint(2, 5)
    options.update(depth_height=rng.randint(6, 16), depth_width=rng.randint(6, 16))
    options.update(some(rng, 0.3, {"state": flag, "gait": lambda: rng.choice(["trot", "walk"]), "body": flag}))
    images = [(n, options["depth_height"], options["depth_width"], 1, "float32") for n in ("front", "belly")]
    return World(name, options, images, options.get("state", True), slow=True)
