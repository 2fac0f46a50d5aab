"""Trained policies."""

import ctypes
import json
import os
import re
from typing import NamedTuple

import numpy as np

from . import _library
from ._handle import Handle, address, allocated, as_array, decode, encode_path, flag, floats, whole
from ._library import Error, Image, ImageSpecStruct, PatchStruct, ScoresStruct, lib


class ImageSpec(NamedTuple):
    """A picture that is seen: height x width x channels of uint8 (0 to 255) or float32."""

    name: str
    height: int
    width: int
    channels: int
    dtype: np.dtype

    @property
    def shape(self):
        return self.height, self.width, self.channels


class Patch(NamedTuple):
    """An attended patch, in pixels; `view` is its place in Policy.scores()."""

    top: int
    left: int
    size: int
    view: int
    score: float


class Scores(NamedTuple):
    """The scores of all patches of a picture: `values` is rows x columns, the patch at (row, column) begins at stride x both."""

    block: str
    image: str
    patch: int
    stride: int
    values: np.ndarray


def image_spec(call, function, index):
    """Description number `index` of the pictures of an object."""
    spec = ImageSpecStruct()
    owner = call(function, index, ctypes.byref(spec))  # whose memory the name lies in
    dtype = np.dtype(np.float32 if spec.pixel == _library.FLOAT32 else np.uint8)
    found = ImageSpec(decode(spec.name), spec.height, spec.width, spec.channels, dtype)
    del owner
    return found


def part_names(images, vector_size):
    """What the parts of an observation are called in a dict."""
    names = [image.name for image in images]
    if vector_size:
        if "vector" in names:
            raise Error('images: one is called "vector", as the numbers beside it are in an observation; give it another name')
        names.append("vector")
    return names


def _dtype_remedy(array, spec):
    """The same where the dtype is another: nothing that would wrap values around."""
    kind = array.dtype.kind
    if spec.dtype == np.float32:
        if kind in "iu":
            return ("; floats count as they are, depth in metres: scale integers by the camera's unit, "
                    "as numpy.asarray(picture, numpy.float32) / 1000 does millimetres")
        return "; numpy.asarray(picture, numpy.float32)" if kind in "fb" else ""
    if kind == "f":
        return "; floats from 0 to 1: (255 * numpy.asarray(picture)).round().astype(numpy.uint8)"
    if kind == "b":
        return "; 255 * picture.astype(numpy.uint8)"
    if kind not in "iu":
        return ""
    low, high = (array.min(), array.max()) if array.size else (0, 0)
    if 0 <= low and high <= 255:
        return "; numpy.asarray(picture, numpy.uint8)"
    example = ", such as (picture // 257).astype(numpy.uint8) where it is all of 16 bits" if kind == "u" and array.itemsize == 2 else ""
    return f"; its values go from {low} to {high}: scale them by the camera's range to 0 .. 255 of numpy.uint8{example}"


def _remedy(array, spec, env):
    """What turns a picture that is refused into what a policy of this environment sees, where that is easily said."""
    channels = spec.channels
    first, last = (array.shape[0], array.shape[2]) if array.ndim == 3 else (0, 0)
    most = 4  # channels of a picture; more are its width, or pictures
    if last > most and (first == channels or 1 < channels < first <= most):
        return "; channels come last: picture.transpose(1, 2, 0)"
    if channels == 3 and first == 1 and last > most:
        return "; grey as three channels, which come last: numpy.repeat(picture.transpose(1, 2, 0), 3, axis=2)"
    if 1 < channels < last <= most:
        return f"; leave out the other channels: picture[..., :{channels}]"
    if channels == 3 and array.ndim >= 2 and array.shape[2:] in ((), (1,)):
        return "; grey as three channels: numpy.repeat(picture.reshape(*picture.shape[:2], 1), 3, axis=2)"
    if array.dtype != spec.dtype:
        return _dtype_remedy(array, spec)
    if array.ndim == 3 and array.shape[2] == channels and 0 not in array.shape:
        own = "" if env is None else "iap.Env(policy.env) shows it in that size; where it comes from elsewhere, "
        return f"; {own}resize=True has it averaged to that size"
    return ""


class Policy(Handle):
    """A policy from a file (its path) or from memory (bytes). `trusted`: Lua in it may do all that this process may.

    parameter_count, action_size, vector_size, images (a list of ImageSpec), control_dt (seconds an action; 0 if the file does not
    say: see Env(policy.env).control_dt), metadata (a dict), and env, the environment that it was trained in as Env takes it, or None.
    """

    _kind = "policy"

    def __init__(self, source, trusted=False):
        how = "_trusted" if flag(trusted, "trusted") else ""
        if isinstance(source, (bytes, bytearray, memoryview)):
            content = allocated("source", bytes, source)
            self._make(getattr(lib, f"iap_policy_load_memory{how}"), content, len(content))
        elif isinstance(source, (str, os.PathLike)):
            self._make(getattr(lib, f"iap_policy_load{how}"), encode_path(source, "source"))
        else:
            raise Error(f"source: expected a path or bytes, got a {type(source).__name__}")
        owner = self._held()
        self.parameter_count = lib.iap_policy_parameter_count(owner)
        self.action_size = lib.iap_policy_action_size(owner)
        self.vector_size = lib.iap_policy_vector_size(owner)
        self.control_dt = lib.iap_policy_control_dt(owner)
        self.images = [image_spec(self._call, lib.iap_policy_image, i) for i in range(lib.iap_policy_image_count(owner))]
        self.metadata = json.loads(lib.iap_policy_metadata(owner))
        self.env = self.metadata.get("env")
        self._names = part_names(self.images, self.vector_size)

    def _in_python(self, message):
        """Pictures under their names."""
        return re.sub(r"'images\[(\d+)\](?:\.data)?'", lambda place: f"'{self.images[int(place[1])].name}'", super()._in_python(message))

    def reset(self, seed=0):
        """Begins an episode; `seed` decides what the policy draws at random within it."""
        self._call(lib.iap_policy_reset, whole(seed, 0, 2**64 - 1, "seed"))

    def act(self, /, observation=None, *, bgr=False, resize=False, **named):
        """The action, action_size float32 values, for an observation as Env gives it: a dict of pictures by name and "vector", or
        the array alone where one thing is seen. The parts may come by keyword too. Pictures need not be contiguous: a view of part
        of a larger picture is read in place where each row is. `bgr`: blue comes first. `resize`: pictures of another height and
        width are averaged over areas to the policy's; otherwise they are refused.
        """
        bgr, resize = flag(bgr, "bgr"), flag(resize, "resize")
        parts = self._parts(observation, named)
        structs = (Image * len(self.images))()  # of this call alone: a handler of signals may act in between
        keep = [self._fill(struct, spec, parts[spec.name], bgr, resize) for struct, spec in zip(structs, self.images)]
        vector = floats(parts["vector"], (self.vector_size,), "vector") if self.vector_size else None
        action = np.empty(self.action_size, np.float32)
        self._call(lib.iap_policy_act, ctypes.addressof(structs), len(structs),
                   None if vector is None else address(vector), self.vector_size, address(action), self.action_size)
        del keep
        return action

    def _parts(self, observation, named):
        if isinstance(observation, dict):
            parts = {**observation, **named}
        elif observation is None:
            parts = named
        elif len(self._names) == 1 and not named:
            parts = {self._names[0]: observation}
        else:
            raise Error(f"observation: expected a dict of {', '.join(self._names)}, got a {type(observation).__name__}")
        if parts.keys() != set(self._names):
            raise Error(f"observation: the policy sees {', '.join(self._names)}, got {', '.join(map(str, parts)) or 'nothing'}")
        return parts

    def _fill(self, struct, spec, picture, bgr, resize):
        """Points `struct` at `picture`; the array that is returned must live as long as it is used."""
        array = as_array(picture, spec.name)
        if array.ndim == 2 and spec.channels == 1:
            array = array[:, :, None]
        fits = array.dtype == spec.dtype and array.ndim == 3 and 0 not in array.shape and array.shape[2] == spec.channels
        if not fits or not (resize or array.shape == spec.shape):
            raise Error(f"{spec.name}: expected {spec.dtype} of the shape {spec.shape}, got {array.dtype} of the shape {array.shape}"
                        f"{_remedy(array, spec, self.env)}")
        row_stride = 0  # rows follow one another; numpy lets an axis of one element have any stride
        if not array.flags.c_contiguous:
            row = array[0]
            if row.flags.c_contiguous and abs(array.strides[0]) >= row.nbytes:
                row_stride = array.strides[0]
            else:
                array = allocated(spec.name, np.ascontiguousarray, array)
        struct.size = ctypes.sizeof(struct)
        struct.height, struct.width, struct.channels = array.shape
        struct.pixel = _library.FLOAT32 if spec.dtype == np.float32 else _library.UINT8
        struct.order = _library.BGR if bgr else _library.RGB
        struct.fit = _library.RESIZE if resize else _library.SAME_SIZE
        struct.row_stride = row_stride
        struct.data = address(array)
        return array

    def patches(self):
        """The patches that the last act attended to, best first, as a list of Patch; a cross's lie in the picture of its keys."""
        count = ctypes.c_size_t()
        self._call(lib.iap_policy_patches, None, 0, ctypes.byref(count))
        found = (PatchStruct * count.value)()
        self._call(lib.iap_policy_patches, found, count.value, ctypes.byref(count))
        return [Patch(patch.top, patch.left, patch.size, patch.view, patch.score) for patch in found]

    def scores(self):
        """The scores of all patches in the last act, as a list of Scores: one for each attention block, or head of one."""
        found = []
        for index in range(lib.iap_policy_view_count(self._held())):
            scores = ScoresStruct()
            owner = self._call(lib.iap_policy_scores, index, ctypes.byref(scores))
            values = allocated("scores()", np.ctypeslib.as_array(scores.values, (scores.rows, scores.columns)).copy)
            found.append(Scores(decode(scores.block), decode(scores.image), scores.patch, scores.stride, values))
            del owner
        return found
