#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A wheel from an installed tree: wheel.py INSTALLED FOLDER. Prints the path of the wheel that it wrote into FOLDER.

Inside `thermix/` the wheel has the modules, `bin/thermix`, `lib/libthermix.so.N` and `share/thermix`, where program and library look
for their data, and `share/doc/thermix`, which `thermix --help` names; `lib/` also has every shared library that these need beyond the C library, so that an empty Debian 12 with Python runs
it. An entry point makes the command `thermix`. No index and no build tool of Python's is asked: a wheel is a zip with three files of
metadata. patchelf sets the run path of program and library. Same files, same bytes: dates are SOURCE_DATE_EPOCH's."""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

SYSTEM = re.compile(r"(linux-vdso|ld-linux.*|libc|libm|libdl|libpthread|librt)\.so")  # of the C library: not carried
METADATA = """Metadata-Version: 2.1
Name: thermix
Version: {version}
Summary: thermal-aware multi-GPU scheduling simulator
License: GPL-3.0-or-later
Requires-Python: >=3.9
Requires-Dist: numpy
Description-Content-Type: text/markdown

"""
WHEEL = """Wheel-Version: 1.0
Generator: thermix wheel.py
Root-Is-Purelib: false
Tag: py3-none-linux_x86_64
"""


def needed(path):
    """Shared libraries of a program or library, by the names they are asked for."""
    lines = subprocess.run(["ldd", path], check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", lines, re.M))
    missing = re.findall(r"^\s*(\S+) => not found", lines, re.M)
    if missing:
        sys.exit(f"{path}: {', '.join(missing)} not found")
    return {name: real for name, real in found.items() if not SYSTEM.match(name)}


def gather(installed, top):
    """Copies what belongs into the wheel to `top`/thermix."""
    package = top / "thermix"
    modules, = installed.glob("lib/python3/dist-packages/thermix")
    shutil.copytree(modules, package, ignore=shutil.ignore_patterns("__pycache__"))
    for share in ("thermix", "doc/thermix"):
        shutil.copytree(installed / "share" / share, package / "share" / share)
    (package / "bin").mkdir()
    (package / "lib").mkdir()
    library, = (p for p in installed.glob("lib/**/libthermix.so.*") if re.fullmatch(r"libthermix\.so\.\d+", p.name))
    own = [package / "bin/thermix", package / "lib" / library.name]
    for source, target in zip((installed / "bin/thermix", library), own):
        shutil.copy(source.resolve(), target)
        for name, real in needed(source).items():
            shutil.copy(real, package / "lib" / name)
    # DT_RPATH, unlike DT_RUNPATH, also holds for what the libraries of this folder need themselves
    for path in own:
        subprocess.run(["patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib", path], check=True)


def version_of(installed):
    header = (installed / "include/thermix/version.h").read_text()
    return ".".join(re.search(rf"^#define TMX_VERSION_{p} (\d+)", header, re.M)[1] for p in ("MAJOR", "MINOR", "PATCH"))


def main():
    installed, folder = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    version = version_of(installed)
    date = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))[:6]
    path = folder / f"thermix-{version}-py3-none-linux_x86_64.whl"
    info = f"thermix-{version}.dist-info"
    with tempfile.TemporaryDirectory() as top:
        top = pathlib.Path(top)
        gather(installed, top)
        (top / info).mkdir()
        (top / info / "METADATA").write_text(METADATA.format(version=version) + (installed / "share/doc/thermix/README.md").read_text())
        (top / info / "WHEEL").write_text(WHEEL)
        (top / info / "entry_points.txt").write_text("[console_scripts]\nthermix = thermix.__main__:main\n")
        shutil.copy(installed / "share/doc/thermix/copyright", top / info / "LICENSE")
        record = []
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
            def put(name, data, mode):
                entry = zipfile.ZipInfo(name, date)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (0o100000 | mode) << 16
                wheel.writestr(entry, data)
            for file in sorted(p for p in top.rglob("*") if p.is_file()):
                data, name = file.read_bytes(), file.relative_to(top).as_posix()
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                record.append(f"{name},sha256={digest},{len(data)}\n")
                put(name, data, 0o755 if name == "thermix/bin/thermix" else 0o644)
            put(f"{info}/RECORD", "".join(record) + f"{info}/RECORD,,\n", 0o644)
    print(path)


main()
