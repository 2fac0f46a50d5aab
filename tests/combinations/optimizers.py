"""Optimizers of experiments."""
from lua_text import Call, some


def optimizer_of(rng, large):
    flag = lambda: rng.random() < 0.5
    kind = rng.choices(["es", "ars", "pgpe", "cma_es", "sep_cma_es", "simple_ga"], [35, 15, 15, 12, 11, 12])[0]
    if large and kind == "cma_es":
        kind = "sep_cma_es"
    options = {}
    step = {"optimizer": lambda: rng.choice(["adam", "sgd", "clipup"])}

    def step_numbers():
        """What goes with the step that was chosen."""
        kind = options.get("optimizer", "adam")
        options.update(some(rng, 0.2, {"beta1": 0.5, "beta2": 0.9, "epsilon": 1e-4} if kind == "adam" else
                            {"momentum": 0.5, **({"max_speed": 0.5} if kind == "clipup" else {})}))

    plateau = lambda: some(rng, 0.7, {"patience": 1, "window": lambda: rng.randint(1, 2), "factor": 0.5, "minimum": 0.001})
    common = {"sigma": lambda: rng.choice([0.02, 0.3, 1.0]), "learning_rate": lambda: rng.choice([0.01, 0.3]), "learning_rate_decay": 0.9,
              "plateau": plateau, "directions": lambda: rng.choice(["gaussian", "orthogonal", "hadamard"])}
    if kind in ("es", "ars", "pgpe"):
        options = {"population": 2 * rng.randint(1, 4), **some(rng, 0.35, common)}
    if kind == "es":
        options.update(some(rng, 0.35, {**step, "weight_decay": 0.01, "sigma_decay": 0.7, "sigma_min": 0.015,
                                        "shaping": lambda: rng.choice(["centred_ranks", "standardised", "none", "pair_ranks"])}))
        step_numbers()
    if kind == "pgpe":
        options.update(some(rng, 0.35, {**step, "sigma_learning_rate": 0.3, "sigma_max_change": 0.4, "sigma_min": 0.015,
                                        "shaping": lambda: rng.choice(["centred_ranks", "standardised", "none"])}))
        step_numbers()
    if kind == "ars":
        options.update(some(rng, 0.35, {"top": 1, "shaping": lambda: rng.choice(["centred_ranks", "standardised", "none"])}))
    if kind in ("cma_es", "sep_cma_es"):
        options = {"population": rng.randint(4, 7), **some(rng, 0.3, {
            "sigma": lambda: rng.choice([0.02, 0.3, 1.0]), "active": flag, "restarts": lambda: rng.choice(["none", "ipop", "bipop"]),
            "target": lambda: rng.choice([-5.0, 0.5, 3.0]), "tol_fun": lambda: rng.choice([1e-12, 0.5, 1e3]), "stagnation": flag,
            "tol_x_up": lambda: rng.choice([1.2, 1e4]), "tol_x": lambda: rng.choice([1e-3, 1.5]),
            "tol_condition": lambda: rng.choice([1.0, 3.0])})}
        if options.get("restarts", "none") != "none":
            options.update(some(rng, 0.5, {"max_restarts": lambda: rng.randint(0, 4), "restart_spread": 0.5}))
    if kind == "simple_ga":
        population = rng.randint(2, 7)
        options = {"population": population, **some(rng, 0.35, {"parents": lambda: rng.randint(1, population), "sigma": 0.3,
                                                                "sigma_decay": 0.8,
                                                                "sigma_min": 0.05})}
    if kind == "pgpe" and rng.random() < 0.1:
        kind = "pepg"
    return Call(f"iap.optim.{kind}", options)
