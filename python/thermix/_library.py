# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds libthermix, loads it with ctypes and says what its functions take."""

import ctypes
import os
import pathlib
import re
import threading

from ctypes import POINTER, c_bool, c_char, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint64, c_void_p

ABI = 1  # of the headers this package was written for


class Err(ctypes.Structure):
    _fields_ = [("code", c_int), ("line", c_uint), ("file", c_char * 512), ("msg", c_char * 1024)]


class _Version(ctypes.Structure):
    _fields_ = [("major", c_int), ("minor", c_int), ("patch", c_int), ("abi", c_int), ("text", c_char_p)]


class Error(Exception):
    """What went wrong, as the program says it: `file:line: what is wrong, what was expected`.

    status: name of the status ("ECONFIG", ...); file, line: where in the input, "" and 0 when nowhere.
    """

    names = ("OK", "ENOMEM", "EIO", "EPARSE", "ECONFIG", "ERANGE", "ESOLVE", "ERUNAWAY", "EUNFINISHED",
             "ESTOPPED", "EUNSUPPORTED", "EFULL", "EPROGRAM")

    def __init__(self, err):
        text = ctypes.create_string_buffer(2048)
        library().tmx_err_format(ctypes.byref(err), text, len(text))
        super().__init__(text.value.decode(errors="replace"))
        self.status = self.names[err.code] if err.code < len(self.names) else str(err.code)
        self.file, self.line = err.file.decode(errors="replace"), err.line


def _candidates():
    """Paths and names to try, best first: said so, beside this package, installed."""
    name = f"libthermix.so.{ABI}"
    said = os.environ.get("THERMIX_LIBRARY")
    if said:
        yield said  # and no other: a wrong one shall not be passed over in silence
        return
    here = pathlib.Path(__file__).resolve().parent
    yield here / name
    yield here / "lib" / name  # of a wheel
    for above in here.parents:  # <prefix>/lib/python3/dist-packages/thermix and the like
        if above.name in ("lib", "lib64"):
            yield above / name
            yield from sorted(above.glob(f"*/{name}"))  # lib/x86_64-linux-gnu
    yield name  # where the system's loader looks


_loaded = None


def _load():
    tried = []
    for path in _candidates():
        if isinstance(path, pathlib.Path) and not path.exists():
            continue
        try:
            return ctypes.CDLL(str(path))
        except OSError as error:
            tried.append(str(error))
    raise ImportError("libthermix not found; set THERMIX_LIBRARY to its path (" + "; ".join(tried) + ")")


# name: (result, arguments). A result None is void; "status" becomes an exception when it is not 0.
_reals = POINTER(c_double)
_functions = {
    "tmx_version": (_Version, []),
    "tmx_err_format": (None, [POINTER(Err), c_char_p, c_size_t]),
    "tmx_config_open": ("status", [POINTER(c_void_p), c_char_p]),
    "tmx_config_parse": ("status", [POINTER(c_void_p), c_char_p, c_char_p]),
    "tmx_config_set": ("status", [c_void_p, c_char_p]),
    "tmx_config_close": (None, [c_void_p]),
    "tmx_engine_open": ("status", [POINTER(c_void_p), POINTER(c_char_p)]),
    "tmx_engine_units": (c_size_t, [c_void_p]),
    "tmx_engine_unit": (c_char_p, [c_void_p, c_size_t]),
    "tmx_engine_step_many": ("status", [c_void_p, c_double, c_size_t, _reals, _reals]),
    "tmx_engine_read": (None, [c_void_p, _reals]),
    "tmx_engine_steady": ("status", [c_void_p, _reals, c_bool, _reals]),
    "tmx_engine_close": (None, [c_void_p]),
    "tmx_catalog_create": ("status", [POINTER(c_void_p)]),
    "tmx_catalog_add": ("status", [c_void_p, c_int, c_void_p]),
    "tmx_catalog_load": ("status", [c_void_p, c_char_p]),
    "tmx_catalog_destroy": (None, [c_void_p]),
    "tmx_run_open": ("status", [POINTER(c_void_p), c_void_p, c_void_p]),
    "tmx_run_step": ("status", [c_void_p, c_uint64, POINTER(c_bool)]),
    "tmx_run_count": (c_size_t, [c_void_p, c_int]),
    "tmx_run_name": (c_char_p, [c_void_p, c_int, c_size_t]),
    "tmx_run_read": ("status", [c_void_p, c_int, _reals, c_size_t]),
    "tmx_run_look": (_reals, [c_void_p, c_int, POINTER(c_size_t)]),
    "tmx_run_text": (c_char_p, [c_void_p, c_int]),
    "tmx_run_write": ("status", [c_void_p, c_char_p]),
    "tmx_run_close": (None, [c_void_p]),
}


def library():
    """The loaded library; found at the first call."""
    global _loaded
    if _loaded is None:
        lib = _load()
        for name, (result, arguments) in _functions.items():
            function = getattr(lib, name)
            function.argtypes = arguments + ([POINTER(Err)] if result == "status" else [])
            function.restype = c_int if result == "status" else result
        found = lib.tmx_version()
        if found.abi != ABI:
            raise ImportError(f"libthermix has ABI {found.abi}, this package needs {ABI}")
        _loaded = lib
    return _loaded


def call(name, *arguments):
    """A function that can fail; raises Error."""
    for a in arguments:
        if isinstance(a, bytes) and b"\0" in a:
            raise ValueError(f"{a!r}: a text with a NUL byte")
        if isinstance(a, int) and abs(a) >= 1 << 63:  # ctypes would cut it to 64 bits
            raise OverflowError(f"{name[len('tmx_'):]}: {a}: expected less than 2^63")
    err, function = Err(), getattr(library(), name)
    try:
        status = function(*arguments, ctypes.byref(err))
    except ctypes.ArgumentError as wrong:
        at = re.match(r"argument (\d+)", str(wrong))
        given = arguments[int(at[1]) - 1] if at and int(at[1]) <= len(arguments) else arguments
        kind = "a number" if at and function.argtypes[int(at[1]) - 1] in (ctypes.c_double, ctypes.c_size_t) else "another type"
        raise TypeError(f"{name[len('tmx_'):]}: {given!r}: expected {kind}") from None
    if status:
        raise Error(err)


def text(words):
    """A str as a C string; one with a NUL would be cut there."""
    if "\0" in words:
        raise ValueError(f"{words!r}: a text with a NUL byte")
    return words.encode()


class Handle:
    """An object of the library, which is closed when nothing uses it any more: neither its owner nor a call that
    is under way, in whatever thread. Calls take the handle itself, and so keep it."""

    def __init__(self, opened, closed, *arguments):
        self._as_parameter_ = c_void_p()
        self._closed, self._turn = closed, threading.Lock()
        call(opened, ctypes.byref(self._as_parameter_), *arguments)

    def __enter__(self):
        """One call at a time: a second one, of another thread or of a policy, would change what the first works on."""
        if not self._turn.acquire(blocking=False):
            raise RuntimeError("in use: a step is under way, in another thread or around this policy")
        return self

    def __exit__(self, *_):
        self._turn.release()

    def __del__(self):
        if getattr(self, "_as_parameter_", None):
            getattr(library(), self._closed)(self._as_parameter_)


class Owner:
    """What has a handle is one thing of the library."""

    def __reduce_ex__(self, protocol):
        raise TypeError(f"{type(self).__name__}: cannot be copied or pickled; open another one")


def version():
    """Of the library, "major.minor.patch"."""
    return library().tmx_version().text.decode()


def reals(array):
    """The memory of a C-contiguous array of doubles, as an argument; None is NULL."""
    return None if array is None else array.ctypes.data_as(_reals)
