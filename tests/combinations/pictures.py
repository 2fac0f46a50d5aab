"""What changes the pictures of experiments: sizes, how they are drawn, distractions."""
from lua_text import some


def pixels_of(rng, low=8, high=26):
    return [rng.randint(low, high), rng.randint(low, high)]


def distraction_of(rng):
    if rng.random() < 0.4:
        return rng.choice(["easy", "medium", "hard", True, False])
    flag = lambda: rng.random() < 0.5
    real = lambda high: (lambda: round(rng.random() * high, 2))
    part = lambda table: (lambda: flag() if rng.random() < 0.4 else some(rng, 0.35, table))
    table = some(rng, 0.5, {
        "difficulty": lambda: rng.choice(["easy", "medium", "hard"]), "dynamic": flag,
        "split": lambda: rng.choice(["train", "validation"]),
        "background": part({"dynamic": flag, "count": lambda: rng.randint(0, 5), "video_alpha": lambda: rng.choice([0.3, 0.9]),
                            "ground_alpha": real(1)}),
        "camera": part({"dynamic": flag, "horizontal_delta": real(1), "vertical_delta": real(1), "roll_delta": 0.1, "max_vel": real(0.3),
                        "vel_std": 0.02, "max_roll_vel": 0.05, "roll_std": 0.01, "zoom_in": 0.2, "zoom_out": 0.5,
                        "upper_quadrant": flag}),
        "colour": part({"dynamic": flag, "max_delta": real(1), "step_std": 0.05}),
        "noise": part({"dynamic": flag, "std": real(0.3)})})
    if rng.random() < 0.35:
        table["videos"] = "videos"
    if table.keys() & {"split", "videos"} and not table.get("background"):
        table["background"] = True
    for part in table.values():  # what stands still has no numbers of motion
        if isinstance(part, dict) and not part.get("dynamic", table.get("dynamic", True)):
            for name in ("max_vel", "vel_std", "max_roll_vel", "roll_std", "step_std"):
                part.pop(name, None)
    if table and not table.keys() & {"background", "camera", "colour", "noise"}:
        table.setdefault("difficulty", "easy")
    return table or "easy"


def render_of(rng):
    flag = lambda: rng.random() < 0.5
    return some(rng, 0.5, {"shadows": flag, "reflection": flag, "sky": flag, "samples": lambda: rng.choice([1, 2, 4])})
