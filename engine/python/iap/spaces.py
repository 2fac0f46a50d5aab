"""Gymnasium's classes where it can be imported, else what takes their place."""

import numpy as np

from ._library import Error

try:
    from gymnasium import Env as EnvBase
    from gymnasium.spaces import Box, Dict
    from gymnasium.vector import VectorEnv as VectorBase

    try:
        from gymnasium.vector import AutoresetMode

        NEXT_STEP = AutoresetMode.NEXT_STEP
    except ImportError:
        NEXT_STEP = "NextStep"
except ImportError:
    NEXT_STEP = "NextStep"

    class _Seeded:
        """Random numbers as Gymnasium's objects have them."""

        _np_random = None

        @property
        def np_random(self):
            if self._np_random is None:
                self._np_random = np.random.default_rng()
            return self._np_random

    class EnvBase(_Seeded):
        """In place of gymnasium.Env."""

        render_mode = None
        spec = None

        def reset(self, *, seed=None, options=None):
            if seed is not None:
                self._np_random = np.random.default_rng(seed)

        @property
        def unwrapped(self):
            return self

    VectorBase = EnvBase

    class Box(_Seeded):
        """In place of gymnasium.spaces.Box: arrays between `low` and `high`."""

        def __init__(self, low, high, shape, dtype):
            self.low, self.high = np.full(shape, low, dtype), np.full(shape, high, dtype)
            self.shape, self.dtype = tuple(shape), np.dtype(dtype)

        def seed(self, seed=None):
            self._np_random = np.random.default_rng(seed)

        def sample(self):
            if self.dtype.kind == "u":
                return self.np_random.integers(self.low, self.high, self.shape, self.dtype, endpoint=True)
            if np.isfinite(self.low).all() and np.isfinite(self.high).all():
                return self.np_random.uniform(self.low, self.high).astype(self.dtype)
            return self.np_random.normal(size=self.shape).astype(self.dtype)

        def contains(self, x):
            return isinstance(x, np.ndarray) and x.dtype == self.dtype and x.shape == self.shape and \
                bool(np.all(x >= self.low) and np.all(x <= self.high))

        def __eq__(self, other):
            return isinstance(other, Box) and self.shape == other.shape and self.dtype == other.dtype and \
                bool(np.all(self.low == other.low) and np.all(self.high == other.high))

        def __repr__(self):
            return f"Box({self.low.min()}, {self.high.max()}, {self.shape}, {self.dtype})"

    class Dict(dict):
        """In place of gymnasium.spaces.Dict: spaces by name."""

        @property
        def spaces(self):
            return dict(self)

        def seed(self, seed=None):
            numbers = np.random.default_rng(seed)
            for space in self.values():
                space.seed(int(numbers.integers(2**32)))

        def sample(self):
            return {name: space.sample() for name, space in self.items()}

        def contains(self, x):
            return isinstance(x, dict) and x.keys() == self.keys() and all(space.contains(x[name]) for name, space in self.items())


def action_space(spec, count=None):
    """Of one environment, or of `count` side by side."""
    shape = (spec.action_size,) if count is None else (count, spec.action_size)
    return Box(spec.action_low, spec.action_high, shape, np.float32)


def observation_space(images, vector_size, count=None):
    """A Box where one thing is seen, else a Dict of them by name, "vector" among them."""
    lead = () if count is None else (count,)
    spaces = {}
    for image in images:
        low, high = (0, 255) if image.dtype == np.uint8 else (-np.inf, np.inf)
        spaces[image.name] = Box(low, high, (*lead, *image.shape), image.dtype.type)
    if vector_size:
        spaces["vector"] = Box(-np.inf, np.inf, (*lead, vector_size), np.float32)
    return next(iter(spaces.values())) if len(spaces) == 1 else Dict(spaces)


def check_options(options):
    named = isinstance(options, dict)
    if options is not None and not (named and not options):
        given = ", ".join(map(str, options)) if named else repr(options)
        raise Error(f"options: reset takes none, got {given}")
