"""Objects of the C library, and the texts and arrays that go there."""

import ctypes
import json
import math
import os
import re

import numpy as np

from ._library import Error, lib


_MASKED = "has masked entries; say what they are with .filled(value)"


class Owner:
    """Frees an object of the library when nothing refers to it any more, arrays over its memory included."""

    def __init__(self, kind, pointer):
        # What ctypes passes on for an owner; its calls hold their arguments, and so the object, until they return.
        self._as_parameter_ = pointer
        self.process = os.getpid()
        self._free = getattr(lib, f"iap_{kind}_free")

    def __del__(self):
        # A forked child has a copy of the memory, but not of the threads.
        if os.getpid() == self.process:
            self._free(self._as_parameter_)


class Handle:
    """Base of what owns an object of the library; `_kind` is its name there."""

    _kind = ""
    _owner = None

    def _make(self, function, *arguments):
        pointer, message = ctypes.c_void_p(), ctypes.create_string_buffer(1024)
        if function(*arguments, ctypes.byref(pointer), message, len(message)):
            raise Error(_of_argument(message.value.decode(errors="replace")))
        self._owner = Owner(self._kind, pointer)
        self._error = getattr(lib, f"iap_{self._kind}_error")

    def _held(self):
        """The owner, for calls of the library. Who reads the object's memory keeps it meanwhile: close() may come in between."""
        owner = self._owner
        if owner is None:
            raise Error(f"this {type(self).__name__} is closed")
        if owner.process != os.getpid():
            raise Error(f"this {type(self).__name__} was made in another process; make it after the fork")
        return owner

    def _call(self, function, *arguments):
        """Calls `function` on the object. -> the owner, for who goes on to read the object's memory"""
        owner = self._held()
        if function(owner, *arguments):
            message = self._error(owner).decode(errors="replace")
            del owner  # which the error's traceback would keep
            raise Error(self._in_python(message))
        return owner

    def _in_python(self, message):
        """A message of the library's about a call, in the names of this package: iap_env_reset is reset()."""
        return re.sub(r"\biap_(?:env|batch|policy|rollouts)_(?!load_trusted)([a-z_]+)", _method, message)

    def close(self):
        """Lets go of the library's object, once the calls end that are under way. Whatever is called afterwards is an error, but for
        close itself.
        """
        self._owner = None

    def __reduce_ex__(self, protocol):
        # Copies and pickles of Python objects would share, and free twice, what the library has only once.
        raise Error(f"a {type(self).__name__} cannot be copied or pickled; make another one from the same description or file")

    def __enter__(self):
        self._held()  # is an error where it is closed
        return self

    def __exit__(self, *_):
        self.close()


def _method(function):
    """What the function of the C interface that a pattern found is called here."""
    return "render()" if function[1] == "draw" else f"{function[1]}()"


def _of_argument(message):
    """What a function that makes an object says of one of its arguments, under that argument's name here."""
    said = re.match(r"iap_[a-z_]+: '(\w+)'(?:: (?=\1\b)|( is null)?)", message)
    if not said:
        return message
    name, null = said.groups()
    rest = message[said.end():]
    if said[0].endswith(": "):  # it begins with the name anyway
        return rest
    return ("env" if name == "text" else name) + (" is None" if null else "") + rest


def _reason(error):
    if isinstance(error, RecursionError):
        return "tables and lists inside one another, too many or in themselves"
    return str(error) or type(error).__name__


def encode(text, what):
    """`text` as the library takes it, in UTF-8; surrogates stand for bytes that are none."""
    return _coded(lambda: text.encode("utf-8", "surrogateescape"), what)


def encode_path(path, what):
    """A path as the library takes it: the bytes that the system names the file by, whatever its encoding is."""
    return _coded(lambda: os.fsencode(path), what)


def _coded(code, what):
    try:
        coded = code()
    except Exception as error:
        raise Error(f"{what}: {_reason(error)}") from error
    if b"\0" in coded:
        raise Error(f"{what}: holds a character NUL")
    return coded


def decode(name):
    """A name as the library gives it, whatever its bytes are: what `encode` takes back."""
    return name.decode("utf-8", "surrogateescape")


def _plain(value):
    if isinstance(value, np.floating):
        return float(value)  # of a long double, item() gives the same again
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return decode(os.fsencode(value))
    raise TypeError(f"a {type(value).__name__} is no option")


def _has_masked(value):
    """Whether numpy would hand out, or give for None, what lies under a mask."""
    return isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value)


def _shown(text):
    """`text` for a message: what no UTF-8 can hold as the library shows it."""
    return text.encode(errors="replace").decode()


def _trouble(value, place=""):
    """What is wrong with a value that JSON cannot hold, somewhere in a table; or None."""
    if _has_masked(value):
        return f"option '{place}' {_MASKED}"
    if isinstance(value, np.ndarray):
        value = value.tolist()  # of one without dimensions what it holds
    if isinstance(value, os.PathLike):
        value = decode(os.fsencode(value))
    if isinstance(value, (float, np.floating)):
        return None if math.isfinite(value) else f"option '{place}' is {float(value)}; give finite numbers"
    if isinstance(value, str):
        # Python keeps bytes of files' names that are no UTF-8 as surrogates.
        return None if _shown(value) == value else (f"option '{place}' is '{_shown(value)}', bytes that are no UTF-8, which no policy "
                                                    "file can hold; give what is named another name")
    if isinstance(value, (int, np.integer)) and not -2**63 <= value < 2**63:
        return f"option '{place}' is {value}; integers go from {-2**63} to {2**63 - 1}"
    items = value.items() if isinstance(value, dict) else enumerate(value, 1) if isinstance(value, (list, tuple)) else ()
    for key, item in items:
        if isinstance(value, dict) and not isinstance(key, str):
            return f"{f'option {place!r} has ' if place else ''}the key {key!r}, a {type(key).__name__}; options are named by texts"
        inside = f"{place}.{key}" if place else str(key)
        if _shown(inside) != inside:
            return f"the name of option '{_shown(inside)}' has bytes that are no UTF-8; give it another one"
        trouble = _trouble(item, inside)
        if trouble:
            return trouble
    return None


def table_text(table, what):
    """A dict or list as JSON."""
    try:
        trouble = _trouble(table)
        text = None if trouble else json.dumps(table, default=_plain)
    except Exception as error:
        raise Error(f"{what}: {_reason(error)}") from error
    if trouble:
        raise Error(f"{what}: {trouble}")
    return text


def path_text(path, what):
    """A path as a text for the library: never one that describes something, whatever the file is called."""
    return os.path.join(os.curdir, decode(encode_path(path, what)))


def is_table(text):
    """Whether the library reads `text` as a table: the name of a file that is there is none."""
    return text.lstrip("\ufeff \t\r\n").startswith(("{", "[", "--")) and not os.path.exists(text)


def env_text(env, options):
    """The text for the library of an environment that is named, described by a dict or by a text, with options beside it."""
    if "name" in options:
        raise Error(f"env: option 'name' is {options['name']!r}, but env says which environment it is; give the name there")
    if isinstance(env, dict):
        return encode(table_text({**env, **options}, "env"), "env")
    if not isinstance(env, (str, os.PathLike)):
        raise Error(f"env: expected a name, a text or a dict, got a {type(env).__name__}")
    text = env if isinstance(env, str) else path_text(env, "env")
    if options:
        if is_table(text):
            raise Error("env: options beside a text that is a table; write them into it, or give a dict")
        text = table_text({"name": text, **options}, "env")
    return encode(text, "env")


def as_array(values, what):
    """`values` as numpy takes them, whatever they raise when they are asked for an array."""
    try:
        masked = _has_masked(values)
        array = None if masked else np.asarray(values)
    except Exception as error:
        raise Error(f"{what}: {_reason(error)}") from error
    if masked:
        raise Error(f"{what}: {_MASKED}")
    return array


def allocated(what, make, *arguments):
    """What `make` gives; where there is no memory for it, an iap.Error."""
    try:
        return make(*arguments)
    except MemoryError as error:
        raise Error(f"{what}: {_reason(error)}") from error


def floats(values, shape, what):
    """`values` as contiguous, aligned float32 of this shape; other real numbers are converted."""
    array = as_array(values, what)
    if array.dtype.kind not in "fiu":
        raise Error(f"{what}: has the dtype {array.dtype}; give real numbers")
    if array.shape != shape:
        raise Error(f"{what}: has the shape {array.shape}, expected {shape}")
    if array.dtype != np.float32:
        # What is too large becomes infinite, which the library refuses with the value's place.
        with np.errstate(all="ignore"):
            array = allocated(what, array.astype, np.float32)
    return allocated(what, np.require, array, None, ["C", "A"])


def whole(value, low, high, what):
    """`value` as an int in [low, high]."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise Error(f"{what}: expected an integer from {low} to {high}, got {value!r}")
    return int(value)


def flag(value, what):
    """`value` as a bool; not what else Python takes for true, such as "no"."""
    if not isinstance(value, (bool, np.bool_)):
        raise Error(f"{what}: expected True or False, got {' '.join(repr(value).split())}")
    return bool(value)


def address(array):
    return array.__array_interface__["data"][0]


def view(owner, pointer, shape, dtype):
    """A read-only array over the library's memory, which stays while the array does."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    if size == 0:
        return np.zeros(shape, dtype)
    buffer = (ctypes.c_char * size).from_address(pointer)
    buffer.owner = owner
    # Of memory that may be written numpy lets anybody take the flag back.
    return np.frombuffer(memoryview(buffer).toreadonly(), dtype).reshape(shape)
