"""Robots on four legs of experiments."""
from lua_text import some
from pictures import pixels_of, render_of


def body_of(rng):
    options = some(rng, 0.3, {"engine": lambda: rng.choice(["bullet", "mujoco"]), "friction": 0.7, "jitter": 0.1})
    options.update(some(rng, 0.1, {"largest_roll": 0.5, "largest_pitch": 0.6}))
    if rng.random() < 0.15:
        options.update(timestep=0.002, physics_steps=rng.randint(1, 4))
    return options


def changes_of(rng):
    """What may be another in a stage or where a policy is evaluated."""
    return {"friction": lambda: rng.choice([0.5, 1.5]), "jitter": lambda: rng.choice([0.0, 0.03]),
            "engine": lambda: rng.choice(["bullet", "mujoco"])}


def legged(rng, world):
    flag = lambda: rng.random() < 0.5
    options = {"time_limit": rng.randint(2, 12), **body_of(rng)}
    options.update(some(rng, 0.4, {"velocities": flag, "top_speed": 2.0, "action_scale": 0.3, "pixels": lambda: pixels_of(rng)}))
    if rng.random() < 0.3:
        options["urdf"] = "robot.urdf"
    else:
        options.update(some(rng, 0.4, {"robot": lambda: rng.choice(["a1", "laikago"])}))
    vector, images = True, []
    if "pixels" in options:
        options.update(some(rng, 0.4, {"state": flag, "render": lambda: render_of(rng)}))
        images = [("pixels", *options["pixels"], 3, "uint8")]
        vector = options.get("state", False)
    made = world("legged", options, images, vector, bool(images), slow=True)
    made.changes = {**changes_of(rng), "top_speed": lambda: 0.5, "action_scale": lambda: 0.2}
    return made


def modulation_of(rng):
    return some(rng, 0.3, {"gait": lambda: rng.choice(["trot", "walk"]), "leg_phases": lambda: rng.random() < 0.5, "residual": 0.3,
                           "frequency": lambda: rng.choice([[1.5, 3], [2, 2]]), "intensity": [0.3, 0.9], "height": [-0.2, 0.2],
                           "ratio": [1, 3]})


def camera_of(rng):
    return some(rng, 0.2, {"camera_tilt": 0.3, "camera_x": 0.2, "camera_fov": 90, "camera_near": 0.05,
                           "camera_far": lambda: rng.choice([3, 30]), "body": lambda: rng.random() < 0.5})


def walled(rng, world, name):
    """The obstacle course and the rooms, which show and take the same."""
    flag = lambda: rng.random() < 0.5
    indoor = name == "a1-indoor"
    options = {"time_limit": rng.randint(2, 12), **body_of(rng), "pixels": pixels_of(rng, 8, 20), **modulation_of(rng), **camera_of(rng)}
    options.update(some(rng, 0.4, {"view": lambda: rng.choice(["camera", "depth", "depth", "behind", "beside", "none"]), "state": flag}))
    options.update(some(rng, 0.3, {"render": lambda: render_of(rng), "cap": 0.01,
                                   "reward": lambda: rng.choice(["way", "doors" if indoor else "walls"])}))
    if indoor:
        options.update(some(rng, 0.3, {"compass": flag, "place": flag}))
        if rng.random() < 0.3:
            options.update(scene="scan", **some(rng, 0.3, {"storey": 1, "lift": 0.05, "start": lambda: [1, 1.5, 0.3]}))
            options.pop("place", None), options.pop("engine", None)
            if options.get("reward") == "doors":
                options["reward"] = "way"
        else:
            options.update(some(rng, 0.3, {"rooms": lambda: rng.randint(1, 4), "gates": 0.9, "flats": lambda: [0, 3], "ceiling": flag}))
    else:
        options.update(some(rng, 0.3, {"courses": lambda: [0, rng.randint(0, 5)], "wall_spacing": 1.0, "wall_jitter": 0.0,
                                       "platform_length": 8}))
    view = options.get("view", "depth" if indoor else "camera")
    images, vector = [], options.get("state", True)
    if view == "none":
        del options["pixels"]
        options.pop("render", None), options.pop("state", None)
        vector = True
    else:
        depth = view == "depth"
        images = [("depth" if depth else "pixels", *options["pixels"], 1 if depth else 3, "float32" if depth else "uint8")]
    made = world(name, options, images, vector, bool(images), slow=True)
    made.changes = {**changes_of(rng), "cap": lambda: 0.02, "residual": lambda: 0.05}
    if options.get("scene"):
        del made.changes["engine"]
    if not options.keys() & {"compass", "place"}:
        shared = {n: options[n] for n in ("time_limit", "pixels", "state", "leg_phases", "gait") if n in options}
        made.others = [{"name": "a1-obstacle-course" if indoor else "a1-indoor", **shared, "view": view}]
    return made


def footholds(rng, world, name):
    flag = lambda: rng.random() < 0.5
    options = {"time_limit": rng.randint(2, 5), "depth_height": rng.randint(6, 16), "depth_width": rng.randint(6, 16)}
    options.update(some(rng, 0.25, {"state": flag, "gait": lambda: rng.choice(["trot", "walk"]), "body": flag, "depth": flag,
                                    "engine": lambda: rng.choice(["bullet", "mujoco"]), "decision_steps": lambda: rng.choice([1, 6]),
                                    "reward": lambda: rng.choice(["way", "crossed"]), "angle_noise": 0.0, "rate_noise": 0.3,
                                    "depth_far": 3, "toe_x": 0.1, "pixels": lambda: pixels_of(rng)}))
    images, vector = [], options.get("state", True)
    if options.get("depth", True):
        images = [(n, options["depth_height"], options["depth_width"], 1, "float32") for n in ("front", "belly")]
    else:
        del options["depth_height"], options["depth_width"]
        options.pop("depth_far", None), options.pop("body", None)
    if "pixels" in options:
        options.update(some(rng, 0.4, {"render": lambda: render_of(rng)}))
        images.append(("pixels", *options["pixels"], 3, "uint8"))
    if not images:
        options.pop("state", None)
        vector = True
    made = world(name, options, images, vector, slow=True)
    made.changes = {**changes_of(rng), "rate_noise": lambda: 0.0, "cap": lambda: 0.003, "speed": lambda: 0.2}
    shared = {n: v for n, v in options.items() if n not in ("reward",)}
    made.others = [{"name": other, **shared} for other in ("laikago-grid", "laikago-stairs", "laikago-stepstones") if other != name]
    return made
