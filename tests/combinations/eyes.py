"""Blocks of experiments that look."""
from lua_text import Call, some


def eye_options(rng, world, kind):
    """Options that rank, trans, cross and look share; and how many patches there are."""
    name, height, width, _, _ = rng.choice(world.images)
    options = {}
    if len(world.images) > 1:
        options["image"] = name
    pool = rng.choice([1, 1, 1, 2]) if kind != "cross" else 1
    if pool > 1:
        options["pool"], height, width = pool, height // pool, width // pool
    least = max(2, min(height, width) // 5)
    options["patch"] = patch = rng.randint(min(2, least), max(2, min(height, width, 6)))
    options["patch"] = patch = min(patch, height, width)
    stride = patch
    if rng.random() < 0.4:
        options["stride"] = stride = rng.randint(1 if max(height, width) < 14 else 2, patch + 1)
    count = ((height - patch) // stride + 1) * ((width - patch) // stride + 1)
    flag = lambda: rng.random() < 0.5
    options.update(some(rng, 0.25, {
        "d": lambda: rng.randint(1, 8), "bias": flag, "pixel_offset": lambda: rng.choice([-0.5, 0.0, -1.0]),
        "encoding": lambda: rng.choice(["none", "sinusoidal", "learned"]),
        "position_range": lambda: rng.choice(["signed", "unit"]), "centre": lambda: rng.choice(["exact", "pixel"])}))
    if options.get("encoding") == "sinusoidal":
        options.update(some(rng, 0.5, {"encoding_scale": 0.5}))
    if kind != "cross":
        options.update(some(rng, 0.25, {"contrast": lambda: rng.choice(["none", "frame", "episode"])}))
    values = ["position", "content", "projection", "histogram", "convolution"] + (["centroid"] if kind == "rank" else [])
    if rng.random() < 0.6:
        chosen = rng.sample(values, rng.randint(1, 2))
        options["values"] = chosen[0] if len(chosen) == 1 and flag() else chosen
        if "projection" in chosen:
            options.update(some(rng, 0.6, {"dv": lambda: rng.randint(1, 5)}))
        if "histogram" in chosen:
            options.update(some(rng, 0.6, {"bins": lambda: rng.randint(1, 6)}))
        if "convolution" in chosen:
            options.update(some(rng, 0.5, {"convolution": lambda: rng.choice(["learned", "fixed"])}))
            if options.get("convolution") != "fixed":
                options.update(some(rng, 0.5, {"convolution_size": lambda: rng.choice([2, 3]), "convolution_channels": 2}))
    return options, count


def kernel_options(rng, kernels):
    flag = lambda: rng.random() < 0.5
    kernel = rng.choice(kernels)
    options = {"kernel": kernel} if kernel != "relu" or flag() else {}
    if kernel in ("exp", "favor++", "trig", "hybrid"):
        options.update(some(rng, 0.35, {"m": lambda: rng.randint(1, 12), "ensemble": lambda: rng.choice(["iid", "orthogonal"]),
                                        "feature_seed": lambda: rng.randint(0, 5),
                                        "redraw": lambda: rng.choice(["never", "episode", 1, 3])}))
    if kernel == "hybrid":
        options.update(some(rng, 0.35, {"r": lambda: rng.randint(1, 4)}))
    if kernel == "favor++":
        options.update(some(rng, 0.35, {"spread": 3.0}))
    if kernel in ("relu", "exp", "favor++"):
        options.update(some(rng, 0.2, {"epsilon": 0.01}))
    if kernel != "relu":
        options.update(some(rng, 0.2, {"input": lambda: rng.choice(["plain", "normalised"]), "scale": lambda: rng.choice(["d", "c"]),
                                       "temperature": 0.5}))
    if kernel in ("relu", "exp", "hybrid", "trig") and rng.random() < 0.15:
        options["brute_force"] = True
        options.pop("epsilon", None)
    return options


ALL_KERNELS = ["relu", "relu", "exp", "favor++", "trig", "hybrid", "softmax"]


def rank_of(rng, world):
    flag = lambda: rng.random() < 0.5
    options, count = eye_options(rng, world, "rank")
    options["top"] = rng.randint(1, max(1, min(count, 6)))
    options.update(kernel_options(rng, ALL_KERNELS))
    options.update(some(rng, 0.25, {"heads": lambda: rng.randint(1, 3), "query_weights": lambda: rng.choice(["ones", "learned"]),
                                    "masked": flag, "motion": flag, "threads": lambda: rng.randint(1, 3)}))
    if options.get("kernel") in ("exp", "favor++") and not options.get("brute_force") and rng.random() < 0.4:
        options["selection"] = "sample"
        options.pop("threads", None), options.pop("epsilon", None)
        if options.get("redraw") in (1, 3):
            options["redraw"] = "episode"
        options.update(some(rng, 0.4, {"pooling": lambda: rng.choice(["mean", "sum", "features"]), "replacement": flag}))
    if options.get("kernel") == "softmax":
        options.update(some(rng, 0.4, {"normalise_rows": flag}))
    return Call("iap.attention.rank", options)


def trans_of(rng, world):
    flag = lambda: rng.random() < 0.5
    options, count = eye_options(rng, world, "trans")
    options["tokens"] = rng.randint(1, max(1, min(count, 4)))
    options.update(kernel_options(rng, ALL_KERNELS))
    options.update(some(rng, 0.25, {"heads": lambda: rng.randint(1, 3), "compression": lambda: rng.choice(["learned", "average", "random"]),
                                    "residual": flag, "layer_norm": flag}))
    if options.get("kernel") != "softmax" and not options.get("brute_force"):
        options.update(some(rng, 0.25, {"order": lambda: rng.choice(["auto", "values_first", "queries_first"])}))
    if options.get("kernel", "relu") in ("relu", "exp", "favor++", "softmax"):
        options.update(some(rng, 0.2, {"normalise_rows": flag}))
    if options.get("compression") == "random":
        options.update(some(rng, 0.5, {"compression_seed": 4}))
    return Call("iap.attention.trans", options)


def cross_of(rng, world):
    flag = lambda: rng.random() < 0.5
    options, count = eye_options(rng, world, "cross")
    options.update(kernel_options(rng, ["relu", "exp", "favor++", "trig", "hybrid"]))
    options.pop("brute_force", None), options.pop("epsilon", None)
    if options.get("redraw") in (1, 3):
        options["redraw"] = "episode"
    if rng.random() < 0.25:
        options["key_patch"] = rng.randint(1, 3)
        options.update(some(rng, 0.5, {"key_stride": lambda: rng.randint(1, 4)}))
    alike = [image for image in world.images if image[3:] == world.images[0][3:]]
    if len(alike) > 1 and rng.random() < 0.5:
        options["image"], options["key_image"] = alike[0][0], alike[1][0]
        count = 1
    options["top"] = rng.randint(1, max(1, min(count, 4)))
    options.update(some(rng, 0.3, {"every": lambda: rng.randint(1, 5), "query_weights": lambda: rng.choice(["ones", "learned"]),
                                   "ranking": lambda: rng.choice(["exact", "hash", "sample"])}))
    if options.get("ranking") == "sample":
        options["kernel"] = rng.choice(["exp", "favor++"])
        options.pop("r", None), options.pop("spread", None)
        options.update(some(rng, 0.4, {"pooling": lambda: rng.choice(["mean", "sum", "features"]), "replacement": flag}))
    if options.get("ranking") == "hash":
        options.update(some(rng, 0.5, {"bits": lambda: rng.choice([1, 64, 100]), "hash_seed": 3}))
    return Call("iap.attention.cross", options)


def cnn_of(rng, world):
    flag = lambda: rng.random() < 0.5
    name = rng.choice(world.images)[0]
    layers = [{"channels": rng.randint(1, 3), **some(rng, 0.3, {"kernel": lambda: rng.randint(1, 3), "stride": lambda: rng.randint(1, 2),
                                                               "padding": "same", "pool": 2, "pooling": "average", "bias": flag,
                                                               "activation": lambda: rng.choice(["none", "sigmoid"])})}
              for _ in range(rng.randint(1, 2))]
    for layer in layers[1:]:
        layer["padding"] = "same"  # little comes to it
    options = {"layers": layers, **some(rng, 0.25, {"activation": lambda: rng.choice(["relu", "tanh", "elu"]), "bias": flag, "pool": 2,
                                                    "contrast": lambda: rng.choice(["none", "frame", "episode"]),
                                                    "padding": lambda: rng.choice(["valid", "same"])})}
    if len(world.images) > 1:
        options["image"] = name
    return Call("iap.policy.cnn", options)


def seer(rng, world):
    return rng.choices([rank_of, trans_of, cross_of, cnn_of], [45, 30, 12, 13])[0](rng, world)
