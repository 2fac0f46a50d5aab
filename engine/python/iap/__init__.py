"""iap for Python: trained policies, environments, batches of them and whole rollouts, over the C library libiap.

    import iap
    policy = iap.Policy("runs/quickstart/best.iap")
    env = iap.Env(policy.env)        # the one that it was trained in, with Gymnasium's reset and step
    observation, info = env.reset(seed=1)
    action = policy.act(observation)

Needs ctypes and numpy, and no compiler. The library is found beside this package, as `cmake --install` puts it, or by the environment
variable IAP_LIBRARY. Where Gymnasium can be imported, Env and VectorEnv are subclasses of its own. Whatever fails raises iap.Error.
"""

from ._library import Error, version
from .env import Env
from .policy import ImageSpec, Patch, Policy, Scores
from .rollouts import Rollouts
from .vector import VectorEnv

__version__ = version()
__all__ = ["Env", "Error", "ImageSpec", "Patch", "Policy", "Rollouts", "Scores", "VectorEnv", "version"]
