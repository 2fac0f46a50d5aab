"""With Gymnasium's own classes: the installed ones, else stand-ins of the same names in a folder."""

import os
import pathlib
import subprocess
import sys
import unittest

from common import Test

STAND_IN = {
    "__init__.py": """class Env:
    np_random = None
    def reset(self, *, seed=None, options=None):
        import numpy
        if seed is not None or self.np_random is None: self.np_random = numpy.random.default_rng(seed)
""",
    "spaces.py": """class Box:
    def __init__(self, low, high, shape, dtype): self.shape = shape
class Dict(dict): pass
""",
    "vector.py": """import enum
from gymnasium import Env
class AutoresetMode(enum.Enum): NEXT_STEP = "NextStep"
class VectorEnv(Env):
    closed = False
    def close(self, **kwargs): self.closed = True
""",
}

PROGRAM = """
import gymnasium, gymnasium.spaces, gymnasium.vector, iap
env = iap.Env("cartpole-swingup", pixels=(8, 10), time_limit=20, render_mode="rgb_array", render_size=(16, 20))
assert isinstance(env, gymnasium.Env)
assert isinstance(env.observation_space, gymnasium.spaces.Box)
env.reset(seed=3)
batch = iap.VectorEnv("cartpole-swingup", 2)
assert isinstance(batch, gymnasium.vector.VectorEnv)
assert batch.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.NEXT_STEP
batch.reset(seed=1)
batch.step([[0], [0]])
assert not batch.closed
batch.close()
assert batch.closed
if hasattr(gymnasium, "__version__"):
    from gymnasium.utils.env_checker import check_env
    check_env(env)
    print("checked by Gymnasium", gymnasium.__version__)
"""


class Gymnasium(Test):
    def run_with(self, folder):
        path = os.pathsep.join([*([folder] if folder else []), os.environ["PYTHONPATH"]])
        return subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": path})

    def test_classes_are_its_subclasses(self):
        package = pathlib.Path("stand_in/gymnasium")
        package.mkdir(parents=True)
        for name, content in STAND_IN.items():
            (package / name).write_text(content)
        done = self.run_with("stand_in")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_its_own_checker_passes(self):
        try:
            import gymnasium  # noqa: F401
        except ImportError:
            self.skipTest("there is no Gymnasium")
        done = self.run_with(None)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("checked by Gymnasium", done.stdout)


if __name__ == "__main__":
    unittest.main()
