# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m thermix`: the program. A wheel brings it along and makes the command `thermix` of this function."""

import os
import pathlib
import sys


def main():
    of_wheel = pathlib.Path(__file__).resolve().parent / "bin" / "thermix"
    program = of_wheel if of_wheel.exists() else "thermix"
    try:
        os.execvp(program, ["thermix", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{program}: {error.strerror}")


if __name__ == "__main__":
    main()
