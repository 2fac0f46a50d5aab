"""What parameters of a policy earn, for optimizers of your own."""

import ctypes
import os

import numpy as np

from ._handle import (Handle, address, allocated, as_array, encode, encode_path, env_text, flag, floats, is_table, path_text,
                      table_text, whole)
from ._library import Error, RolloutOptions, lib

SEEDS = {"common": 0, "pairs": 1, "own": 2, "evaluation": 3}


class Rollouts(Handle):
    """Rollouts of a policy in an environment, on the engine's threads (0: all).

    `env` as Env takes it, options included. `policy` describes the blocks as a dict, {"kind": "sequence", "blocks": [...]}, or as a
    text in JSON or Lua, or is the path of a policy file or run folder, with which `env` may be None: its own. A block in Lua
    that keeps something from one episode to the next is refused, as by iap.train. `size` is the number of parameters.
    """

    _kind = "rollouts"

    def __init__(self, /, env, policy, *, threads=0, trusted=False, **options):
        if isinstance(policy, (dict, list)):
            policy = table_text(policy, "policy")
        if not isinstance(policy, (str, os.PathLike)):
            raise Error(f"policy: expected a dict, a text or a path, got a {type(policy).__name__}")
        if isinstance(policy, os.PathLike):
            coded = encode(path_text(policy, "policy"), "policy")
        else:
            coded = (encode if is_table(policy) else encode_path)(policy, "policy")
        if env is None and options:
            raise Error("env: options without a name; give it as env")
        text = None if env is None else env_text(env, options)
        make = lib.iap_rollouts_make_trusted if flag(trusted, "trusted") else lib.iap_rollouts_make
        self._make(make, text, coded, whole(threads, 0, 4096, "threads"))
        self.size = lib.iap_rollouts_parameter_count(self._held())

    def initial(self, seed=0):
        """The parameters that a run of iap.train with this seed begins at."""
        return self._parameters(lib.iap_rollouts_initial, whole(seed, 0, 2**64 - 1, "seed"))

    def parameters(self):
        """Those of the policy file; of described blocks, the initial ones of seed 0."""
        return self._parameters(lib.iap_rollouts_parameters)

    def _parameters(self, function, *arguments):
        parameters = allocated("parameters", np.empty, self.size, np.float32)
        self._call(function, *arguments, address(parameters), self.size)
        return parameters

    def run(self, parameters, *, seed=0, iteration=0, episodes=1, seeds="common"):
        """Plays `episodes` episodes of each member of a population, members x size. -> returns and steps, members x episodes each.

        What episodes are played follows from `seed` and `iteration` as in iap.train; `seeds` says who shares them: all ("common"),
        members 2k and 2k + 1 ("pairs"), or nobody ("own"). "evaluation": those of iap.eval and of a run's evaluations.
        """
        parameters = as_array(parameters, "parameters")
        members = len(parameters) if parameters.ndim else 0
        if parameters.shape == (self.size,):
            raise Error(f"parameters: has the shape ({self.size},), expected (members, {self.size}); "
                        "a single member is parameters[None, :], and evaluate takes it as it is")
        population = floats(parameters, (members, self.size), "parameters")
        if not isinstance(seeds, str) or seeds not in SEEDS:
            raise Error(f"seeds: expected one of {', '.join(SEEDS)}, got {seeds!r}")
        options = RolloutOptions(seed=whole(seed, 0, 2**64 - 1, "seed"), iteration=whole(iteration, 0, 2**32 - 1, "iteration"),
                                 episodes=whole(episodes, 1, 2**24 - 1, "episodes"), seeds=SEEDS[seeds])
        if members * options.episodes > 100_000_000:
            raise Error(f"episodes: {members} x {options.episodes} are more than 100000000")
        shape = members, options.episodes
        returns, steps = (allocated("episodes", np.empty, shape, dtype) for dtype in (np.float64, np.uint32))
        self._call(lib.iap_rollouts_run, address(population), members, self.size, ctypes.byref(options), address(returns),
                   address(steps))
        return returns, steps

    def evaluate(self, parameters, *, seed=0, episodes=16):
        """The returns of `parameters`, `size` of them, on the episodes that `iap eval --seed` plays. A policy file's clocks go by the
        environment's time between decisions, where `iap eval` keeps the file's.
        """
        parameters = floats(parameters, (self.size,), "parameters")
        return self.run(parameters[None, :], seed=seed, episodes=episodes, seeds="evaluation")[0][0]

    def save(self, path, parameters):
        """Writes a policy file with these parameters, for Policy, `iap eval` and `iap play`. What a run keeps in its folder stays."""
        values = floats(parameters, (self.size,), "parameters")
        self._call(lib.iap_rollouts_save, encode_path(path, "path"), address(values), self.size)
