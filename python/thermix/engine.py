# SPDX-License-Identifier: GPL-3.0-or-later
"""Temperatures from powers, without a scheduler."""

import ctypes
import warnings

import numpy as np

from ._library import Handle, Owner, call, library, reals, text


class Engine(Owner):
    """One chip in its package: `Engine(chip="gtx280", grid_rows=32, grid_cols=32)`.

    Options are those of tmx_engine_open (include/thermix/engine.h): HotSpot's by their names, `c` for a
    .config file, `chip` for a shipped chip, `method`, `tolerance_k`, ... Bad ones raise thermix.Error.
    Powers are in watts, temperatures in kelvins, both in the order of `units`.
    """

    def __init__(self, **options):
        words = [text(f"{name}={_word(value)}") for name, value in options.items()]
        self._handle = Handle("tmx_engine_open", "tmx_engine_close", (ctypes.c_char_p * (len(words) + 1))(*words, None))
        lib = library()
        self.units = [lib.tmx_engine_unit(self._handle, u).decode()
                      for u in range(lib.tmx_engine_units(self._handle))]

    def step(self, dt_s, power_w, out=None):
        """Advance by dt_s under constant powers; the temperatures at the end.

        power_w of shape [units] is one step; [n, units] is n steps of dt_s, a row each, in one call.
        `out` of the same shape takes the temperatures; arrays of contiguous float64 are not copied.
        """
        power_w, out = self._arrays(power_w, out)
        n = power_w.size // len(self.units)
        with self._open as handle:
            call("tmx_engine_step_many", handle, dt_s, n, reals(power_w), reals(out))
        return _lived(out)

    def steady(self, power_w, settle=False, out=None):
        """Equilibrium temperatures under power_w [units]; `settle` moves the chip there."""
        power_w, out = self._arrays(power_w, out)
        if power_w.ndim != 1:
            raise ValueError("a steady state is of one set of powers [units]")
        with self._open as handle:
            call("tmx_engine_steady", handle, reals(power_w), settle, reals(out))
        return _lived(out)

    def temperatures(self, out=None):
        """Now, in kelvins."""
        with self._open as handle:
            out = np.empty(len(self.units)) if out is None else _output(out, (len(self.units),))
            library().tmx_engine_read(handle, reals(out))
        return out

    def close(self):
        """Let go of the engine; a step that is under way ends first."""
        self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def _open(self):
        handle = self._handle
        if handle is None:
            raise ValueError("the engine is closed")
        return handle

    def _arrays(self, power_w, out):
        if self._open and np.ma.isMaskedArray(power_w):
            raise TypeError("powers: a masked array; fill it first")
        if np.iscomplexobj(power_w):
            raise TypeError("powers: complex numbers")
        names = getattr(power_w, "columns", getattr(power_w, "index", ()))  # of pandas; a list's index is a method
        names = () if callable(names) else [n for n in names if isinstance(n, str)]
        if names and names != self.units:
            raise ValueError(f"powers of {', '.join(names)}: expected those of `units`, in their order")
        power_w = np.ascontiguousarray(power_w, dtype=np.float64)
        if power_w.ndim not in (1, 2) or power_w.shape[-1] != len(self.units):
            raise ValueError(f"powers of shape {power_w.shape}: expected [{len(self.units)}] or "
                             f"[n, {len(self.units)}]")
        out = np.empty_like(power_w) if out is None else _output(out, power_w.shape)
        if out.ctypes.data != power_w.ctypes.data and np.may_share_memory(out, power_w):
            raise ValueError("out: shares a part of its memory with the powers; expected all or nothing of it")
        return power_w, out


def _word(value):
    if isinstance(value, bool):
        return int(value)
    return repr(float(value)) if isinstance(value, (float, np.floating)) else value


def _lived(temp_k):
    """The temperatures, with the doubt that `thermix thermal` has, too."""
    if temp_k.size and temp_k.max() > 773.15:
        warnings.warn(f"{temp_k.max() - 273.15:.6g} degC, above 500 degC: no chip lives there; are powers in W?", stacklevel=3)
    return temp_k


def _output(out, shape):
    if not (isinstance(out, np.ndarray) and not np.ma.isMaskedArray(out) and out.dtype == np.float64 and out.flags.c_contiguous
            and out.flags.writeable and out.shape == shape):
        raise ValueError(f"out: expected a writeable C-contiguous float64 array of shape {shape}")
    return out
