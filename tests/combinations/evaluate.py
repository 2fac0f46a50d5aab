"""An evaluation of the run in `base` by hand, against eval1.csv: evaluate.py THREADS SEED EPISODES."""
import csv
import sys

import iap
import numpy as np

threads, seed, episodes = map(int, sys.argv[1:])
with open("eval1.csv", newline="") as file:
    rows = list(csv.DictReader(file))
rollouts = iap.Rollouts(None, "base", threads=threads)
got, want = list(rollouts.evaluate(rollouts.parameters(), seed=seed, episodes=episodes)), [float(row["return"]) for row in rows]
assert got == want, (got, want)

policy = iap.Policy("base/best.iap")
env = iap.Env(policy.env)
low, high = env.action_space.low, env.action_space.high
plain = (low == -1).all() and (high == 1).all()
first = int(rows[0]["seed"])
observation, _ = env.reset(seed=first)
policy.reset(first)
total, over = 0.0, False
while not over:
    action = np.clip(policy.act(observation), -1, 1)
    if not plain:
        action = (low + (action + 1) * 0.5 * (high - low)).astype(np.float32)
    observation, reward, terminated, truncated, _ = env.step(action)
    total += reward
    over = terminated or truncated
# Scaled actions are rounded once more than in the engine.
assert total == want[0] if plain else abs(total - want[0]) < 1e-3 * max(1, abs(total)), (total, want[0])
