# SPDX-License-Identifier: GPL-3.0-or-later
"""thermix from Python: ctypes over libthermix, arrays of numpy.

    import thermix
    engine = thermix.Engine(chip="gtx280", grid_rows=32, grid_cols=32)   # temperatures from powers
    run = thermix.Run({"chip": "gtx280", "mix": "WL1", "policy": "MU", "seed": 1})
    while not run.step(100):
        print(run.time_s, run.unit_temp_k.max())

No compiler is needed. The library is found in $THERMIX_LIBRARY, beside this package, or where it is
installed; its data as the program finds them ($THERMIX_DATA, ...).
"""

from ._library import Error, version
from . import policy
from .config import Config, to_text
from .engine import Engine
from .environment import Environment
from .runs import QUANTITIES, Run, run, study

__all__ = ["Config", "Engine", "Environment", "Error", "QUANTITIES", "Run", "policy", "run", "study", "to_text", "version"]
