"""Environments of the policy in `base` side by side against one by one: batch.py COUNT SEED."""
import sys

import iap
import numpy as np

count, seed = int(sys.argv[1]), int(sys.argv[2])
text = iap.Policy("base/best.iap", trusted=True).env
STEPS = 30


def parts(observation):
    return {"only": observation} if isinstance(observation, np.ndarray) else observation


def same(a, b):
    a, b = parts(a), parts(b)
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


batches = [iap.VectorEnv(text, 1) for _ in range(count)]
space = batches[0].single_action_space
random = np.random.default_rng(5)
actions = [(space.low + random.random((count, *space.shape)) * (space.high - space.low)).astype(np.float32) for _ in range(STEPS)]


def play(threads, copy):
    """What all of them show and pay."""
    batch = iap.VectorEnv(text, count, threads=threads, copy=copy)
    observations, _ = batch.reset(seed=seed)
    trace = [{name: np.array(value) for name, value in parts(observations).items()}]
    outcomes = []
    for action in actions:
        observations, rewards, terminated, truncated, infos = batch.step(action)
        trace.append({name: np.array(value) for name, value in parts(observations).items()})
        outcomes.append((rewards, terminated, truncated, infos.get("unstable", np.zeros(count, bool))))
    return trace, outcomes


trace, outcomes = play(1, True)
for threads, copy in ((3, True), (2, False)):
    again, results = play(threads, copy)
    for t, (a, b) in enumerate(zip(trace, again)):
        assert same(a, b), f"observations of step {t} on {threads} threads, copy {copy}"
    for t, (a, b) in enumerate(zip(outcomes, results)):
        assert all(np.array_equal(x, y) for x, y in zip(a, b)), f"outcomes of step {t} on {threads} threads: {a} {b}"

for i, batch in enumerate(batches):
    observations, _ = batch.reset(seed=[seed + i])
    for t in range(STEPS + 1):
        assert same(observations, {name: value[i:i + 1] for name, value in trace[t].items()}), f"alone, environment {i}, step {t}"
        if t < STEPS:
            observations, *told, _ = batch.step(actions[t][i:i + 1])
            assert all(a[0] == b[i] for a, b in zip(told, outcomes[t])), f"alone, environment {i}, step {t}: {told} {outcomes[t]}"

# Pictures for people change nothing.
for i in range(count):
    drawn = i % 2 == 0
    env = iap.Env(text, copy=drawn, render_mode="rgb_array" if drawn else None, render_size=(16, 24))
    observation, _ = env.reset(seed=seed + i)
    for t in range(STEPS + 1):
        if drawn and t % 5 == 3:
            try:
                env.render()
            except iap.Error:  # of worlds without pictures
                drawn = False
        assert same(observation, {name: value[i] for name, value in trace[t].items()}), f"environment {i}, step {t}, drawn {drawn}"
        if t == STEPS:
            break
        observation, reward, terminated, truncated, info = env.step(actions[t][i])
        told = reward, terminated, truncated, info["unstable"]
        assert told == tuple(part[i] for part in outcomes[t]), f"environment {i}, step {t}: {told} {outcomes[t]}"
        if terminated or truncated:
            break
