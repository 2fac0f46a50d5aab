"""What the tests share: the program as an independent voice, worlds in Lua, and messages."""

import contextlib
import os
import pathlib
import resource
import subprocess
import unittest

import numpy as np

import iap

WORLD = """return function(options)
  local self = { spec = { action_size = 1, vector = 2, max_steps = 4, state_names = { "place", "age" },
    images = { grey = { height = 2, width = 3, channels = 1 }, far = { height = 1, width = 2, channels = 1, type = "float32" } } } }
  local x, age
  function self:reset() x, age = math.random(), 0 end
  function self:step(action)
    if action[1] > 0.9 then error("too far") end
    x, age = x + action[1], age + 1
    return x, false, false
  end
  function self:observe() return { x, age }, { grey = { 1, 2, 3, 4, 5, age }, far = { x, 0.5 } } end
  return self
end
"""

# A ball on a rail that is far too fast for its simulation in about every second episode.
FRAGILE = """local model = [[<mujoco><worldbody><body><joint name="z" type="slide" axis="0 0 1"/><geom size=".1"/></body></worldbody>
  <actuator><motor joint="z" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>]]
return { model = model, max_steps = 4, reward = function(data) return 1 end,
  reset = function(data, random) data.qvel.z = random:uniform() < 0.5 and 1e11 or 1 end }
"""


def lying_oddly(array):
    """`array` as float32 that is not contiguous, runs backwards, and is not aligned."""
    array = np.asarray(array, np.float32)
    return [np.repeat(array, 2, axis=-1)[..., ::2], array[::-1].copy()[::-1],
            np.frombuffer(b"\0" + array.tobytes(), np.float32, array.size, 1).reshape(array.shape)]


def lua(text):
    """What a Lua script prints, as numbers."""
    pathlib.Path("script.lua").write_text('local iap = require "iap"\n' + text)
    done = subprocess.run([os.environ["IAP_PROGRAM"], "run", "script.lua"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [float.fromhex(line) for line in done.stdout.split()]


@contextlib.contextmanager
def short_of_memory(room):
    """The block may take no more than `room` bytes beyond what the process has."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


class Raises:
    """What fails by an error of its own as soon as it is asked for anything."""

    def __array__(self, *_, **__):
        raise TypeError("is on another device")

    def __iter__(self):
        raise RuntimeError("is not at hand")


class RaisingPath(os.PathLike):
    def __fspath__(self):
        raise KeyError


class Test(unittest.TestCase):
    @contextlib.contextmanager
    def refused(self, *parts):
        """The block raises iap.Error with a message of one line that holds `parts`."""
        with self.assertRaises(iap.Error) as caught:
            yield caught
        message = str(caught.exception)
        self.assertNotIn("\n", message)
        for part in parts:
            self.assertIn(part, message)
