#!/usr/bin/env python3
"""An evolution strategy in numpy swings up a pole: the engine plays, these lines search.

usage: cartpole_es.py [ITERATIONS [POLICY.iap]]     (the default, 60 iterations, takes about a minute on two cores)
"""
import sys

import numpy as np

import iap

iterations, path = int(sys.argv[1]) if len(sys.argv) > 1 else 60, sys.argv[2] if len(sys.argv) > 2 else "cartpole.iap"
blocks = {"kind": "sequence", "blocks": [{"kind": "mlp", "hidden": [16], "activation": "tanh"}]}
rollouts = iap.Rollouts("cartpole-swingup", blocks, action_repeat=8)
rng, pairs, sigma, rate = np.random.default_rng(1), 32, 0.1, 0.1

mean = rollouts.initial(seed=1)
for iteration in range(iterations):
    if iteration % 10 == 0:
        print(f"iteration {iteration}: evaluation {rollouts.evaluate(mean, seed=1).mean():.1f}", flush=True)
    noise = rng.standard_normal((pairs, rollouts.size))
    population = np.concatenate([mean + sigma * noise, mean - sigma * noise])
    returns = rollouts.run(population, seed=1, iteration=iteration, episodes=2)[0].mean(axis=1)
    ranks = returns.argsort().argsort() / (2 * pairs - 1) - 0.5  # what counts is the order, not the size
    mean = mean + rate / sigma / pairs * (ranks[:pairs] - ranks[pairs:]) @ noise
rollouts.save(path, mean)
print(f"evaluation {rollouts.evaluate(mean, seed=1).mean():.1f}; `iap play {path}` shows it")
