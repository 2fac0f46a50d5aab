"""The training in `base` by hand: members from search.lua's ask and tell, episodes by Rollouts.

    training.py SEED EPISODES SEEDS EVALUATED
"""
import csv
import json
import os
import subprocess
import sys

import iap
import numpy as np

seed, episodes, seeds, evaluated = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])


def read(name):
    with open(name) as file:
        return np.array([[float.fromhex(cell) for cell in line.split(",")] for line in file], np.float32)


def in_order(values):
    """The sum as the engine has it, rounded value by value (what sum() does is Python's affair)."""
    total = 0.0
    for value in values:
        total += value
    return total


with open("base/config.json") as file:
    rollouts = iap.Rollouts(iap.Policy("base/final.iap", trusted=True).env, json.load(file)["policy"], threads=2)
with open("base/metrics.csv", newline="") as file:
    rows = list(csv.DictReader(file))
with open("base/result.json") as file:
    result = json.load(file)
open("fitness.txt", "w").close()
played = 0
for iteration in range(result["iterations"] + 1):
    subprocess.run([os.environ["IAP_PROGRAM"], "run", "search.lua"], check=True, stdout=subprocess.DEVNULL)
    if iteration == 0:
        assert (rollouts.initial(seed) == read("initial.txt")[0]).all(), "initial parameters"
    mean = read("mean.txt")[0]
    row = rows[iteration]
    if row["eval_mean"]:
        returns = rollouts.evaluate(mean, seed=seed, episodes=evaluated)
        assert float(row["eval_mean"]) == in_order(returns) / evaluated, (iteration, row, list(returns))
    if iteration == result["iterations"]:
        rollouts.save("saved.iap", mean)
        subprocess.run([os.environ["IAP_PROGRAM"], "run", "saved.lua"], check=True, stdout=subprocess.DEVNULL)
        break
    row = rows[iteration + 1]
    returns, steps = rollouts.run(read("members.txt"), seed=seed, iteration=iteration, episodes=episodes, seeds=seeds)
    fitness = [in_order(value / episodes for value in member) for member in returns]
    mean_fitness = in_order(value / len(fitness) for value in fitness)
    assert float(row["return_mean"]) == mean_fitness and float(row["return_best"]) == max(fitness), (row, mean_fitness, fitness)
    played += int(steps.sum())
    assert int(float(row["steps"])) == played, (row, steps)
    with open("fitness.txt", "a") as file:
        file.write(",".join(value.hex() for value in fitness) + "\n")
