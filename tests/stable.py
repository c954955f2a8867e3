#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What docs/stability.md promises, held against what version 1.0 wrote: stable.py THERMIX LIBRARY SOURCE [--write].

tests/stable-1.0/ has inputs (`*.cfg`, `log.csv`) and what 1.0 made of them. This version must accept the inputs with the same keys and
values (check.csv), write every column (columns.txt), answer the same from the stored databases (query/), read the stored folders of a
run and a calibration, compute the same beside a cache of 1.0, and export every function of the library (symbols.txt). What is shipped,
commands with options, choices and defaults, public headers and the Python package keep their names (names.txt).
It also holds the version in one place: include/thermix/version.h.

--write stores what this version makes. Until 1.0 is released that is how a change on purpose enters; afterwards a difference is a bug,
except for corrected numbers of shipped chips, kernels and runs, which the changelog lists."""

import csv
import ctypes
import gzip
import importlib
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

thermix, library, source = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
write = sys.argv[4:] == ["--write"]
store = source / "tests/stable-1.0"
bad = []


def wrong(text):
    bad.append(text)
    print(text)


def call(*words, check=True):
    p = subprocess.run([thermix, *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if check and p.returncode:
        wrong(f"thermix {' '.join(map(str, words))}: exit code {p.returncode}: {p.stderr.strip()}")
    return p.stdout


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


def same(a, b):
    """Equal texts, or numbers within 1e-6: processors differ in the last digits."""
    try:
        return abs(float(a) - float(b)) <= 1e-6 * max(abs(float(a)), abs(float(b))) + 1e-9
    except ValueError:
        return a == b


def keep(name, text):
    """The stored text of that name; with --write, this one is stored first."""
    path = store / name
    if write:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return path.read_text()


def compare(name, text):
    """Every stored row and cell is there; new columns may be. Ids (column run) belong to one version."""
    old, new = rows_of(keep(name, text)), rows_of(text)
    if len(old) != len(new):
        wrong(f"{name}: {len(old)} rows were stored, {len(new)} are there now")
    for i, (a, b) in enumerate(zip(old, new)):
        for column, value in a.items():
            if column == "run":
                continue
            if column not in b:
                wrong(f"{name}: no column {column}")
                return
            if not same(value, b[column]):
                wrong(f"{name}, row {i + 1}, {column}: was {value}, is {b[column]}")


def version_in_one_place():
    header = (source / "include/thermix/version.h").read_text()
    number = {k: v for k, v in re.findall(r"^#define TMX_(\w+) (\d+)", header, re.M)}
    version = ".".join(number["VERSION_" + p] for p in ("MAJOR", "MINOR", "PATCH"))
    for name, pattern, expected in (
            ("CITATION.cff", r"^version: (\S+)", version), ("CHANGELOG.md", r"^## (\d\S*)", version),
            ("python/thermix/_library.py", r"^ABI = (\d+)", number["ABI"])):
        found = re.search(pattern, (source / name).read_text(), re.M)
        if not found or found[1] != expected:
            wrong(f"{name}: {found and found[1]}, include/thermix/version.h has {expected}")
    if call("--version").strip() != f"thermix {version}":
        wrong(f"thermix --version: {call('--version').strip()}, include/thermix/version.h has {version}")
    return number["ABI"]


def inputs():
    """Keys and values of stored inputs and of the shipped runs, these on a coarse grid."""
    lines, stored = [], (store / "check.csv").read_text()
    for what in sorted(p.name for p in store.glob("*.cfg")):
        lines += call("check", what, "--format", "csv").replace(str(store), "/stable").splitlines()[1:]
    for what in sorted(p.stem for p in (source / "workloads/runs").glob("*.cfg")):
        few = ["--set", "thermal.modes=4"] if f"{what},run,thermal.modes,0" in stored else [] # whose model takes no time to make
        text = call("check", what, "--set", "rows=8", "--set", "cols=8", *few, "--format", "csv").replace("thermal.modes,4", "thermal.modes,0")
        lines += text.replace(str(source), "/source").splitlines()[1:]
    old, new = keep("check.csv", "file,kind,key,value\n" + "\n".join(lines) + "\n").splitlines()[1:], set(lines)
    for line in old:
        if line not in new:
            name, _, key, value = next(csv.reader([line]))
            now = [x for x in rows_of("file,kind,key,value\n" + "\n".join(lines)) if (x["file"], x["key"]) == (name, key)]
            wrong(f"{name}: {key} was {value}, is {now[0]['value'] if now else 'not there'}")


def tables(out):
    """Columns of every table that the commands write."""
    call("run", "run.cfg", "-q", "-o", out / "run", "--trace", "2")
    call("run", "node.cfg", "-q", "-o", out / "node", "--trace", "0.5")
    call("run", "hgx-b200-vf", "--set", "sync_job.steps=10", "--set", "warmup_s=5.0", "-q", "-o", out / "sync_job")
    call("table", "./suite.cfg", "-q", "-o", out / "suite")
    call("sweep", "study.cfg", "-o", out / "study.sqlite")
    call("calibrate", "log.csv", "-q", "--no-figures", "-o", out / "calibration")
    found = {f"{p.parent.name}/{p.name}": p.read_text().splitlines()[0] for p in sorted(out.glob("*/*.csv"))}
    printed = {"bound": ["bound", "./suite.cfg"], "budget": ["budget", "gtx280"], "place": ["place", "gtx280", "--kernel", "SVM", "--check", "0", "--set", "rows=8", "--set", "cols=8"], "explain": ["explain", out / "run"],
               "log show": ["log", "show", "log.csv"], "replay": ["replay", out / "calibration", "log.csv"],
               "sensitivity": ["sensitivity", out / "study.sqlite", "--value", "slowdown_pct"], "query": ["query", out / "study.sqlite"],
               "consolidate": ["consolidate", "1S+1B"], "gate": ["gate", "MUM"], "cta": ["cta", "BFS"]}
    for what in ("runs", "suites", "mixes", "kernels", "chips", "systems", "batches", "policies", "backends", "metrics"):
        printed["list " + what] = ["list", what, "--columns", "all"]
    for name, words in printed.items():
        found[name] = (call(*words, "--format", "csv").splitlines() or [""])[0]
    for line in keep("columns.txt", "".join(f"{k}: {v}\n" for k, v in found.items())).splitlines():
        name, columns = line.split(": ", 1)
        for column in columns.split(","):
            if column not in found.get(name, "").split(","):
                wrong(f"{name}: no column {column}")


def databases(out):
    """Stored databases give the stored tables."""
    for name, made in (("study", out / "study.sqlite"), ("suite", out / "suite/runs.sqlite")):
        if write:
            (store / "query").mkdir(exist_ok=True)
            (store / f"query/{name}.sqlite.gz").write_bytes(gzip.compress(made.read_bytes(), 9, mtime=0))
        old = out / f"old-{name}.sqlite"
        old.write_bytes(gzip.decompress((store / f"query/{name}.sqlite.gz").read_bytes()))
        compare(f"query/{name}.csv", call("query", old, "--all", "--format", "csv"))


def shipped():
    for what in ("runs", "suites", "studies", "mixes", "kernels", "chips", "systems", "batches", "policies", "backends", "metrics"):
        for row in rows_of(call("list", what, "--format", "csv")):
            yield f"{what} {row.get('level', '')} {row['name']}"


def options():
    """Of each command's help: options, the words that they accept, and defaults."""
    for command in call("complete", "").split():
        yield f"command {command}"
        if command in ("floorplan", "list", "power", "llm", "log", "validate", "cache"): # others take names of what is shipped, or files
            yield from (f"{command} {verb}" for verb in call("complete", command, "").split())
        for text in re.findall(r"^ {2,6}(-(?:.+\n)(?: {8,}.*\n)*)", call(command, "--help"), re.M):
            text = " ".join(text.split())
            head = re.match(r"(?:(-\w), )?(--?\w[\w-]*)(\[?=)?(\S*)", text)
            if not head:
                continue
            short, name, value, words = head.groups()
            yield f"{command} {name}{value or ''}"
            if short:
                yield f"{command} {short}: {name}"
            for word in words.split("|") if "|" in words else ():
                if re.fullmatch(r"[a-z0-9_.-]+", word):
                    yield f"{command} {name}={word}"
            default = re.search(r"\bdefault ([^\s;)]*[^\s;),])", text)
            if default:
                yield f"{command} {name}: default {default[1]}"


def headers():
    """Functions, types, constants and the fields of structs."""
    for path in sorted((source / "include/thermix").glob("*.h")):
        code = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        for name in re.findall(r"\b(?:tmx|TMX)_\w+", code):
            yield f"{path.name} {name}"
        for struct, body in re.findall(r"^struct (tmx_\w+) \{(.*?)^\};", code, re.S | re.M):
            for part in re.sub(r"[{}]", ";", body).split(";"):
                for field in re.findall(r"\(\*(\w+)\)", part)[:1] or re.findall(r"(\w+)(?:\[[^]]*\])*\s*(?:,|$)", part.strip()):
                    yield f"{path.name} {struct}.{field}"


def python():
    """Public names of the package, their methods and arguments."""
    sys.path.insert(0, str(source / "python"))
    os.environ["THERMIX_LIBRARY"] = str(library)
    package = importlib.import_module("thermix")
    for name in package.__all__:
        value = getattr(package, name)
        yield f"python {name}"
        members = [(name, value)] + [(f"{name}.{k}", v) for k, v in inspect.getmembers(value) if not k.startswith("_") and (inspect.isclass(value) or inspect.ismodule(value))]
        for label, member in members:
            yield f"python {label}"
            if inspect.isfunction(member) or inspect.isclass(member) and member.__module__.startswith("thermix"):
                for argument in inspect.signature(member).parameters:
                    if argument != "self":
                        yield f"python {label}({argument})"


def names():
    now = dict.fromkeys([*shipped(), *options(), *headers(), *python()])
    for line in keep("names.txt", "".join(n + "\n" for n in now)).splitlines():
        if line not in now:
            wrong(f"no longer there: {line}")


class Hash(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def xxh128(path):
    """The hash of a file in a folder's manifest.csv."""
    f = ctypes.CDLL("libxxhash.so.0").XXH3_128bits
    f.restype, f.argtypes = Hash, [ctypes.c_char_p, ctypes.c_size_t]
    data = path.read_bytes()
    h = f(data, len(data))
    return f"{h.high:016x}{h.low:016x}"


def replace(folder, old, new):
    """In the paths of resolved.cfg; the folder's list gets the new hash."""
    cfg, listed = folder / "resolved.cfg", folder / "manifest.csv"
    if cfg.exists():
        before = xxh128(cfg)
        cfg.write_text(cfg.read_text().replace(old, new))
        listed.write_text(listed.read_text().replace(before, xxh128(cfg)))


def folders(out):
    """Stored folders of a run and a calibration are read. Their paths are stored as from /stable."""
    for name in ("run", "calibration"):
        if write:
            shutil.rmtree(store / name, ignore_errors=True)
            shutil.copytree(out / name, store / name)
            replace(store / name, str(store), "/stable")
        shutil.copytree(store / name, out / "old" / name)
        replace(out / "old" / name, '"/stable/', f'"{store}/')
    call("plot", out / "old/run", "-q", "-o", out / "figures")
    call("report", out / "old/run", "-o", out / "page.html")
    compare("explain.csv", call("explain", out / "old/run", "--accept-changed", "--format", "csv"))
    compare("replay.csv", call("replay", out / "old/calibration", "log.csv", "--format", "csv"))


def cache(out):
    """A cache that 1.0 wrote changes no number: it is read, or computed again."""
    shared = os.environ["XDG_CACHE_HOME"]
    for name, folder in (("with", store / "cache"), ("without", out / "nothing")):
        os.environ["XDG_CACHE_HOME"] = str(out / f"cache-{name}")
        if folder.exists():
            shutil.copytree(folder, out / f"cache-{name}/thermix")
        call("run", "calibrated.cfg", "-q", "-o", out / name)
    os.environ["XDG_CACHE_HOME"] = shared
    if write:
        shutil.rmtree(store / "cache", ignore_errors=True)
        shutil.copytree(out / "cache-without/thermix", store / "cache", ignore=shutil.ignore_patterns("lock", "making"))
    compare("calibrated.csv", (out / "with/summary.csv").read_text())
    compare("calibrated.csv", (out / "without/summary.csv").read_text())


def symbols(abi):
    names = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    now = sorted(re.findall(r" T (tmx_\w+)", names))
    first, *old = keep("symbols.txt", f"ABI {abi}\n" + "".join(n + "\n" for n in now)).splitlines()
    if first == f"ABI {abi}":
        for name in sorted(set(old) - set(now)):
            wrong(f"libthermix: no {name}, and the ABI number is still {abi}")


with tempfile.TemporaryDirectory() as top:
    out = pathlib.Path(top)
    os.environ["THERMIX_DATA"] = str(source)
    os.environ.setdefault("XDG_CACHE_HOME", str(out / "cache"))
    os.chdir(store)
    abi = version_in_one_place()
    tables(out)
    databases(out)
    folders(out)
    cache(out)
    inputs()
    names()
    symbols(abi)
if bad:
    sys.exit(f"{len(bad)} differences from version 1.0 (docs/stability.md)")
print("version 1.0 is kept")
