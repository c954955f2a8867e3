# SPDX-License-Identifier: GPL-3.0-or-later
"""What a policy's code can see, as one hash: two policies with one hash answer alike.

The walk begins at the policy's class and its attributes and follows what compiled code names: bases, methods, defaults,
closures, globals, helpers, attributes of the user's modules, and the values of all of them. Modules of Python and of
installed packages count by name and version. What has no value that could be hashed (a file, a socket, the clock, a
generator without a seed) is listed in `missing`: a run with it cannot be repeated, and its id says so.
"""

import builtins
import dis
import functools
import hashlib
import importlib
import pathlib
import sys
import sysconfig
import types

import numpy as np

_SCALARS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice)
_NOT_OF_A_CLASS = {"__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__firstlineno__", "__annotations__",
                   "__annotate__", "__annotate_func__", "__annotations_cache__", "__static_attributes__", "_abc_impl"}
# Where answers come from outside of the program; the names after it make something that does not.
_OUTSIDE = {"random": ("Random",), "numpy.random": ("default_rng", "Generator", "RandomState"), "time": (), "datetime": (), "os": (),
            "sys": ("maxsize", "float_info"), "io": (), "socket": (), "secrets": (), "uuid": (), "threading": (), "multiprocessing": (),
            "subprocess": (), "urllib": (), "tempfile": (), "pathlib": (), "glob": (), "shutil": (), "sqlite3": (), "asyncio": ()}
_OUTSIDE_BUILTINS = {"open", "input", "eval", "exec", "__import__", "globals", "locals", "vars", "id", "hash", "compile"}


def _of_library(name):
    """Is a module Python's own or an installed package? Its version stands for it then."""
    root = (name or "builtins").split(".")[0]
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if root == "__main__" or module is None and root not in sys.stdlib_module_names:
        return False
    return root in sys.stdlib_module_names or root == "thermix" or file is None or _file_of_library(file)


def _file_of_library(file):
    return (bool({"site-packages", "dist-packages"} & set(pathlib.Path(file).parts))
            or file.startswith((sysconfig.get_path("stdlib") + "/", "<frozen ")))


class Identity:
    def __init__(self):
        self._hash = hashlib.blake2b(digest_size=16)
        self._seen, self._kept = {}, []
        self.missing = []

    def hexdigest(self):
        return ("unreproducible-" if self.missing else "") + self._hash.hexdigest()

    def _put(self, *words):
        for word in words:
            word = word if isinstance(word, bytes) else str(word).encode()
            self._hash.update(b"%d:" % len(word) + word)

    def _miss(self, what):
        self.missing.append(what)
        self._put("missing", what)

    def add(self, x, attributes=frozenset()):
        kind = type(x)
        if kind in _SCALARS:
            self._put(kind.__name__, repr(x))
        elif kind is tuple:
            self._put("tuple", len(x))
            for item in x:
                self.add(item)
        elif kind in (set, frozenset):
            self._add_set(x)
        elif id(x) in self._seen:
            self._put("again", self._seen[id(x)])
        else:
            self._seen[id(x)] = len(self._seen)
            self._kept.append(x)
            self._add_new(x, kind, attributes)

    def _add_set(self, x):
        """In any order."""
        digests = []
        for item in x:
            one = Identity()
            one.add(item)
            digests.append(one.hexdigest())
            self.missing += one.missing
        self._put("set", *sorted(digests))

    def _add_new(self, x, kind, attributes):
        if kind is list:
            self._put("list", len(x))
            for item in x:
                self.add(item)
        elif kind in (dict, types.MappingProxyType):
            self._put("dict", len(x))
            for key, value in x.items():
                self.add(key)
                self.add(value)
        elif isinstance(x, types.ModuleType):
            self._add_module(x, attributes)
        elif isinstance(x, type):
            self._add_class(x)
        elif isinstance(x, types.FunctionType):
            self._add_function(x)
        elif isinstance(x, types.CodeType):
            self._add_code(x)
        elif isinstance(x, types.MethodType):
            self._put("method")
            self.add(x.__func__)
            self.add(x.__self__)
        elif isinstance(x, (staticmethod, classmethod)):
            self._put(kind.__name__)
            self.add(x.__func__)
        elif isinstance(x, property):
            self._put("property")
            self.add((x.fget, x.fset, x.fdel))
        elif isinstance(x, functools.partial):
            self._put("partial")
            self.add((x.func, x.args, x.keywords))
        elif isinstance(x, (types.BuiltinFunctionType, np.ufunc)):
            self._add_builtin(x)
        elif isinstance(x, (types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType,
                            types.MethodDescriptorType)):
            self._put("descriptor", x.__name__)
        elif isinstance(x, (np.ndarray, np.generic)) and x.dtype != object and not np.ma.isMaskedArray(x):
            self._put("array", x.dtype.str, x.shape, x.tobytes())
        else:
            self._add_object(x, kind)

    def _named(self, module, name, attributes=frozenset()):
        """Of a library: by name and version, if its answers do not come from outside."""
        root = module.split(".")[0]
        outside = next((m for m in (module, root) if m in _OUTSIDE), None)
        if outside and not set(_OUTSIDE[outside]) & (attributes | {name}):
            self._miss(f"{module}.{name}" if name else module)
        self._put("library", module, name, getattr(sys.modules.get(root), "__version__", ""))

    def _add_module(self, x, attributes):
        if _of_library(x.__name__):
            self._named(x.__name__, "", attributes)
            if x.__name__ == "numpy" and "random" in attributes:
                self._named("numpy.random", "", attributes)
            return
        self._put("module")
        for name in sorted(attributes & set(vars(x))):
            self._put(name)
            self.add(vars(x)[name], attributes)

    def _add_class(self, x):
        if _of_library(x.__module__):
            self._named(x.__module__, x.__qualname__, {x.__name__} if x.__module__ != "datetime" else {"timedelta"})
            return
        self._put("class", len(x.__bases__))
        for base in (type(x), *x.__bases__):
            self.add(base)
        for name in sorted(set(vars(x)) - _NOT_OF_A_CLASS):
            self._put(name)
            self.add(vars(x)[name])

    def _add_function(self, x):
        if _of_library(x.__module__):
            self._named(x.__module__, x.__qualname__)
        elif _file_of_library(x.__code__.co_filename):  # a decorator's, around what its closure has
            self._put("library", x.__code__.co_filename.rsplit("/", 1)[-1], x.__code__.co_name)
        else:
            self._put("function")
            self.add(x.__code__)
            self._add_names(x.__code__, x.__globals__)
        self.add((x.__defaults__, x.__kwdefaults__, vars(x)))
        for cell in x.__closure__ or ():
            try:
                self.add(cell.cell_contents)
            except ValueError:
                self._put("empty cell")

    def _add_code(self, code):
        self._put("code", code.co_code, getattr(code, "co_exceptiontable", b""), code.co_flags, code.co_argcount,
                  code.co_posonlyargcount, code.co_kwonlyargcount, *code.co_names, "", *code.co_varnames, "",
                  *code.co_freevars, "", *code.co_cellvars)
        for constant in code.co_consts:
            self.add(constant)

    def _add_names(self, code, of):
        """Globals that the code reads, and those of the functions in it."""
        codes = [code]
        for one in codes:
            codes += [c for c in one.co_consts if isinstance(c, types.CodeType)]
        steps = [i for one in codes for i in dis.get_instructions(one)]
        attributes = {i.argval for i in steps if i.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM", "LOAD_SUPER_ATTR")}
        for name in dict.fromkeys(i.argval for i in steps if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")):
            self._put("global", name)
            if name in of:
                self.add(of[name], attributes)
            elif name in _OUTSIDE_BUILTINS or not hasattr(builtins, name):
                self._miss(name)
        for name in dict.fromkeys(i.argval for i in steps if i.opname == "IMPORT_NAME"):
            try:
                self.add(importlib.import_module(name), attributes)
            except Exception:  # it will be raised where the code runs
                self._miss(f"import {name}")

    def _add_builtin(self, x):
        owner = getattr(x, "__self__", None)
        if owner is None or isinstance(owner, types.ModuleType):
            self._named(getattr(x, "__module__", None) or "builtins", getattr(x, "__qualname__", x.__name__))
        else:
            self._put("builtin method", x.__name__)
            self.add(owner)

    def _add_object(self, x, kind):
        """As pickle takes it apart."""
        try:
            parts = x.__reduce_ex__(4)
        except Exception:
            self._miss(f"{kind.__module__}.{kind.__qualname__}")
            return
        self._put("object")
        if isinstance(parts, str):  # a global of that name
            self._put(parts)
            self.add(getattr(x, "__wrapped__", None))
            return
        for part in parts:
            self.add(list(part) if hasattr(type(part), "__next__") else part)  # items of a list or dict
