"""The first iteration of the run in `base` by hand, of members.txt: first_iteration.py SEED EPISODES SEEDS."""
import csv
import sys

import iap
import numpy as np

seed, episodes, seeds = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]


def read(name):
    with open(name) as file:
        return np.array([[float.fromhex(cell) for cell in line.split(",")] for line in file], np.float32)


def in_order(values):
    """The sum as the engine has it, rounded value by value (what sum() does is Python's affair)."""
    total = 0.0
    for value in values:
        total += value
    return total


rollouts = iap.Rollouts(None, "base", threads=2)
assert (rollouts.initial(seed) == read("initial.txt")[0]).all(), "initial parameters"
returns, steps = rollouts.run(read("members.txt"), seed=seed, iteration=0, episodes=episodes, seeds=seeds)
fitness = [in_order(value / episodes for value in row) for row in returns]
mean = in_order(value / len(fitness) for value in fitness)
with open("base/metrics.csv", newline="") as file:
    row = list(csv.DictReader(file))[1]
assert float(row["return_mean"]) == mean and float(row["return_best"]) == max(fitness), (row, mean, fitness)
assert int(float(row["steps"])) == steps.sum(), (row, steps)
