"""Optimizers of experiments."""
from lua_text import Call, some


def optimizer_of(rng):
    flag = lambda: rng.random() < 0.5
    kind = rng.choices(["es", "ars", "pgpe", "cma_es", "sep_cma_es", "simple_ga"], [35, 15, 15, 12, 11, 12])[0]
    options = {}
    step = {"optimizer": lambda: rng.choice(["adam", "sgd", "clipup"])}
    plateau = lambda: some(rng, 0.7, {"patience": 1, "window": lambda: rng.randint(1, 2), "factor": 0.5, "minimum": 0.001})
    common = {"sigma": lambda: rng.choice([0.02, 0.3, 1.0]), "learning_rate": lambda: rng.choice([0.01, 0.3]), "learning_rate_decay": 0.9,
              "plateau": plateau, "directions": lambda: rng.choice(["gaussian", "orthogonal", "hadamard"])}
    if kind in ("es", "ars", "pgpe"):
        options = {"population": 2 * rng.randint(1, 4), **some(rng, 0.35, common)}
    if kind == "es":
        options.update(some(rng, 0.35, {**step, "weight_decay": 0.01, "sigma_decay": 0.7, "sigma_min": 0.015,
                                        "shaping": lambda: rng.choice(["centred_ranks", "standardised", "none", "pair_ranks"])}))
    if kind == "pgpe":
        options.update(some(rng, 0.35, {**step, "sigma_learning_rate": 0.3, "sigma_max_change": 0.4, "sigma_min": 0.015,
                                        "shaping": lambda: rng.choice(["centred_ranks", "standardised", "none"])}))
    if kind == "ars":
        options.update(some(rng, 0.35, {"top": 1, "shaping": lambda: rng.choice(["centred_ranks", "standardised", "none"])}))
    if kind in ("cma_es", "sep_cma_es"):
        options = {"population": rng.randint(4, 7), **some(rng, 0.3, {
            "sigma": lambda: rng.choice([0.02, 0.3, 1.0]), "active": flag, "restarts": lambda: rng.choice(["none", "ipop", "bipop"]),
            "target": lambda: rng.choice([-5.0, 0.5, 3.0]), "tol_fun": lambda: rng.choice([1e-12, 0.5, 1e3]), "stagnation": flag,
            "tol_x_up": lambda: rng.choice([1.2, 1e4])})}
        if options.get("restarts", "none") != "none":
            options.update(some(rng, 0.5, {"max_restarts": lambda: rng.randint(0, 2), "restart_spread": 0.5}))
    if kind == "simple_ga":
        population = rng.randint(2, 7)
        options = {"population": population, **some(rng, 0.35, {"parents": lambda: rng.randint(1, population), "sigma": 0.3,
                                                                "sigma_decay": 0.8,
                                                                "sigma_min": 0.05})}
    return Call(f"iap.optim.{kind}", options)
