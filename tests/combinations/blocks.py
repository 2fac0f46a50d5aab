"""Policies of experiments, drawn block by block for what an environment shows."""
from eyes import cnn_of, cross_of, eye_options, rank_of, trans_of
from lua_text import Call, some


def seer(rng, world):
    return rng.choices([rank_of, trans_of, cross_of, cnn_of], [45, 30, 12, 13])[0](rng, world)


def observation_of(rng, world):
    return Call("iap.policy.observation", some(rng, 0.2, {"numbers": [1, 2]}) if world.name != "world.lua" else {})


def clock_of(rng):
    return Call("iap.policy.clock", some(rng, 0.5, {"frequency": 3.0, "harmonics": 2, "dt": 0.05}))


def blind_of(rng, world):
    """What looks at no picture, whatever there is."""
    return [observation_of(rng, world) if world.vector and rng.random() < 0.7 else clock_of(rng)]


def first_of(rng, world):
    """What makes numbers of the observation."""
    if world.images and rng.random() < 0.06:
        return blind_of(rng, world)
    parts = []
    if world.images:
        parts.append(seer(rng, world))
    if world.vector and (not world.images or rng.random() < 0.5):
        parts.append(observation_of(rng, world))
    if rng.random() < 0.25:
        parts.append(clock_of(rng))
    if world.images and rng.random() < 0.15:
        parts.append(seer(rng, world))
    if len(parts) == 1:
        return parts
    if len(parts) == 2 and world.vector and rng.random() < 0.2:
        look, _ = eye_options(rng, world, "look") if world.images else ({}, 0)
        if look:
            look.update(some(rng, 0.4, {"queries": 2, "temperature": 0.3}))
            return [Call("iap.policy.observation"), Call("iap.attention.look", look)]
    return [Call("iap.policy.concat", {}, [inner(rng, part) for part in parts])]


def inner(rng, block):
    """Sometimes a sequence of its own, inside another block."""
    if rng.random() > 0.25:
        return block
    more = between(rng)
    return Call("iap.policy.sequence", {}, [block, *(more if isinstance(more, list) else [more])])


def script_of(rng):
    return Call("iap.policy.script", {"file": "block.lua", **some(rng, 0.4, {
        "keep": 0.5, "noise": 0.1, "few": True, "gains": lambda: rng.choice([[2, 0.5], [1], []]), "even": 0.25})})


def between(rng):
    flag = lambda: rng.random() < 0.5
    kind = rng.choice(["delta", "stack", "normalise", "normalise", "product", "lstm", "rnn", "linear", "mlp", "script", "named"])
    if kind == "delta":
        return Call("iap.policy.delta", some(rng, 0.4, {"scale": 2.0}))
    if kind == "stack":
        return Call("iap.policy.stack", some(rng, 0.6, {"n": lambda: rng.randint(1, 4)}))
    if kind == "normalise":
        over = lambda: rng.choice(["episode", "training", "training"])
        return Call("iap.policy.normalise", some(rng, 0.5, {"over": over, "deviation": flag,
                                                            "clip": 3.0, "minimum": 0.1}))
    if kind == "product":
        return [Call("iap.policy.linear", {"units": 4, "activation": "tanh"}),
                Call("iap.policy.product", some(rng, 0.4, {"groups": [2, 2], "squares": flag, "keep": flag, "scale": 2.0}))]
    if kind in ("lstm", "rnn"):
        return Call(f"iap.policy.{kind}", {"units": rng.randint(1, 5)})
    if kind == "linear":
        activation = lambda: rng.choice(["tanh", "relu", "elu", "sigmoid"])
        return Call("iap.policy.linear", {"units": rng.randint(1, 6), **some(rng, 0.4, {"activation": activation,
                                                                                         "bias": flag, "scale": 0.5})})
    if kind == "mlp":
        return Call("iap.policy.mlp", {"hidden": [4], "units": 3, **some(rng, 0.4, {"activation": "relu"})})
    if kind == "named":
        return Call("iap.policy.linear", {"units": 3, "name": "middle"})
    return script_of(rng)


def level(rng, options):
    """A level of a hierarchy: a dense layer, or one behind something that remembers."""
    layer = Call("iap.policy.linear", {**options, "activation": "tanh"})
    if rng.random() < 0.65:
        return layer
    before = rng.choice([Call("iap.policy.rnn", {"units": 2}), Call("iap.policy.lstm", {"units": 2}), Call("iap.policy.delta"),
                         Call("iap.policy.normalise", {"over": "training"}), Call("iap.policy.stack", {"n": 2})])
    return Call("iap.policy.sequence", {}, [before, layer])


def last_of(rng):
    kind = rng.choices(["linear", "mlp", "lstm", "rnn", "hierarchy"], [60, 15, 5, 5, 15])[0]
    if kind == "linear":
        return Call("iap.policy.linear", {"activation": "tanh", **some(rng, 0.2, {"scale": 0.5, "bias": False})})
    if kind == "mlp":
        return Call("iap.policy.mlp", {"hidden": [4], "output_activation": "tanh"})
    if kind in ("lstm", "rnn"):
        return Call(f"iap.policy.{kind}")
    fixed = rng.random() < 0.5
    latent = rng.randint(1, 2)
    return Call("iap.policy.hierarchy", {
        "high": level(rng, {"units": latent if fixed else latent + 1}), "low": level(rng, {}),
        "duration": rng.randint(1, 4) if fixed else [1, 4], "latent": latent, **some(rng, 0.3, {"every": 2})})


def mirror_of(rng, world, options):
    eye = rng.choice([rank_of, trans_of, cnn_of])(rng, world)
    block = Call("iap.policy.sequence", {}, [eye, Call("iap.policy.linear", {**options, "activation": "tanh"})])
    odd = {**some(rng, 0.6, {"odd": [1]}), **(some(rng, 0.3, {"odd_inputs": [1]}) if world.vector else {})}
    return Call("iap.policy.mirror", {"block": block, **odd})


def policy_of(rng, world):
    if world.images and rng.random() < 0.04:
        rank = {"patch": 3, "stride": 3, "top": 2, **some(rng, 0.3, {"image": world.images[-1][0], "d": 2})}
        return Call("iap.policy.attention_agent", {"rank": rank, "lstm_units": 3})
    if world.images and rng.random() < 0.07:
        if rng.random() < 0.6:
            return mirror_of(rng, world, {})
        return Call("iap.policy.sequence", {}, [mirror_of(rng, world, {"units": 2}), last_of(rng)])
    blocks = first_of(rng, world)
    for _ in range(rng.choices([0, 1, 2], [45, 40, 15])[0]):
        more = between(rng)
        blocks += more if isinstance(more, list) else [more]
    return Call("iap.policy.sequence", {}, blocks + [last_of(rng)])
