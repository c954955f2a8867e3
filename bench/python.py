# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the engine from Python in blocks, beside the loop in C (bench/engine).

    THERMIX_LIBRARY=build/release/lib/libthermix.so PYTHONPATH=python bench/python.py build/release/bench/engine
"""

import subprocess
import sys
import time

import numpy as np

import thermix

STEPS, BLOCK, ROUNDS = 100000, 1000, 5

if len(sys.argv) != 2:
    sys.exit(__doc__)
printed = subprocess.run([sys.argv[1], str(STEPS)], check=True, capture_output=True, text=True).stdout
c_us = float(printed.split("us_per_step")[1])

engine = thermix.Engine(chip="gtx280", grid_rows=64, grid_cols=64)
n = len(engine.units)
power_w = (np.arange(BLOCK * n) * 7919 % 97 / 20).reshape(BLOCK, n)
temp_k = np.empty_like(power_w)
best_s = float("inf")
for _ in range(ROUNDS):  # the least time counts: the machine may be busy
    begin_s = time.process_time()
    for _ in range(STEPS // BLOCK):
        engine.step(1e-3, power_w, temp_k)
    best_s = min(best_s, time.process_time() - begin_s)
python_us = 1e6 * best_s / STEPS
print(f"{STEPS} steps: C {c_us:.3f} us, Python in blocks of {BLOCK} {python_us:.3f} us")
print(f"ratio python_over_c {python_us / c_us:.3f}")
