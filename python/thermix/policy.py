# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies written in Python: a class with `decide`, for the levels place, mix, dtm, tb, fan, cta, gate, route and row.

    class Halves(thermix.policy.Mix):
        "Two kernels share a GPU, half and half."
        name = "halves"
        def decide(self, view, request):
            for gpu, ask in zip(view.gpus, request.gpus):
                ask.share = 0.5

    run = thermix.Run({..., "mix_policy": {"policy": "halves"}}, policies=[Halves()])

Numbers a policy is configured by are `options = {"gain": 1.0}`: keys of the level's group in the
configuration, attributes of the object. What a policy remembers are attributes as well; it belongs to
one run. The hash of all that its code can see (`_identity.py`) is the option `code` and so part of the run's id, which
begins with `unreproducible-` where some of that has no hash. An exception in a policy ends the run and is raised by
`step`; so does an answer that would be ignored. What a policy sees and may ask for: include/thermix/policy.h,
in whose words views and requests are named.
"""

import ctypes
import functools
import inspect
import operator

import numpy as np

from . import _layout as c
from ._identity import Identity
from ._library import Handle, Owner, call, text

_CODE = 48  # hash of the code: "unreproducible-", 32 digits and the NUL


def _array(pointer, n, dtype=np.float64):
    """C memory as an array, without a copy: for this module alone."""
    return np.ctypeslib.as_array(pointer, (n,)).view(dtype) if n else np.empty(0, dtype)


class _Lease:
    """How long a policy may use what it is given: one call. Structs look it up at each use; arrays are copies, whose
    writes go back to C when the call ends."""

    __slots__ = ("turn", "live", "back")

    def __init__(self):
        self.turn, self.live, self.back = 0, False, []

    def __enter__(self):
        self.turn, self.live = self.turn + 1, True

    def __exit__(self, *_):
        self.live = False
        for theirs, ours in self.back:
            theirs[:] = ours
        self.back.clear()

    def check(self):
        if not self.live:
            raise RuntimeError("what a policy sees and its request end with the call: copy the values that you keep")

    def read(self, pointer, n, dtype=np.float64):
        array = _array(pointer, n, dtype).copy()
        array.flags.writeable = False
        return array

    def write(self, pointer, n, dtype=np.float64):
        theirs = _array(pointer, n, dtype)
        self.back.append((theirs, theirs.copy()))
        return self.back[-1][1]


class _Lent:
    """What is lent has its C struct and the arrays that were asked for in this call."""

    __slots__ = ("_raw", "_lease", "_kept", "_turn")

    def __init__(self, raw, lease):
        keep = functools.partial(object.__setattr__, self)
        keep("_raw", raw), keep("_lease", lease), keep("_kept", {}), keep("_turn", lease.turn)

    def _once(self, name, make):
        """The array of this name, made at its first use in a call."""
        self._lease.check()
        if self._turn != self._lease.turn:
            self._kept.clear()
            object.__setattr__(self, "_turn", self._lease.turn)
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def __setattr__(self, name, value):
        raise AttributeError(f"{name}: what a policy sees is read only")


class Seen(_Lent):
    """A struct of what a policy sees, with the fields of C, read only. Arrays have the length that they have."""

    __slots__ = ()
    _lengths = {"speed": "n_level", "volt": "n_level", "core": "n_core", "drained": "n_drained", "curve": "n_curve", "by_index": "n",
                "hot_order": "n", "gpu": "n_member", "compute_s": "n_member", "instance": "n_instance", "row_w": "n_row",
                "clock_hz": "n_instance"}

    def __getattr__(self, name):
        self._lease.check()
        value = getattr(self._raw, name)
        if isinstance(value, ctypes.Array):
            return self._once(name, lambda: self._lease.read(value, len(value), np.intp if value._type_ is ctypes.c_size_t
                                                             else np.float64))
        return self._once(name, lambda: self._pointed(name, value)) if isinstance(value, ctypes._Pointer) else value

    def _pointed(self, name, pointer):
        if not pointer:
            return None
        if pointer._type_ is c.View:
            return View(pointer.contents, self._lease)
        if name == "memory":  # a fan's or a row's own
            n = {c.FanView: c.N_FAN_MEMORY, c.RowView: c.N_ROW_MEMORY}.get(type(self._raw))
            return self._lease.write(pointer, n) if n else None
        n = getattr(self._raw, self._lengths[name])
        if issubclass(pointer._type_, ctypes.Structure):
            return tuple(Seen(pointer[i], self._lease) for i in range(n))
        return self._lease.read(pointer, n, np.intp if pointer._type_ is ctypes.c_size_t else np.float64)


class View(_Lent):
    """The node: tick, time_s; gpus and jobs with the fields of tmx_gpu_view and tmx_job_view;
    sensed_k [SM] and hottest_k [GPU] in kelvins; board_w, inlet_k, memory_k [GPU] as the boards measure
    them, boards with the fields of tmx_board_view; node counts (n_gpu, n_arrived, ...). Read only; valid until the
    policy returns."""

    __slots__ = ("gpus", "jobs", "boards")
    _lengths = {"sensed_k": "n_sm", "hottest_k": "n_gpu", "board_w": "n_gpu", "inlet_k": "n_gpu", "memory_k": "n_gpu"}

    def __init__(self, view, lease):
        super().__init__(view, lease)
        node, keep = view.node.contents, functools.partial(object.__setattr__, self)
        keep("gpus", tuple(Seen(node.gpus[g].contents, lease) for g in range(node.n_gpu)))
        keep("jobs", tuple(Seen(node.jobs[j].contents, lease) for j in range(node.n_job)))
        keep("boards", tuple(Seen(view.board[g], lease) for g in range(node.n_gpu)))

    def __getattr__(self, name):  # also n_gpu, n_sm, n_job, n_arrived, first_unfinished, last_home, sync_job
        self._lease.check()
        if name in ("tick", "time_s"):
            return getattr(self._raw, name)
        node = self._raw.node.contents
        if name in self._lengths:
            return self._once(name, lambda: self._lease.read(getattr(self._raw, name), getattr(node, self._lengths[name])))
        value = getattr(node, name)
        return value if not isinstance(value, ctypes._Pointer) else Seen(value.contents, self._lease) if value else None


class Asked(_Lent):
    """What is asked for a GPU: the fields of tmx_gpu_request."""

    __slots__ = ()

    def __getattr__(self, name):
        self._lease.check()
        value = getattr(self._raw, name)
        return self._once(name, lambda: self._lease.write(value, len(value))) if isinstance(value, ctypes.Array) else value

    def __setattr__(self, name, value):
        self._lease.check()
        if isinstance(getattr(self._raw, name, None), ctypes.Array):
            getattr(self, name)[:] = value
        else:
            setattr(self._raw, name, value)


class Request(_Lent):
    """What may be changed: gpus with the fields of tmx_gpu_request (admit, share, level, n_active,
    power_cap_w), and gate [SM], clocks off."""

    __slots__ = ("gpus", "_n_sm")

    def __init__(self, request, view, lease):
        super().__init__(request, lease)
        object.__setattr__(self, "gpus", tuple(Asked(request.gpu[g], lease) for g in range(view.n_gpu)))
        object.__setattr__(self, "_n_sm", view.n_sm)

    @property
    def gate(self):
        return self._once("gate", lambda: self._lease.write(ctypes.cast(self._raw.gate, ctypes.POINTER(ctypes.c_uint8)),
                                                            self._n_sm, np.bool_))

    def __setattr__(self, name, value):
        raise AttributeError(f"request.{name}: write into request.gpus[g] and request.gate[sm]")


class CtaRequest(_Lent):
    """What a CTA policy may change: state and accept [core], and the other fields of tmx_cta_request."""

    __slots__ = ("state", "accept")

    def __init__(self, raw, n_core, lease):
        super().__init__(raw, lease)
        flags = ctypes.cast(raw.accept, ctypes.POINTER(ctypes.c_uint8))
        object.__setattr__(self, "state", lease.write(raw.state, n_core, np.intc))
        object.__setattr__(self, "accept", lease.write(flags, n_core, np.bool_))

    def __getattr__(self, name):
        self._lease.check()
        return getattr(self._raw, name)

    def __setattr__(self, name, value):
        self._lease.check()
        if name in self.__slots__:
            raise AttributeError(f"request.{name}: write into its elements")
        setattr(self._raw, name, value)


_SLOTS = ("decide", "widen", "guard", "spread", "slice_s")
_OWN = {"_raised", "_views", "_lease", "_read", "_code", "_rows", "_taken", "_call", "not_hashed"}


class Policy:
    """What all levels share. unreproducible: why a run with it cannot be repeated, where the policy knows; not_hashed,
    once it has a run: what its code sees and has no hash."""

    _level = None
    unreproducible = ""
    name = None
    source = "Python"
    options = {}

    def __init__(self):
        self._raised = None
        self._views = {}
        self._lease = _Lease()
        self._read = False
        for key, value in self.options.items():
            if hasattr(self, key) or key == "code":
                raise ValueError(f"{type(self).__name__}: option {key!r} is an attribute of the class already")
            setattr(self, key, float(value))

    def _table(self):
        """The C table of this object, with all it points at."""
        name = self.name or type(self).__name__.lower()
        for slot in _SLOTS:
            function = getattr(self, slot, None)
            if any(is_kind(function) for is_kind in (inspect.isgeneratorfunction, inspect.iscoroutinefunction,
                                                     inspect.isasyncgenfunction)):
                raise TypeError(f"policy {name}: {slot} has a yield or is async: it would never run")
        seen = Identity()
        seen.add(type(self))
        seen.add({k: v for k, v in sorted(vars(self).items()) if k not in _OWN and k not in self.options})
        if self.unreproducible:
            seen.missing.append(self.unreproducible)
        self.not_hashed, self._code = seen.missing, seen.hexdigest()
        made = [c.Opt(text(key), c.OPT_REAL, 8 * i, b"1", -1e300, 1e300, float(value), b"of the policy")
                for i, (key, value) in enumerate(self.options.items())]
        made.append(c.Opt(b"code", c.OPT_TEXT, 8 * len(made), b"1", 0, _CODE, 0, b"hash of the policy's code",
                          self._code.encode()))
        rows = (c.Opt * (len(made) + 1))(*made)
        self._rows = made, rows  # kept, with the texts they name: the library has addresses of them
        doc = (inspect.getdoc(type(self)) or "a policy written in Python").split("\n")[0]
        size = 8 * len(self.options) + (_CODE + 7) // 8 * 8
        return self._fill(c.Plugin(text(name), text(doc), text(self.source), rows, size))

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
            self._views[address] = View(pointer.contents, self._lease)
        return self._views[address]

    def _slot(self, kind, function, failed=None):
        """A function for C: exceptions are kept for `step`; what C gets then is not a valid answer."""
        def slot(state, *arguments):
            try:
                if self._raised is None:
                    self._options(state)
                    with self._lease:
                        return function(*arguments)
            except BaseException as error:  # nothing may leave through C
                self._raised = error
            return failed(*arguments) if failed else None
        return kind(slot)

    def _nothing(self, function, answer):
        if answer is not None:
            raise TypeError(f"policy {self.name or type(self).__name__}: {function.__name__} returned {answer!r}, which is no "
                            "answer: it writes into what it is given")

    def _decide(self, function):
        def slot(view, request):
            seen = self._view(view)
            self._nothing(function, function(seen, Request(request.contents, seen, self._lease)))
        return self._slot(c.DECIDE, slot, _spoil)


def _spoil(view, request):
    request.contents.gpu[0].share = float("nan")
    request.contents.gpu[0].level = c.NO_JOB


def _index(value, what):
    """An index of Python's answer; ctypes would take -1 and 2**64 for others."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} = {value}: expected a number")
    value = operator.index(value)
    if not 0 <= value < c.NO_JOB:
        raise ValueError(f"{what} = {value}: expected 0 or more")
    return value


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
                    at.contents.home, at.contents.n = _index(home, "GPU"), _index(n, "number of GPUs")
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
                s = Seen(s.contents, self._lease)
                last = s.by_index.max() + 1 if s.n else 0
                self._nothing(self.spread, self.spread(s, self._lease.write(share0, last)))
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
            if wanted.shape != (n,) or wanted.dtype.kind not in "iu" or (wanted < 0).any():
                raise ValueError(f"order {wanted!r}: expected the {n} SM indices")
            _array(out, n, np.uintp)[:] = wanted
        def spoil(view, gpu, out):
            out[0] = c.NO_JOB
        return c.TbPolicy(base, self._slot(c.ORDER, order, spoil))


class Fan(Policy):
    """decide(fan): wanted speed, 0 .. 1; fan has the fields of tmx_fan_view."""

    _level = "fan"
    needs_curve = False

    def _fill(self, base):
        def slot(fan):
            speed = self.decide(Seen(fan.contents, self._lease))
            if isinstance(speed, (bool, np.bool_)) or not 0 <= speed <= 1:
                raise ValueError(f"speed {speed!r}: expected 0 to 1")
            return float(speed)
        return c.FanPolicy(base, self._slot(c.SPEED, slot, lambda f: float("nan")), needs_curve=self.needs_curve)


class Route(Policy):
    """decide(view): the instance that serves the request, or (prompt instance, token instance) where phases are split;
    view has the fields of tmx_route_view."""

    _level = "route"

    def _fill(self, base):
        def slot(view, to):
            wanted = self.decide(Seen(view.contents, self._lease))
            prompt, token = (wanted, wanted) if np.ndim(wanted) == 0 else wanted
            to.contents.prompt, to.contents.token = _index(prompt, "instance"), _index(token, "token instance")
        return c.RoutePolicy(base, self._slot(c.ROUTE, slot))


class Row(Policy):
    """decide(view, clock_hz): write the fastest clocks [Hz] of the row's instances, inf for no limit; view has the fields of
    tmx_row_view, clock_hz [instance] what was asked for last. With asks = "holds" instances are synchronous jobs, and it
    writes how long their next step waits to begin [s]; with asks = "ramps" boards, how fast their power may change [W/s]."""

    _level = "row"
    asks = "clocks"

    def _fill(self, base):
        def slot(view, clock_hz):
            seen = Seen(view.contents, self._lease)
            self._nothing(self.decide, self.decide(seen, self._lease.write(clock_hz, seen.n_instance)))
        def spoil(view, clock_hz):
            clock_hz[0] = float("nan")
        return c.RowPolicy(base, self._slot(c.ROW, slot, spoil), ("clocks", "holds", "ramps").index(self.asks))


class Cta(Policy):
    """decide(view, request): how many cores work for a kernel, at its launch (view.cycle is 0) and whenever
    the request asked to be called again; fields of tmx_cta_view and tmx_cta_request."""

    _level = "cta"
    lends = False

    def _fill(self, base):
        def slot(view, request):
            seen = Seen(view.contents, self._lease)
            self._nothing(self.decide, self.decide(seen, CtaRequest(request.contents, seen.n_core, self._lease)))
        def spoil(view, request):
            request.contents.core_clock = float("nan")
        self._call = self._slot(c.CTA, slot, spoil)
        return c.CtaPolicy(base, self._call, self._call, lends=self.lends)


class Gate(Policy):
    """No `decide`: order, wake, coordinated and adaptive choose among mechanisms (tmx_gate_policy)."""

    _level = "gate"
    order, wake, coordinated, adaptive = 0, 1, False, False

    def _table(self):
        if any(_has(self, slot) for slot in _SLOTS) or self.options:
            raise TypeError(f"policy {type(self).__name__}: a gate policy has no functions and no options")
        name = self.name or type(self).__name__.lower()
        doc = (inspect.getdoc(type(self)) or "unit gating").split("\n")[0]
        return c.GatePolicy(c.Plugin(text(name), text(doc), text(self.source)), self.order, self.wake,
                            self.coordinated, self.adaptive)


class Catalog(Owner):
    """Which policies a run may name: the built-in ones, these, and those of modules (paths)."""

    def __init__(self, policies=(), modules=()):
        self.handle = Handle("tmx_catalog_create", "tmx_catalog_destroy")
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
            call("tmx_catalog_add", self.handle, c.LEVELS.index(p._level), ctypes.byref(table.base))
        for path in modules:
            call("tmx_catalog_load", self.handle, str(path).encode())

    def unnamed(self, resolved):
        """Names of these policies that no key of the run's whole configuration has."""
        names = (p.name or type(p).__name__.lower() for p in self.policies)
        return [name for name in names if f'policy = "{name}";' not in resolved]

    def raised(self):
        """The exception that a policy ended the run with; None."""
        return next((p._raised for p in self.policies if p._raised is not None), None)
