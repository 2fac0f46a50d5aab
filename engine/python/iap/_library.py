"""The C library: where it lies, its structs and functions as iap.h has them."""

import ctypes
import os
import pathlib
import re
from ctypes import POINTER, Structure, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

ABI = 1  # IAP_ABI_VERSION, and the number at the end of the library's name
UINT8, FLOAT32 = 0, 1
RGB, BGR = 0, 1
SAME_SIZE, RESIZE = 0, 1


# Controls, separators of lines, what embeds, overrides or isolates a direction, and surrogates, as the library's own messages lack them.
_STEERS = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Error(RuntimeError):
    """Whatever goes wrong: one line that names the thing, the value and the remedy, and that a terminal may show."""

    def __init__(self, message=""):
        super().__init__(_STEERS.sub(lambda found: " " if found[0] in "\n\t" else "?", str(message)))


class Sized(Structure):
    """A struct that begins with its own size."""

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(self), **fields)


class Image(Sized):
    _fields_ = [("size", c_size_t), ("height", c_int32), ("width", c_int32), ("channels", c_int32), ("pixel", c_int32),
                ("order", c_int32), ("fit", c_int32), ("row_stride", c_int64), ("data", c_void_p)]


class ImageSpecStruct(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("height", c_int32), ("width", c_int32), ("channels", c_int32),
                ("pixel", c_int32)]


class PatchStruct(Structure):
    _fields_ = [("top", c_int32), ("left", c_int32), ("size", c_int32), ("view", c_int32), ("score", c_float)]


class ScoresStruct(Sized):
    _fields_ = [("size", c_size_t), ("block", c_char_p), ("image", c_char_p), ("rows", c_int32), ("columns", c_int32),
                ("patch", c_int32), ("stride", c_int32), ("values", POINTER(c_float))]


class EnvSpecStruct(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("config", c_char_p), ("action_size", c_size_t), ("action_low", c_float),
                ("action_high", c_float), ("control_dt", c_double), ("max_steps", c_int64), ("vector_size", c_size_t),
                ("state_names", POINTER(c_char_p)), ("image_count", c_size_t)]


class StepStruct(Sized):
    _fields_ = [("size", c_size_t), ("reward", c_double), ("terminated", c_int32), ("truncated", c_int32), ("unstable", c_int32)]


class RolloutOptions(Sized):
    _fields_ = [("size", c_size_t), ("seed", c_uint64), ("iteration", c_uint32), ("episodes", c_uint32), ("seeds", c_int32)]


# name: (what it returns, what it takes); pointers into arrays are addresses.
_MAKE = [c_void_p, c_char_p, c_size_t]  # where the object goes, and a message
_FUNCTIONS = {
    "iap_version": (c_char_p, []),
    "iap_abi_version": (c_uint32, []),
    "iap_policy_load": (c_int, [c_char_p, *_MAKE]),
    "iap_policy_load_trusted": (c_int, [c_char_p, *_MAKE]),
    "iap_policy_load_memory": (c_int, [c_char_p, c_size_t, *_MAKE]),
    "iap_policy_load_memory_trusted": (c_int, [c_char_p, c_size_t, *_MAKE]),
    "iap_policy_free": (None, [c_void_p]),
    "iap_policy_error": (c_char_p, [c_void_p]),
    "iap_policy_parameter_count": (c_size_t, [c_void_p]),
    "iap_policy_action_size": (c_size_t, [c_void_p]),
    "iap_policy_vector_size": (c_size_t, [c_void_p]),
    "iap_policy_image_count": (c_size_t, [c_void_p]),
    "iap_policy_view_count": (c_size_t, [c_void_p]),
    "iap_policy_image": (c_int, [c_void_p, c_size_t, POINTER(ImageSpecStruct)]),
    "iap_policy_control_dt": (c_double, [c_void_p]),
    "iap_policy_metadata": (c_char_p, [c_void_p]),
    "iap_policy_env": (c_char_p, [c_void_p]),
    "iap_policy_reset": (c_int, [c_void_p, c_uint64]),
    "iap_policy_act": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p, c_size_t]),
    "iap_policy_patches": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p]),
    "iap_policy_scores": (c_int, [c_void_p, c_size_t, POINTER(ScoresStruct)]),
    "iap_env_make": (c_int, [c_char_p, *_MAKE]),
    "iap_env_free": (None, [c_void_p]),
    "iap_env_error": (c_char_p, [c_void_p]),
    "iap_env_describe": (c_int, [c_void_p, POINTER(EnvSpecStruct)]),
    "iap_env_image": (c_int, [c_void_p, c_size_t, POINTER(ImageSpecStruct)]),
    "iap_env_reset": (c_int, [c_void_p, c_uint64]),
    "iap_env_step": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p]),
    "iap_env_observe": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p]),
    "iap_env_draw": (c_int, [c_void_p, c_int32, c_int32, c_void_p, c_size_t]),
    "iap_batch_make": (c_int, [c_char_p, c_size_t, c_int32, *_MAKE]),
    "iap_batch_free": (None, [c_void_p]),
    "iap_batch_error": (c_char_p, [c_void_p]),
    "iap_batch_describe": (c_int, [c_void_p, POINTER(EnvSpecStruct)]),
    "iap_batch_image": (c_int, [c_void_p, c_size_t, POINTER(ImageSpecStruct)]),
    "iap_batch_reset": (c_int, [c_void_p, c_void_p, c_size_t]),
    "iap_batch_step": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p, c_void_p, c_void_p, c_void_p]),
    "iap_batch_observe": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p]),
    "iap_rollouts_make": (c_int, [c_char_p, c_char_p, c_int32, *_MAKE]),
    "iap_rollouts_make_trusted": (c_int, [c_char_p, c_char_p, c_int32, *_MAKE]),
    "iap_rollouts_free": (None, [c_void_p]),
    "iap_rollouts_error": (c_char_p, [c_void_p]),
    "iap_rollouts_parameter_count": (c_size_t, [c_void_p]),
    "iap_rollouts_initial": (c_int, [c_void_p, c_uint64, c_void_p, c_size_t]),
    "iap_rollouts_parameters": (c_int, [c_void_p, c_void_p, c_size_t]),
    "iap_rollouts_run": (c_int, [c_void_p, c_void_p, c_size_t, c_size_t, POINTER(RolloutOptions), c_void_p, c_void_p]),
    "iap_rollouts_save": (c_int, [c_void_p, c_char_p, c_void_p, c_size_t]),
}


def _places(name):
    """Where the library may lie: as IAP_LIBRARY says, or beside this package in an installed tree, or where the loader looks."""
    if os.environ.get("IAP_LIBRARY"):
        return [os.environ["IAP_LIBRARY"]]
    found = []
    for folder in pathlib.Path(__file__).resolve().parents[:5]:
        for pattern in (name, f"lib/{name}", f"lib64/{name}", f"lib/*-linux-*/{name}"):
            found += sorted(str(path) for path in folder.glob(pattern))
    return [*found, name]


def _load():
    name, complaints = f"libiap.so.{ABI}", []
    for place in _places(name):
        try:
            library = ctypes.CDLL(place)
            break
        except OSError as error:
            complaints.append(str(error))
    else:
        raise Error(f"cannot load {name} ({'; '.join(complaints)}); set IAP_LIBRARY to its path")
    try:
        for function, (result, arguments) in _FUNCTIONS.items():
            entry = getattr(library, function)
            entry.restype, entry.argtypes = result, arguments
    except AttributeError as error:
        raise Error(f"{place} is not the library of this package: {error}") from None
    if library.iap_abi_version() != ABI:
        raise Error(f"{place} has the ABI version {library.iap_abi_version()}, this package needs {ABI}; set IAP_LIBRARY to its own")
    return library


lib = _load()


def version():
    """The library's version, such as "0.2.0"."""
    return lib.iap_version().decode()
