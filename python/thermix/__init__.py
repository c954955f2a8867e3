"""thermix from Python: ctypes over libthermix, arrays of numpy.

    import thermix
    engine = thermix.Engine(chip="gtx280", grid_rows=32, grid_cols=32)

No compiler is needed. The library is found in $THERMIX_LIBRARY, beside this package, or where it is
installed; its data as the program finds them ($THERMIX_DATA, ...).
"""

from ._library import Error, version
from .engine import Engine

__all__ = ["Engine", "Error", "version"]
