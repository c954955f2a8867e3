#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""conserve.py THERMIX SOURCE [--runs N] [--seed S]: random valid runs that must lose and invent nothing.

Of each: blocks retired are blocks submitted, every kernel starts after it arrives and ends; the energy is the integral of the
power trace and the sum of its parts; no more work is done than fits into the busy time, unless kernels share a memory
(`cta`), which is then free for the one that needs it; no unit is below the inlet air, no power below zero; `thermix thermal` on the power
trace gives the run's temperatures again (the heat goes where the network says); a second run in another folder has the same
bytes; the resolved configuration repeats the run. Every tenth seed also: a study over the run gives the same at -j 1 and 3.
(That each thermal back-end's heat flows balance to 1e-9 is tests/contract/test_thermal.c.)"""
import argparse
import csv
import filecmp
import os
import random
import shutil
import subprocess
import sys
import tempfile

KERNELS = ['Cmem', 'SVM', 'Bs', 'Bino', 'Conv', 'Mmul', 'Madd', 'Dotp', 'Sepia']
ONE = ['BL', 'DVFS', 'A', 'MU', 'MNU', 'MA']
MANY = ['MG-BL', 'MG-DVFS', 'MG-A', 'MG-MNU']
SHARING = ['MU', 'MNU', 'MA'] # two kernels beside one another on a GPU
TICK_S = 0.01


class Wrong(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Wrong(what)


def close(a, b, rel, what):
    need(abs(a - b) <= rel * max(abs(a), abs(b), 1e-12), f'{what}: {a!r} and {b!r}')


def configure(rng, kernels, one, many):
    """A run's configuration and mix; (text, mix, number of kernels)."""
    n, gpus = rng.randint(1, 5), rng.choice([1, 1, 1, 2, 3])
    rows = []
    for _ in range(n):
        rows.append(f'{{ kernel = "{rng.choice(kernels)}"; work_s = {rng.choice([0.2, 0.35, 0.5, 0.8])}; '
                    f'arrival_s = {rng.choice([0, 0, 0.05, 0.13, 0.4, 1.0])}; priority = {rng.randint(-1, 2)}; }}')
    mix = 'name = "m";\nkernels = (\n' + ',\n'.join(rows) + '\n);\n'
    text = (f'chip = "gtx280"; mix = "./mix.cfg"; seed = {rng.randint(0, 10**6)}; tick_s = {TICK_S}; quantum_s = 0.05;\n'
            f'policy = "{rng.choice(many if gpus > 1 else one)}"; gpus = {gpus}; rows = 16; cols = 16;\n'
            f'leakage = {rng.choice(["true", "true", "false"])}; warmup_s = {rng.choice([0, 0, 0.5])};\n'
            f'sensor = {{ period_s = {rng.choice([0.01, 0.05])}; noise_k = {rng.choice([0.0, 0.0, 0.5])}; }};\n'
            f'throttle = {{ trip_c = {rng.choice([60, 75, 90])}.0; release_c = 55.0; }};\n'
            f'package = {{ r_convec = {rng.choice([0.15, 0.25, 0.4])}; ambient = {rng.choice([308.15, 318.15])}; }};\n')
    if gpus == 1 and rng.random() < 0.2:
        text += 'gate = { policy = "convpg"; };\n'
    if rng.random() < 0.25:
        text += f'cta = {{ policy = "{rng.choice(["all", "tcs", "tcs_share"])}"; }};\n'
    return text, mix, n


def run(program, words, cwd, env):
    p = subprocess.run([program] + words, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    return p.returncode, p.stderr.decode(errors='replace')


def ptrace(path):
    lines = open(path).read().splitlines()
    return [[float(x) for x in line.split()] for line in lines[1:]]


def check_tables(folder, n, shared, gated):
    kernels = list(csv.DictReader(open(os.path.join(folder, 'kernels.csv'))))
    summary = next(csv.DictReader(open(os.path.join(folder, 'summary.csv'))))
    s = {k: float(v) for k, v in summary.items() if k not in ('run', 'mix', 'policy', 'status', 'policies') and v}
    need(summary['status'] == 'complete', f'status {summary["status"]}')
    need(len(kernels) == n, f'{len(kernels)} kernels of {n}')
    for k in kernels:
        need(k['blocks'] == k['blocks_retired'], f'{k["kernel"]}: {k["blocks"]} blocks in, {k["blocks_retired"]} out')
        need(float(k['started_s']) >= float(k['arrival_s']) - 1e-9, f'{k["kernel"]} starts before it arrives')
        need(float(k['finished_s']) > float(k['started_s']), f'{k["kernel"]} ends before it starts')
    parts = s['dynamic_j'] + s['leakage_j'] + s['baseline_j'] + s['transition_j']
    close(s['energy_j'], parts, 1e-9, 'energy and its parts')
    close(s['makespan_s'], max(float(k['finished_s']) for k in kernels), TICK_S / s['makespan_s'] + 1e-9, 'makespan')
    # a gated SM's warps may by chance go by in a luckier order; 2000 instructions of a profile were not enough to tell
    need(s['slowdown_pct'] >= (-0.1 if gated else 0) or shared, f'slowdown {s["slowdown_pct"]} %')
    need(s['fairness'] <= 1 + 1e-12 and s['throttled_s'] >= 0, 'fairness, throttled_s')
    return s


def check_traces(folder, s, program, env):
    energy = 0
    for name in sorted(os.listdir(folder)):
        if name.startswith('power') and name.endswith('.ptrace'):
            power, temps = ptrace(os.path.join(folder, name)), ptrace(os.path.join(folder, name.replace('power', 'temps').replace('.ptrace', '.ttrace')))
            need(all(p >= 0 for row in power for p in row), f'{name}: a power below 0')
            ambient_k = float(next(line.split()[1] for line in open(os.path.join(folder, 'thermal.config')) if line.split()[:1] == ['-ambient']))
            need(min(t for row in temps for t in row) >= ambient_k - 1e-6, f'{name}: a unit below the inlet air')
            energy += sum(sum(row) for row in power) * TICK_S
    return energy


def check_thermal(folder, program, env):
    """A single GPU without warm-up: its powers give its temperatures."""
    code, message = run(program, ['thermal', '-c', 'thermal.config', '-f', 'floorplan_gpu0.flp', '-p', 'power.ptrace', '-o', '../again.ttrace'],
                        folder, env)
    need(code == 0, f'thermix thermal: {message}')
    a, b = ptrace(os.path.join(folder, 'temps.ttrace')), ptrace(os.path.join(folder, '../again.ttrace'))
    need(len(a) == len(b), 'rows of temperatures')
    worst = max(abs(x - y) for r, q in zip(a, b) for x, y in zip(r, q))
    need(worst < 0.02, f'thermix thermal differs by {worst} K')


def same_folder(a, b, but=()):
    names = sorted(os.listdir(a))
    need(names == sorted(os.listdir(b)), 'other files')
    for name in names:
        need(name in but or filecmp.cmp(os.path.join(a, name), os.path.join(b, name), shallow=False), f'{name} differs')


def check_study(dir, program, env):
    with open(os.path.join(dir, 'study.cfg'), 'w') as f:
        f.write('name = "s"; base = "run.cfg"; repeat = 2; axes = ( { key = "package.r_convec"; values = [0.2, 0.3]; } );\n')
    rows = []
    for jobs in ('1', '3'):
        code, message = run(program, ['sweep', './study.cfg', '-o', f'j{jobs}.sqlite', '-q', '-j', jobs], dir, env)
        need(code == 0, message)
        p = subprocess.run([program, 'query', f'j{jobs}.sqlite', '--format', 'csv'], cwd=dir, env=env, stdout=subprocess.PIPE)
        rows.append(p.stdout)
    need(rows[0] == rows[1] and rows[0].count(b'\n') >= 2, 'a study at -j 1 and -j 3 differs')


def one(seed, program, env):
    rng = random.Random(seed)
    dir = tempfile.mkdtemp(prefix='thermix-conserve-')
    try:
        kernels = [k for k in KERNELS if os.path.exists(os.path.join(env['THERMIX_DATA'], 'workloads', 'kernels', k + '.cfg'))]
        text, mix, n = configure(rng, kernels, ONE, MANY)
        for name, content in (('run.cfg', text), ('mix.cfg', mix)):
            with open(os.path.join(dir, name), 'w') as f:
                f.write(content)
        words = ['run', './run.cfg', '-q', '--trace', str(TICK_S), '--hotspot', str(TICK_S)]
        code, message = run(program, words + ['-o', 'a'], dir, env)
        if code == 1 and ('no progress' in message or 'runaway' in message):
            return 'cannot finish' # a trip point that this chip cannot hold, said with exit code 1
        need(code == 0, f'exit {code}: {message}')
        folder = os.path.join(dir, 'a')
        s = check_tables(folder, n, 'cta =' in text and any(f'{p}"' in text for p in SHARING), 'gate =' in text)
        warm = 'warmup_s = 0.5' in text
        energy = check_traces(folder, s, program, env)
        if not warm:
            close(s['energy_j'], energy, 1e-9, 'energy and the integral of power')
            if 'gpus = 1;' in text:
                check_thermal(folder, program, env)
        os.makedirs(os.path.join(dir, 'far', 'away'))
        code, message = run(program, words + ['-o', 'far/away/b'], dir, env)
        need(code == 0, message)
        same_folder(folder, os.path.join(dir, 'far', 'away', 'b'))
        code, message = run(program, ['run', 'a/resolved.cfg', '-q', '-o', 'c'], dir, env)
        need(code == 0, f'resolved.cfg: {message}')
        for name in ('summary.csv', 'kernels.csv'):
            need(filecmp.cmp(os.path.join(folder, name), os.path.join(dir, 'c', name), shallow=False), f'resolved.cfg: {name} differs')
        if seed % 10 == 0:
            check_study(dir, program, env)
        return 'in order'
    except Wrong as w:
        print(f'FAILED: seed {seed}: {w}\n{text}{mix}', flush=True)
        return 'wrong'
    finally:
        shutil.rmtree(dir)


def main():
    a = argparse.ArgumentParser()
    a.add_argument('thermix')
    a.add_argument('source')
    a.add_argument('--runs', type=int, default=4)
    a.add_argument('--seed', type=int, default=1)
    a = a.parse_args()
    env = dict(os.environ, THERMIX_DATA=os.path.abspath(a.source))
    counts = {}
    for seed in range(a.seed, a.seed + a.runs):
        what = one(seed, os.path.abspath(a.thermix), env)
        counts[what] = counts.get(what, 0) + 1
    print(f'{a.runs} random runs: ' + ', '.join(f'{n} {k}' for k, n in sorted(counts.items())))
    return 1 if counts.get('wrong') else 0


if __name__ == '__main__':
    sys.exit(main())
