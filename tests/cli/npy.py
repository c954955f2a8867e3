# SPDX-License-Identifier: GPL-3.0-or-later
# Power traces that NumPy writes are read to the last bit, and NumPy reads the temperatures that come out.
#     npy.py THERMIX ROOT
import os
import subprocess
import sys
import tempfile

import numpy as np
from numpy.lib import recfunctions

thermix, root = sys.argv[1], sys.argv[2]
chip = os.path.join(root, "tests/golden/A_gt200/chip.flp")
blocks = [line.split()[0] for line in open(chip) if line.strip() and not line.startswith("#")]
watts = np.random.default_rng(7).uniform(0, 5, (40, len(blocks))).astype(np.float32).astype(np.float64)
fields = recfunctions.unstructured_to_structured(watts, names=blocks)
failures = []


def run(power, out, *more):
    return subprocess.run([thermix, "thermal", "-f", chip, "-p", power, "-o", out, "-grid_rows", "8", "-grid_cols", "8",
                           "-sampling_intvl", "1e-3", "--method", "grid", "--quiet", *more], capture_output=True, text=True)


def say(what):
    failures.append(what)


def expect(condition, what):
    if not condition:
        say(what)


def temperatures(power):
    done = run(power, "t.npy")
    if done.returncode:
        say(f"{power}: {done.stderr}")
        return np.zeros(0)
    return np.load("t.npy")


def saved(name, array, version=None):
    with open(name, "wb") as f:
        np.lib.format.write_array(f, array, version=version)


os.chdir(tempfile.mkdtemp())
with open("p.ptrace", "w") as f:
    f.write("\t".join(blocks) + "\n" + "".join("\t".join(map(repr, row.tolist())) + "\n" for row in watts))
truth = temperatures("p.ptrace")
expect(truth.dtype.names == tuple(blocks), f"names: {truth.dtype.names}")
expect(truth.shape == (len(watts),), f"rows: {truth.shape}")
expect(all(truth.dtype[b] == np.dtype("<f8") for b in blocks), f"types: {truth.dtype}")

np.save("fields.npy", fields)
np.save("single.npy", recfunctions.unstructured_to_structured(watts.astype(np.float32), names=blocks))
np.save("plain.npy", watts)
np.save("plain32.npy", watts.astype(np.float32))
saved("second.npy", fields, (2, 0))
saved("third.npy", fields, (3, 0))
turned = np.argsort(blocks)  # columns in an order of their own
np.save("turned.npy", recfunctions.unstructured_to_structured(watts[:, turned], names=[blocks[i] for i in turned]))
mixed = np.zeros(len(watts), [(b, "<f4" if i % 3 else "<f8") for i, b in enumerate(blocks)])
for i, b in enumerate(blocks):
    mixed[b] = watts[:, i]
np.save("mixed.npy", mixed)
for name in "plain", "plain32":
    with open(f"{name}.names", "w") as f:
        f.write("\n".join(blocks) + "\n")
for name in "fields", "single", "plain", "plain32", "second", "third", "mixed":
    expect(temperatures(f"{name}.npy").tobytes() == truth.tobytes(), f"{name}.npy: other temperatures than from text")
other = temperatures("turned.npy")
expect(all(np.array_equal(other[b], truth[b]) for b in blocks), "turned.npy: other temperatures than from text")

expect(run("fields.npy", "t.ttrace", "--precision", "6").returncode == 0, "text out")
text = np.loadtxt("t.ttrace", skiprows=1)
expect(np.abs(text - recfunctions.structured_to_unstructured(truth)).max() <= 5.1e-7, "text and .npy out differ")


def refused(name, array, words):
    np.save(name, array)
    done = run(name, "no.npy")
    expect(done.returncode == 2 and name in done.stderr and words in done.stderr, f"{name}: {done.returncode} {done.stderr}")
    expect(not os.path.exists("no.npy"), f"{name}: an output all the same")


refused("big.npy", fields.astype([(b, ">f8") for b in blocks]), "little-endian")
refused("whole.npy", fields.astype([(b, "<i8") for b in blocks]), "little-endian")
refused("columns.npy", np.asfortranarray(watts), "")
refused("short.npy", recfunctions.repack_fields(fields[blocks[1:]]), "has no column")
refused("deep.npy", watts.reshape(4, 10, -1), "")
refused("nan.npy", np.where(np.arange(watts.size).reshape(watts.shape) == 100, np.nan, watts), "")
with open("fields.npy", "rb") as f:
    whole = f.read()
with open("cut.npy", "wb") as f:
    f.write(whole[:-8])
expect(run("cut.npy", "no.npy").returncode == 2, "a file that ends early")

for line in failures:
    print(line)
sys.exit(bool(failures))
