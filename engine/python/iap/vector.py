"""Environments side by side, stepped on the engine's threads."""

import numpy as np

from ._handle import address, allocated, env_text, floats, whole
from ._library import Error, lib
from ._world import World, whether_copies
from .spaces import NEXT_STEP, VectorBase, check_options


class VectorEnv(World, VectorBase):
    """num_envs environments of one description, as Env takes it. Actions are num_envs x action size, observations have num_envs in
    front. Where an episode ended, the next step begins another one instead (Gymnasium's AutoresetMode.NEXT_STEP): its action is
    ignored and its reward 0. Results do not depend on `threads` (0: all). Observations are copies, or with copy=False read-only views
    whose memory the next reset or step writes anew.
    """

    _kind = "batch"
    metadata = {"autoreset_mode": NEXT_STEP}
    closed = False  # what Gymnasium's wrappers go by

    def __init__(self, /, env, num_envs, *, threads=0, copy=True, **options):
        self._count = self.num_envs = whole(num_envs, 1, 65536, "num_envs")
        self._copy = whether_copies(copy)
        text = env_text(env, options)
        self._make(lib.iap_batch_make, text, self.num_envs, whole(threads, 0, 4096, "threads"))
        spec = self._describe(lib.iap_batch_describe, lib.iap_batch_image, lib.iap_batch_observe)
        self.single_action_space, self.single_observation_space = self._spaces(spec)
        self.action_space, self.observation_space = self._spaces(spec, self.num_envs)
        self._rewards, self._terminated, self._truncated = np.zeros(self.num_envs), *np.zeros((2, self.num_envs), np.bool_)
        self._unstable = bytearray(self.num_envs)  # is looked through at each step, faster than an array
        outputs = self._rewards, self._terminated, self._truncated, np.frombuffer(self._unstable, np.uint8)
        self._outputs = [address(array) for array in outputs]
        self._seen = None

    def _seeds(self, seed):
        if seed is None:
            return self.np_random.integers(2**63, size=self.num_envs, dtype=np.uint64)
        if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool):
            first = whole(seed, 0, 2**63 - 1, "seed")
            return np.arange(first, first + self.num_envs, dtype=np.uint64)
        try:
            seeds = list(seed)
        except Exception as error:
            raise Error(f"seed: expected an integer or {self.num_envs} of them, got {seed!r}") from error
        if len(seeds) != self.num_envs:
            raise Error(f"seed: expected an integer or {self.num_envs} of them, got {len(seeds)}")
        return np.array([whole(value, 0, 2**64 - 1, "seed") for value in seeds], np.uint64)

    def reset(self, *, seed=None, options=None):
        """Begins an episode everywhere: of `seed` + i in environment i, or of seeds given one by one. -> observations, infos"""
        check_options(options)
        if isinstance(seed, (int, np.integer)):
            # Not by the base class, which in Gymnasium before 1.0 would step environments of its own.
            self._np_random_seed = whole(seed, 0, 2**63 - 1, "seed")
            self._np_random = np.random.default_rng(self._np_random_seed)
        seeds = self._seeds(seed)
        self._call(lib.iap_batch_reset, address(seeds), self.num_envs)
        return self._observations(), {"seed": seeds, "_seed": np.ones(self.num_envs, np.bool_)}

    def step(self, actions):
        """-> observations, rewards, terminations, truncations, infos; these have "unstable", one for each environment, in the steps in
        which a simulation broke down somewhere.
        """
        values = floats(actions, (self.num_envs, self._action_size), "actions")
        self._call(lib.iap_batch_step, address(values), values.size, *self._outputs)
        infos = {}
        if 1 in self._unstable:
            unstable = np.frombuffer(self._unstable, np.bool_).copy()
            infos = {"unstable": unstable, "_unstable": unstable}
        return self._observations(), self._rewards.copy(), self._terminated.copy(), self._truncated.copy(), infos

    def _observations(self):
        """The memory stays in place, so that it is looked up once."""
        seen = self._seen
        if seen is None:
            seen = self._seen = self._observation(False)
        if isinstance(seen, np.ndarray):
            return allocated("observations", seen.copy) if self._copy else seen
        return {name: allocated(name, array.copy) if self._copy else array for name, array in seen.items()}

    def close(self, **_):
        super().close()
        self.closed = True
        self._seen = None
