# SPDX-License-Identifier: GPL-3.0-or-later
"""Logs of GPUs that nobody here has seen, made from known packages as their tools write them: a card under nvidia-smi, a node of eight
under dcgmi dmon, four AMD GPUs under amd-smi. Each is shown, calibrated, replayed and run as a node, without a word about what it is; the
printed 95 % intervals hold the truth in 90 % or more.    unseen_logs.py THERMIX ROOT"""
import csv
import datetime
import math
import os
import random
import re
import subprocess
import sys
import tempfile

THERMIX, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
FINE = 10  # steps a second
ENV = {**os.environ, "THERMIX_DATA": ROOT}
rng = random.Random(5)


def thermix(*words):
    done = subprocess.run([THERMIX, *words], capture_output=True, text=True, env=ENV)
    if done.returncode:
        sys.exit(f"FAILED: thermix {' '.join(words)}: {done.stderr}")
    return done.stdout + done.stderr


def simulate(gpus, load, seconds, rpm, ambient):
    """Power and temperature at FINE steps a second; a GPU with "up" breathes that one's air, which stands before it in the list."""
    out, x = [([], []) for _ in gpus], [None] * len(gpus)
    heat = [0.0] * len(gpus)
    for i in range(seconds * FINE):
        for k, g in enumerate(gpus):
            p = load(i / FINE, g["name"])
            slow = g.get("ref", 1) / rpm(i / FINE) if rpm else 1
            r = g["r"] * slow**0.8
            fade = math.exp(-1 / (FINE * r * g["c"]))
            x[k] = r * p + ((r * p if x[k] is None else x[k]) - r * p) * fade
            heat[k] = x[k] / r
            air = ambient + g["off"] + (g["pre"] * heat[g["up"]] if "up" in g else 0)
            out[k][0].append(p)
            out[k][1].append(air + g["rj"] * p + x[k])
    return out


def steps(t, times, watts):
    return watts[sum(t >= edge for edge in times)]


def read(temp):
    return round(temp + rng.gauss(0, 0.2))


def card(path):
    truth = [{"name": "0", "rj": 0.045, "r": 0.062, "c": 620, "off": 0, "ref": 65}]
    load = lambda t, _: steps(t, (120.3, 270.2, 420.7), (22, 430, 250, 22)) * (1 + 0.01 * math.sin(1.3 * t))
    rpm = lambda t: 30 + 35 * min(max((t - 150) / 60, 0), max(min((470 - t) / 30, 1), 0))
    ((p, temp),) = simulate(truth, load, 600, rpm, 23)
    begin = datetime.datetime(2025, 3, 4, 9, 58, 30, 117000)
    with open(path, "w", encoding="ascii") as f:
        f.write("timestamp, name, index, pci.bus_id, pstate, temperature.gpu, temperature.memory, fan.speed [%], power.draw.average [W], "
                "power.draw.instant [W], power.limit [W], clocks.current.sm [MHz], utilization.gpu [%], memory.used [MiB]\n")
        for s in range(1, 600):
            k = s * FINE
            mean = sum((p[i] + p[i - 1]) / 2 for i in range(k - FINE + 1, k + 1)) / FINE
            stamp = (begin + datetime.timedelta(seconds=s)).strftime("%Y/%m/%d %H:%M:%S.%f")[:-3]
            f.write(f"{stamp}, NVIDIA GeForce RTX 4090, 0, 00000000:01:00.0, P2, {read(temp[k])}, N/A, {round(rpm(s))} %, {mean:.2f} W, "
                    f"{p[k]:.2f} W, 450.00 W, 2730 MHz, 99 %, 20140 MiB\n")
    return truth, 23, ["--column", "fan_rpm=fan.speed [%]"], "nvidia-smi --query-gpu", 'power.draw.instant'


def node(path):
    order, up = [0, 3, 4, 7, 1, 2, 5, 6], {1: 0, 2: 3, 5: 4, 6: 7}
    truth = [{"name": str(g), "rj": 0.022 * (1 + rng.gauss(0, 0.04)), "r": 0.03 * (1 + rng.gauss(0, 0.04)), "c": 700, "pre": 0.012,
              "off": rng.gauss(0, 0.3) if g else 0, **({"up": order.index(up[g])} if g in up else {})} for g in order]
    load = lambda t, g: steps(t - 0.01 * int(g), (90.4, 270.3, 420.6), (75 + int(g), 640 + 5 * int(g), 380, 75 + int(g))) * (
        1 + 0.008 * math.sin(0.9 * t + int(g)))
    made = simulate(truth, load, 520, None, 21)
    with open(path, "w", encoding="ascii") as f:
        for s in range(1, 520):
            if s % 20 == 1:
                f.write("#Entity        POWER        TMPTR        MMTMP        SMCLK        GPUTL\n"
                        "ID             W            C            C            MHz\n")
            for g in range(8):
                p, temp = made[order.index(g)]
                t = read(temp[s * FINE])
                f.write(f"GPU {g}    {p[s * FINE] + rng.gauss(0, 1):12.3f} {t:12d} {t + 6:12d} {1980:12d} {100:12d}\n")
    return truth, 21, [], "dcgmi dmon", "POWER"


def four(path):
    truth = [{"name": str(g), "rj": 0.028 * (1 + rng.gauss(0, 0.05)), "r": 0.035 * (1 + rng.gauss(0, 0.05)), "c": 900,
              "off": (0, 2, -1, 1)[g]} for g in range(4)]
    load = lambda t, g: steps(t, (100.2, 250.4, 400.5), (145, 720, 430, 145)) * (1 + 0.01 * math.sin(0.5 * t + int(g)))
    made = simulate(truth, load, 500, None, 26)
    with open(path, "w", encoding="ascii") as f:
        f.write("timestamp,gpu,xcp,power_usage,max_power,hotspot_temperature,memory_temperature,gfx_clk,gfx,mem,mem_clock,vram_used\n")
        for s in range(1, 500):
            for g, (p, temp) in enumerate(made):
                t = read(temp[s * FINE])
                f.write(f"{1741077600 + s},{g},0,{round(p[s * FINE] + rng.gauss(0, 1))},750,{t},{t - 8},2100,100,40,1300,180000\n")
    return truth, 26, [], "amd-smi --csv", "power_usage"


FIELDS = {"junction_k_per_w": "rj", "sink_k_per_w": "r", "sink_j_per_k": "c", "offset_k": "off", "preheat_k_per_w": "pre"}


def judge(name, truth, ambient):
    inside, told = 0, 0
    gpus = {g["name"]: g for g in truth}
    for row in csv.DictReader(open(f"{name}/fit.csv", encoding="ascii")):
        if row["status"] != "fitted":
            continue
        field = FIELDS.get(row["parameter"])
        one = gpus.get(row["gpu"], truth[0])
        true = ambient if row["parameter"] == "ambient_c" else one[field] if field else None
        ok = true is not None and float(row["low_95"]) <= true <= float(row["high_95"])
        if not ok:
            print(f"{name}: {row['parameter']} of {row['gpu']}: {true} not in {row['low_95']} to {row['high_95']}")
        inside, told = inside + ok, told + 1
    return inside, told


def run_node(name, truth, watts):
    """The fitted node in a run: settled, each GPU stands where its package says, above the node's air and its own offset."""
    inlet_c = float(re.search(r"^inlet_c = ([0-9.]+);", open(f"{name}/node.cfg", encoding="ascii").read(), re.M).group(1))
    with open("job.cfg", "w", encoding="ascii") as f:
        f.write(f'name = "job"; launch = {{ thread_blocks = 64; }}; power = {{ sm_power_w = {watts}.0; block_lifetime_s = 0.5; }};\n')
    with open("work.cfg", "w", encoding="ascii") as f:
        f.write('name = "work"; kernels = ( ' + ", ".join(['{ kernel = "./job.cfg"; work_s = 400.0; }'] * len(truth)) + " );\n")
    with open("run.cfg", "w", encoding="ascii") as f:
        f.write(f'topology = "./{name}/node.cfg"; mix = "./work.cfg"; policy = "BL"; seed = 1; tick_s = 0.1; quantum_s = 0.1; '
                "sensor = { period_s = 0.1; };\n")
    thermix("run", "run.cfg", "-o", "out", "--trace", "50", "-q")
    last = {row["gpu"]: row for row in csv.DictReader(open("out/trace.csv", encoding="ascii"))}
    for g in truth:
        row = last[g["name"]]
        slow = g["ref"] / float(row["fan_rpm"]) if "ref" in g else 1
        is_c, got = inlet_c + g["off"] + watts * (g["rj"] + g["r"] * slow**0.8 + (g["pre"] if "up" in g else 0)), float(row["hottest_c"])
        if abs(got - is_c) > 1:
            sys.exit(f"FAILED: {name} in a run: GPU {g['name']} at {got} degC, its package says {is_c:.2f}")


def main():
    inside, told = 0, 0
    for make, name, watts in ((card, "card.csv", 300), (node, "node.txt", 500), (four, "four.csv", 500)):
        truth, ambient, columns, format_name, source = make(name)
        shown = thermix("log", "show", name)
        if f"format: {format_name}" not in shown or f'power_w from "{source}' not in shown:
            sys.exit(f"FAILED: {name} is read as: {shown[:300]}")
        fit = name.split(".", maxsplit=1)[0]
        said = thermix("calibrate", name, "-o", fit, "--no-figures", "--no-check", *columns)
        if name == "node.txt" and ("0>1,3>2,4>5,7>6" not in said or "no time stamps" not in said):
            sys.exit(f"FAILED: rows or times of {name}: {said[-400:]}")
        for row in csv.DictReader(thermix("replay", fit, name, "--format", "csv", "-q", *columns).splitlines()):
            if row.get("rmse_k") and float(row["rmse_k"]) > 0.5:
                sys.exit(f"FAILED: {name}: GPU {row['gpu']} is {row['rmse_k']} K rms off its own log")
        ok, n = judge(fit, truth, ambient)
        inside, told = inside + ok, told + n
        run_node(fit, truth, watts)
    print(f"{inside} of {told} intervals hold the truth")
    if told < 40 or inside < 0.9 * told:
        sys.exit("FAILED: intervals")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    ENV["XDG_CACHE_HOME"] = folder
    main()
