"""What environments and batches of them have in common."""

import ctypes
import json

import numpy as np

from ._handle import Handle, allocated, decode, view
from ._library import EnvSpecStruct, Error, Image
from .policy import image_spec, part_names
from .spaces import action_space, observation_space


def whether_copies(copy):
    """`copy` as a bool. Anything else is meant for an option of that name, which the argument would swallow."""
    if not isinstance(copy, (bool, np.bool_)):
        raise Error(f"copy: expected True or False, got {copy!r}; an option 'copy' of the environment goes into a dict: "
                    '{"name": ..., "copy": ...}')
    return bool(copy)


class World(Handle):
    """Describes and shows; `_count` is None for a single environment."""

    _count = None

    def _describe(self, describe, image, observe):
        spec = EnvSpecStruct()
        owner = self._call(describe, ctypes.byref(spec))
        self.name = decode(spec.name)
        self.config = json.loads(spec.config)
        self.control_dt = spec.control_dt
        self.max_steps = spec.max_steps
        self.vector_size = spec.vector_size
        self.state_names = [decode(spec.state_names[i]) for i in range(spec.vector_size)] if spec.state_names else []
        self.images = [image_spec(self._call, image, i) for i in range(spec.image_count)]
        part_names(self.images, self.vector_size)
        self._action_size = spec.action_size
        self._observe = observe
        self._structs = (Image * spec.image_count)(*(Image() for _ in self.images))
        self._vector = ctypes.c_void_p()
        self._lead = () if self._count is None else (self._count,)
        self._views = {}
        del owner
        return spec

    def _spaces(self, spec, count=None):
        return action_space(spec, count), observation_space(self.images, self.vector_size, count)

    def _observation(self, copy):
        structs, vector = self._structs, self._vector
        views = self._views  # this one: close() takes another
        owner = self._call(self._observe, ctypes.addressof(structs) if structs else None, len(structs), ctypes.addressof(vector))

        def part(name, pointer, shape, dtype):
            """An array over the memory at `pointer`; the last one is kept, because memory mostly stays in place."""
            known = views.get(name)
            if known is None or known[0] != pointer:
                known = views[name] = pointer, view(owner, pointer, (*self._lead, *shape), dtype)
            return allocated(name, known[1].copy) if copy else known[1]

        seen = {}
        for image, struct in zip(self.images, structs):
            seen[image.name] = part(image.name, struct.data, image.shape, image.dtype)
        if self.vector_size:
            seen["vector"] = part("vector", vector.value, (self.vector_size,), "float32")
        return next(iter(seen.values())) if len(seen) == 1 else seen

    def close(self):
        super().close()
        self._views = {}
