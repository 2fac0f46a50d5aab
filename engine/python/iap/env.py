"""Environments with Gymnasium's reset and step."""

import ctypes

import numpy as np

from ._handle import address, allocated, env_text, floats, whole
from ._library import Error, StepStruct, lib
from ._world import World, whether_copies
from .spaces import EnvBase, check_options


class Env(World, EnvBase):
    """An environment: by name with options, Env("cheetah-run", pixels=(64, 64)), as a dict, or as a text in JSON or Lua. A name that
    ends in ".lua" is an environment written in Lua.

    Observations are an array where one thing is seen, else a dict of pictures by name and "vector". They are copies, or with
    copy=False read-only views of the engine's memory, which are valid until the next call on the environment.
    render_mode="rgb_array" draws pictures of render_size (height, width), 1 to 16384 each, by default 400 rows high.

    Besides what Gymnasium's environments have: name, config (what the options became, as a dict that rebuilds it), control_dt
    (seconds a step), max_steps (0: no limit), images (a list of ImageSpec), vector_size, state_names.
    """

    _kind = "env"
    metadata = {"render_modes": ["rgb_array"]}

    def __init__(self, /, env, *, render_mode=None, render_size=None, copy=True, **options):
        if render_mode is not None and not (isinstance(render_mode, str) and render_mode == "rgb_array"):
            raise Error(f"render_mode: expected None or 'rgb_array', got {render_mode!r}")
        self._copy = whether_copies(copy)
        self._make(lib.iap_env_make, env_text(env, options))
        spec = self._describe(lib.iap_env_describe, lib.iap_env_image, lib.iap_env_observe)
        self.action_space, self.observation_space = self._spaces(spec)
        self.metadata = {**type(self).metadata, "render_fps": 1 / spec.control_dt if spec.control_dt > 0 else 25}
        self.render_mode = render_mode
        self._render_size = self._size(render_size)
        self._step = StepStruct()

    def _size(self, size):
        if size is None:
            rows = 400
            columns = round(rows * self.images[0].width / self.images[0].height) if self.images else rows
            return rows, min(max(columns, 1), 1 << 14)
        try:
            height, width = size
        except Exception as error:
            raise Error(f"render_size: expected (height, width), got {size!r}") from error
        return whole(height, 1, 1 << 14, "render_size"), whole(width, 1, 1 << 14, "render_size")

    def reset(self, *, seed=None, options=None):
        """Begins the episode of `seed`, the engine's own; without one, of a seed drawn from those before. -> observation, info"""
        check_options(options)
        if seed is not None:
            seed = whole(seed, 0, 2**64 - 1, "seed")
        super().reset(seed=seed)
        if seed is None:
            seed = int(self.np_random.integers(2**63))
        self._call(lib.iap_env_reset, seed)
        return self._observation(self._copy), {"seed": seed}

    def step(self, action):
        """-> observation, reward, terminated, truncated, info"""
        values = floats(action, (self._action_size,), "action")
        step = self._step
        self._call(lib.iap_env_step, address(values), self._action_size, ctypes.addressof(step))
        info = {"unstable": bool(step.unstable)}
        return self._observation(self._copy), step.reward, bool(step.terminated), bool(step.truncated), info

    def render(self):
        """The present as an array of height x width x 3 bytes; None without a render_mode."""
        if self.render_mode is None:
            self._held()  # is an error where it is closed
            return None
        height, width = self._render_size
        picture = allocated("render()", np.empty, (height, width, 3), np.uint8)
        self._call(lib.iap_env_draw, height, width, address(picture), 0)
        return picture
