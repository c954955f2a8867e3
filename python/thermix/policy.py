# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies written in Python: a class with `decide`, for the levels place, mix, dtm, tb, fan, cta and gate.

    class Halves(thermix.policy.Mix):
        "Two kernels share a GPU, half and half."
        name = "halves"
        def decide(self, view, request):
            for gpu, ask in zip(view.gpus, request.gpus):
                ask.share = 0.5

    run = thermix.Run({..., "mix_policy": {"policy": "halves"}}, policies=[Halves()])

Numbers a policy is configured by are `options = {"gain": 1.0}`: keys of the level's group in the
configuration, attributes of the object. What a policy remembers are attributes as well; it belongs to
one run. The hash of its source is the option `code` and so part of the run's id. An exception in a
policy ends the run and is raised by `step`. What a policy sees and may ask for: include/thermix/policy.h,
in whose words views and requests are named.
"""

import ctypes
import hashlib
import inspect
import operator

import numpy as np

from . import _layout as c
from ._library import call, library

_CODE = 33  # hash of the source: 32 digits and the NUL


def _array(pointer, n, dtype=np.float64):
    """C memory as an array, without a copy; only for as long as the call into the policy lasts."""
    return np.ctypeslib.as_array(pointer, (n,)).view(dtype) if n else np.empty(0, dtype)


class View:
    """The node: tick, time_s; gpus and jobs with the fields of tmx_gpu_view and tmx_job_view;
    sensed_k [SM] and hottest_k [GPU] in kelvins; board_w, inlet_k, memory_k [GPU] as the boards measure
    them, boards with the fields of tmx_board_view; node counts (n_gpu, n_arrived, ...)."""

    def __init__(self, view):
        self._view, node = view, view.node.contents
        self.gpus = [node.gpus[g].contents for g in range(node.n_gpu)]
        self.jobs = [node.jobs[j].contents for j in range(node.n_job)]
        self.sensed_k = _array(view.sensed_k, node.n_sm)
        self.hottest_k = _array(view.hottest_k, node.n_gpu)
        self.board_w, self.inlet_k, self.memory_k = (_array(a, node.n_gpu)
                                                     for a in (view.board_w, view.inlet_k, view.memory_k))
        self.boards = [view.board[g] for g in range(node.n_gpu)]

    tick = property(lambda self: self._view.tick)
    time_s = property(lambda self: self._view.time_s)

    def __getattr__(self, name):  # n_gpu, n_sm, n_job, n_arrived, first_unfinished, last_home
        return getattr(self._view.node.contents, name)


class Request:
    """What may be changed: gpus with the fields of tmx_gpu_request (admit, share, level, n_active,
    power_cap_w), and gate [SM], clocks off."""

    def __init__(self, request, view):
        self.gpus = [request.gpu[g] for g in range(view.n_gpu)]
        self.gate = _array(ctypes.cast(request.gate, ctypes.POINTER(ctypes.c_uint8)), view.n_sm, np.bool_)


class Policy:
    """What all levels share."""

    _level = None
    name = None
    source = "Python"
    options = {}

    def __init__(self):
        self._raised = None
        self._views = {}
        self._read = False
        for key, value in self.options.items():
            if hasattr(self, key) or key == "code":
                raise ValueError(f"{type(self).__name__}: option {key!r} is an attribute of the class already")
            setattr(self, key, float(value))

    def _table(self):
        """The C table of this object, with all it points at."""
        name = self.name or type(self).__name__.lower()
        try:
            code = inspect.getsource(type(self))
        except (OSError, TypeError):  # typed at a prompt
            code = "".join(f.__code__.co_code.hex() for _, f in inspect.getmembers(type(self), inspect.isfunction))
        self._code = hashlib.blake2b(code.encode(), digest_size=16).hexdigest()
        made = [c.Opt(key.encode(), c.OPT_REAL, 8 * i, b"1", -1e300, 1e300, float(value), b"of the policy")
                for i, (key, value) in enumerate(self.options.items())]
        made.append(c.Opt(b"code", c.OPT_TEXT, 8 * len(made), b"1", 0, _CODE, 0, b"hash of the policy's source",
                          self._code.encode()))
        rows = (c.Opt * (len(made) + 1))(*made)
        self._rows = made, rows  # kept, with the texts they name: the library has addresses of them
        doc = (inspect.getdoc(type(self)) or "a policy written in Python").split("\n")[0]
        size = 8 * len(self.options) + (_CODE + 7) // 8 * 8
        return self._fill(c.Plugin(name.encode(), doc.encode(), self.source.encode(), rows, size))

    def _options(self, state):
        """The first call brings what the configuration says."""
        if self._read:
            return
        values = ctypes.cast(state, ctypes.POINTER(ctypes.c_double))
        for i, key in enumerate(self.options):
            setattr(self, key, values[i])
        code = ctypes.string_at(state + 8 * len(self.options)).decode()
        if code != self._code:
            raise ValueError(f"policy {self.name}: the configuration was made with other code ({code}, "
                             f"here {self._code})")
        self._read = True

    def _view(self, pointer):
        address = ctypes.addressof(pointer.contents)
        if address not in self._views:
            self._views[address] = View(pointer.contents)
        return self._views[address]

    def _slot(self, kind, function, failed=None):
        """A function for C: exceptions are kept for `step`; what C gets then is not a valid answer."""
        def slot(state, *arguments):
            try:
                if self._raised is None:
                    self._options(state)
                    return function(*arguments)
            except BaseException as error:  # nothing may leave through C
                self._raised = error
            return failed(*arguments) if failed else None
        return kind(slot)

    def _decide(self, function):
        def slot(view, request):
            seen = self._view(view)
            function(seen, Request(request.contents, seen))
        return self._slot(c.DECIDE, slot, _spoil)


def _spoil(view, request):
    request.contents.gpu[0].share = float("nan")
    request.contents.gpu[0].level = c.NO_JOB


def _has(policy, name):
    return getattr(policy, name, None) is not None


class Place(Policy):
    """decide(view, job): the GPU the arrived job goes to, or (first, how many), or None: it waits.
    widen(view, job), optional: the GPUs a running job may have from now on, as (first, how many); None: as it is."""

    _level = "place"

    def _fill(self, base):
        def slot(function):
            def answer(view, job, at):
                wanted = function(self._view(view), job)
                if wanted is not None:
                    home, n = (wanted, 1) if np.ndim(wanted) == 0 else wanted
                    at.contents.home, at.contents.n = operator.index(home), operator.index(n)
            def spoil(view, job, at):
                at.contents.home, at.contents.n = c.NO_JOB, 1
            return self._slot(c.PLACE, answer, spoil)
        table = c.PlacePolicy(base, slot(self.decide))
        if _has(self, "widen"):
            table.widen = slot(self.widen)
        return table


class Mix(Policy):
    """decide(view, request): which kernels share a GPU, how much each, at which clock.
    spread(s, share0), optional: s has the fields of tmx_spread, share0 [s.n] is written.
    slice_s(), optional. turns, measured_gain_pct: as in tmx_mix_policy."""

    _level = "mix"
    turns = False
    measured_gain_pct = 0.0

    def _fill(self, base):
        table = c.MixPolicy(base, self._decide(self.decide), turns=self.turns,
                            measured_gain_pct=self.measured_gain_pct)
        if _has(self, "spread"):
            def spread(s, share0):  # share0 is by the SM's index in its GPU
                s = s.contents
                last = max(s.by_index[i] for i in range(s.n)) + 1 if s.n else 0
                self.spread(s, _array(share0, last))
            def spoil(s, share0):
                share0[s.contents.by_index[0]] = float("nan")
            table.spread = self._slot(c.SPREAD, spread, spoil)
        if _has(self, "slice_s"):
            table.slice_s = self._slot(c.REAL, self.slice_s, lambda: float("nan"))
        return table


class Dtm(Policy):
    """decide(view, request): raise request.gpus[g].level, every scheduling tick.
    guard(view, request), optional: clocks off in request.gate, at every sensor sample."""

    _level = "dtm"

    def _fill(self, base):
        table = c.DtmPolicy(base, govern=self._decide(self.decide))
        if _has(self, "guard"):
            table.guard = self._decide(self.guard)
        return table


class Tb(Policy):
    """decide(view, gpu): the GPU's SM indices, the first to take blocks first."""

    _level = "tb"

    def _fill(self, base):
        def order(view, gpu, out):
            n = self._view(view).gpus[gpu].n_sm
            wanted = np.asarray(self.decide(self._view(view), gpu))
            if wanted.shape != (n,):
                raise ValueError(f"order of shape {wanted.shape}: expected [{n}]")
            _array(out, n, np.uintp)[:] = wanted
        def spoil(view, gpu, out):
            out[0] = c.NO_JOB
        return c.TbPolicy(base, self._slot(c.ORDER, order, spoil))


class Fan(Policy):
    """decide(fan): wanted speed, 0 .. 1; fan has the fields of tmx_fan_view."""

    _level = "fan"
    needs_curve = False

    def _fill(self, base):
        return c.FanPolicy(base, self._slot(c.SPEED, lambda f: float(self.decide(f.contents)),
                                            lambda f: float("nan")), needs_curve=self.needs_curve)


class Cta(Policy):
    """decide(view, request): how many cores work for a kernel, at its launch (view.cycle is 0) and whenever
    the request asked to be called again; fields of tmx_cta_view and tmx_cta_request."""

    _level = "cta"
    lends = False

    def _fill(self, base):
        def slot(view, request):
            self.decide(view.contents, request.contents)
        def spoil(view, request):
            request.contents.core_clock = float("nan")
        self._call = self._slot(c.CTA, slot, spoil)
        return c.CtaPolicy(base, self._call, self._call, lends=self.lends)


class Gate(Policy):
    """No `decide`: order, wake, coordinated and adaptive choose among mechanisms (tmx_gate_policy)."""

    _level = "gate"
    order, wake, coordinated, adaptive = 0, 1, False, False

    def _table(self):
        name = self.name or type(self).__name__.lower()
        doc = (inspect.getdoc(type(self)) or "unit gating").split("\n")[0]
        return c.GatePolicy(c.Plugin(name.encode(), doc.encode(), self.source.encode()), self.order, self.wake,
                            self.coordinated, self.adaptive)


class Catalog:
    """Which policies a run may name: the built-in ones, these, and those of modules (paths)."""

    def __init__(self, policies=(), modules=()):
        self.pointer = ctypes.c_void_p()
        call("tmx_catalog_create", ctypes.byref(self.pointer))
        self._kept = []
        self.policies = list(policies)
        for p in self.policies:
            if not isinstance(p, Policy) or p._level is None:
                raise TypeError(f"{p!r}: expected an object of a class of thermix.policy")
            if getattr(p, "_taken", False):
                raise ValueError(f"{type(p).__name__}: an object belongs to one run; make a new one")
            table = p._table()
            p._taken = True
            self._kept.append(table)  # its functions are called as long as the run lives
            call("tmx_catalog_add", self.pointer, c.LEVELS.index(p._level), ctypes.byref(table.base))
        for path in modules:
            call("tmx_catalog_load", self.pointer, str(path).encode())

    def raised(self):
        """The exception that a policy ended the run with; None."""
        return next((p._raised for p in self.policies if p._raised is not None), None)

    def __del__(self):
        if getattr(self, "pointer", None):
            library().tmx_catalog_destroy(self.pointer)
