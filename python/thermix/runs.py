# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulations, whole or step by step."""

import contextlib
import csv
import ctypes
import itertools
import multiprocessing.connection
import operator
import os
import signal
import warnings

import numpy as np

from ._library import Error, Handle, Owner, call, library, reals
from .config import Config, _scalar
from .policy import Catalog

# As enum tmx_thing and enum tmx_quantity of include/thermix/run.h; a test compares them.
THINGS = ("run", "gpu", "sm", "unit", "fan", "job", "metric")
QUANTITIES = {name: (i, thing) for i, (name, thing) in enumerate((
    ("time_s", "run"), ("tick_s", "run"), ("gpu_n_sm", "gpu"), ("gpu_n_unit", "gpu"), ("gpu_level", "gpu"), ("gpu_n_level", "gpu"),
    ("gpu_share", "gpu"), ("gpu_n_run", "gpu"), ("gpu_n_queue", "gpu"), ("sm_sensed_k", "sm"),
    ("sm_gated", "sm"), ("unit_temp_k", "unit"), ("unit_power_w", "unit"), ("fan_rpm", "fan"),
    ("job_arrival_s", "job"), ("job_started_s", "job"), ("job_finished_s", "job"), ("job_done", "job"),
    ("job_energy_j", "job"), ("metric_value", "metric")))}
_TEXTS = {"id": 0, "resolved": 1}


class _Handle(Handle):
    """The library's run; arrays that look into it keep it."""

    def __init__(self, config, catalog):
        self.catalog = catalog  # outlives the run
        super().__init__("tmx_run_open", "tmx_run_close", config._handle, catalog.handle if catalog else None)


class _View:
    """An array of the library for numpy, which keeps the run alive."""

    def __init__(self, handle, pointer, n):
        self.handle = handle
        self.__array_interface__ = {"version": 3, "shape": (n,), "typestr": "<f8",
                                    "data": (ctypes.cast(pointer, ctypes.c_void_p).value, True)}


class Run(Owner):
    """A simulation: `Run("workloads/runs/wl1.cfg", {"policy": "MU"})`.

    config, sets: see Config. Quantities of `QUANTITIES` are attributes: `run.gpu_level` is an array now;
    `run.unit_temp_k`, `run.unit_power_w` and `run.sm_sensed_k` are the library's own arrays, read only
    and always up to date (copy them to keep values). policies: objects of classes of thermix.policy, for this
    run alone; modules: paths of shared objects with policies.
    """

    def __init__(self, config, sets=(), policies=(), modules=()):
        if isinstance(config, Config) and sets:
            raise TypeError("sets: a Config has its own; give them to it")
        catalog = Catalog(policies, modules) if policies or modules else None
        self._handle = _Handle(config if isinstance(config, Config) else Config(config, sets), catalog)
        self.mix, = self._names("run")
        self.gpus, self.sms, self.units = self._names("gpu"), self._names("sm"), self._names("unit")
        self.fans, self.jobs, self.metric_names = self._names("fan"), self._names("job"), self._names("metric")
        self.done = False
        for name in catalog.unnamed(self.resolved) if catalog else ():
            warnings.warn(f"policy {name}: no key names it, so it decides nothing", stacklevel=2)

    def _names(self, thing):
        which = THINGS.index(thing)
        return [library().tmx_run_name(self._pointer, which, i).decode()
                for i in range(library().tmx_run_count(self._pointer, which))]

    @property
    def _pointer(self):
        handle = self._handle
        if handle is None:
            raise ValueError("the run is closed")
        return handle

    def step(self, n=1):
        """Advance n ticks, fewer when the work ends before; whether all work is done."""
        if not hasattr(n, "__index__"):
            raise TypeError(f"step: {n!r}: expected a whole number of ticks")
        if operator.index(n) < 1:
            raise ValueError(f"step: {n!r}: expected at least one tick")
        done, catalog = ctypes.c_bool(), self._pointer.catalog
        with self._pointer as handle:
            try:
                call("tmx_run_step", handle, int(n), ctypes.byref(done))
            except Error as error:
                if catalog and catalog.raised():
                    raise self._of_this(catalog.raised()) from error
                raise self._of_this(error)
        if catalog and catalog.raised():
            raise self._of_this(catalog.raised())
        self.done = done.value
        return self.done

    def _of_this(self, error):
        """The error with a note that says which run it ended, where a script has many (Python prints notes from 3.11 on)."""
        note = f"in the run of {self.mix}, id {self.id}, at {self.time_s:.6g} s"
        error.__notes__ = [n for n in getattr(error, "__notes__", []) if n != note] + [note]
        return error

    def finish(self, block=10000):
        """Run to the end, in blocks of ticks so that Ctrl-C is heard; the metrics."""
        while not self.step(block):
            pass
        return self.metrics()

    def read(self, quantity, out=None):
        """One of QUANTITIES as an array of its own, or into `out`."""
        which, thing = QUANTITIES[quantity]
        n = library().tmx_run_count(self._pointer, THINGS.index(thing))
        out = np.empty(n) if out is None else out
        if not (not np.ma.isMaskedArray(out) and out.dtype == np.float64 and out.flags.c_contiguous and out.flags.writeable and out.ndim == 1):
            raise ValueError(f"out: expected a writeable C-contiguous float64 array [{n}]")
        call("tmx_run_read", self._pointer, which, reals(out), out.size)
        return out

    def look(self, quantity):
        """The library's own array, read only; None when the quantity is not kept as one."""
        n, handle = ctypes.c_size_t(), self._pointer
        pointer = library().tmx_run_look(handle, QUANTITIES[quantity][0], ctypes.byref(n))
        return np.asarray(_View(handle, pointer, n.value)) if pointer else None

    def __getattr__(self, name):
        if name not in QUANTITIES:
            raise AttributeError(f"a run has no {name!r}; there is {', '.join(QUANTITIES)}")
        if QUANTITIES[name][1] == "run":
            return float(self.read(name)[0])
        kept = self.look(name)
        return self.read(name) if kept is None else kept

    def metrics(self):
        """What the program prints after a run, up to now: {name: value}."""
        return dict(zip(self.metric_names, self.read("metric_value").tolist()))

    def kernels(self):
        """The kernels of the mix: {"kernel": [names], "arrival_s": array, ...}."""
        return {"kernel": list(self.jobs), **{q[4:]: self.read(q) for q in QUANTITIES if q.startswith("job_")}}

    def frame(self):
        """kernels() as a pandas.DataFrame; needs pandas."""
        import pandas
        return pandas.DataFrame(self.kernels())

    @property
    def id(self):
        """Hash of the resolved configuration and of what it names."""
        return library().tmx_run_text(self._pointer, _TEXTS["id"]).decode()

    @property
    def resolved(self):
        """The configuration with every key; Run(run.resolved) is the same run."""
        return library().tmx_run_text(self._pointer, _TEXTS["resolved"]).decode()

    def write(self, folder):
        """resolved.cfg, summary.csv, kernels.csv and gpus.csv, as `thermix run -o`."""
        with self._pointer as handle:
            call("tmx_run_write", handle, os.fsencode(folder))

    def close(self):
        """Let go of the run; a step that is under way and arrays that look into it keep it."""
        self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def run(config, sets=(), policies=(), modules=()):
    """A whole run; its metrics."""
    with Run(config, sets, policies, modules) as r:
        return r.finish()


def _points(axes):
    """Every combination, the last axis fastest: [{key: value}]."""
    if not (isinstance(axes, dict) and axes):
        raise TypeError(f"axes: {axes!r}: expected {{key: values}}")
    seen, steps = [], []
    for key, values in axes.items():
        keys = key if isinstance(key, tuple) else (key,)
        seen += keys
        together = [v if isinstance(key, tuple) else (v,) for v in values]
        if isinstance(values, str) or not together or any(not isinstance(t, tuple) or len(t) != len(keys) for t in together):
            raise ValueError(f"axes: {key!r}: {values!r}: expected a list of values" + f", each a tuple of {len(keys)}" * (key == keys))
        labels = [tuple(_cell(_label(v)) for v in t) for t in together]
        twice = next((t for t in labels if labels.count(t) > 1), None)
        if twice:
            raise ValueError(f"axes: {key!r}: two values are called {', '.join(twice)}")
        steps.append([dict(zip(keys, t)) for t in together])
    if len(set(seen)) < len(seen) or "run" in seen:
        raise ValueError(f"axes: {', '.join(map(str, seen))}: expected every key once, and no run")
    return [{k: v for step in steps for k, v in step.items()} for steps in itertools.product(*steps)]


def _label(value):
    """What a table calls a value: a policy by its name."""
    if callable(value):
        made = value()
        return getattr(made, "name", None) or type(made).__name__.lower()
    if value is not None and not _scalar(value):
        raise TypeError(f"axes: {value!r}: expected a number, a text, a class of thermix.policy, or None")
    return value.item() if isinstance(value, np.generic) else value


def _cell(value):
    """As the program writes it: the shortest of 15, 16 and 17 digits that is the same number."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, float):
        return "" if value is None else str(value)
    digits = (f"{value:.{n}g}" for n in (15, 16, 17))
    return next((d for d in digits if float(d) == value), "")  # NaN: there is none


def _kept(folder, keys):
    """Rows that an earlier call left in the folder: {labels: row}."""
    kept = {}
    for path in (os.path.join(folder, name) for name in ("runs.csv", "partial.csv")):
        if os.path.exists(path):
            with open(path, newline="", encoding="utf-8") as f:
                kept.update((tuple(row.get(k) for k in keys), row) for row in csv.DictReader(f))
    return kept


def _one(pipe, config, point, label, modules, row):
    """In a process of its own, so that nothing that a policy leaves behind reaches another point. row: an earlier call's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the study ends it
    try:
        sets = {k: v for k, v in label.items() if v is not None}
        with Run(config, sets, [v() for v in point.values() if callable(v)], modules) as r:
            metrics = None
            if row and row.get("run") == r.id and not r.id.startswith("unreproducible-"):
                with contextlib.suppress(KeyError, ValueError, TypeError):  # a damaged row is computed again
                    metrics = {n: float(row[n] or "nan") for n in r.metric_names}
            pipe.send({"run": r.id, **(metrics or r.finish())})
    except BaseException as error:
        pipe.send(f"{type(error).__name__}: {error}")


def study(config, axes, folder=None, processes=None, modules=()):
    """Runs of every combination of values, your own policies among them: [{key: value, "run": id, metric: value}].

        thermix.study(base, {("policy", "dtm.policy"): [("BL", None), ("MU", None), ("BL", Slow)],
                             "mix": ["WL1", "WL2"], "seed": [1, 2, 3]}, folder="out")

    axes: {key: values}, keys as of `--set`; the last moves fastest. A tuple of keys moves together, None leaves a key as
    it is configured. A policy is its class, or a function that makes an object for each run; rows have its name.
    Metrics have their units in their names. folder: gets runs.csv, with the columns and digits of `thermix query`
    and the run's id; a point whose run of this id is in it, or in partial.csv, is not run again. processes: how many at a time (None: one per processor); they change no byte.

    Points that fail are a RuntimeError, when the others are done, which have their rows in its `rows`; they, and what is
    done at Ctrl-C, are partial.csv then, and an older runs.csv stays.
    """
    points, fork = _points(axes), multiprocessing.get_context("fork")
    most = len(os.sched_getaffinity(0)) if processes is None else operator.index(processes)
    if most < 1:
        raise ValueError(f"processes: {processes}: expected 1 or more")
    labels = [{k: _label(v) for k, v in point.items()} for point in points]
    kept = {}
    if folder is not None:
        os.makedirs(folder, exist_ok=True)
        kept = _kept(folder, list(labels[0]))
    rows, failed, running, waiting = {}, {}, {}, list(range(len(points)))
    try:
        while waiting or running:
            while waiting and len(running) < most:
                i = waiting.pop(0)
                ours, theirs = fork.Pipe(duplex=False)
                child = fork.Process(target=_one, args=(theirs, config, points[i], labels[i], modules,
                                                        kept.get(tuple(map(_cell, labels[i].values())))), daemon=True)
                child.start()
                theirs.close()
                running[ours] = i, child
            for pipe in multiprocessing.connection.wait(list(running)):
                i, child = running[pipe]
                try:
                    answer = pipe.recv()
                except EOFError:
                    child.join()
                    answer = f"its process ended with {child.exitcode}"
                (failed if isinstance(answer, str) else rows)[i] = answer
                child.join()
                del running[pipe]
    finally:
        for _, child in running.values():
            child.kill()
        done = [{**labels[i], **rows[i]} for i in sorted(rows)]
        if folder is not None and done:
            _write(folder, "partial.csv" if len(done) < len(points) else "runs.csv", done)
    if failed:
        names = [", ".join(f"{k}={_cell(v)}" for k, v in labels[i].items()) + f": {failed[i]}" for i in sorted(failed)]
        error = RuntimeError(f"{len(failed)} of {len(points)} points failed:\n" + "\n".join(names))
        error.rows = done
        raise error
    return done


def _write(folder, name, rows):
    path = os.path.join(folder, name)
    new = f"{path}.{os.getpid()}.new"  # of two studies at once each has its own
    with open(new, "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f, lineterminator="\n")
        names = dict.fromkeys(k for row in rows for k in row)
        writer.writerows([names, *([_cell(row.get(k)) for k in names] for row in rows)])
    os.replace(new, path)  # whole or not at all
