#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does cost grow with the work? Each input is grown tenfold, and the exponents of processor time and memory are printed.

    bench/growth.py [--thermix PROGRAM] [--once] [NAME...]

An exponent of 1 is linear, 2 quadratic; what the program takes without work is taken off. --once: a quarter of the
smaller size, and exit 1 where it takes more memory than `most_mb`: what the tests run, as memory does not depend on what else the machine does.
"""
import argparse, csv, math, os, random, subprocess, sys, tempfile

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def write(name, text):
    with open(name, 'w') as f:
        f.write(text)


def run_of(mix):
    write('mix.cfg', mix)
    write('run.cfg', 'chip = "gtx280"; mix = "./mix.cfg"; policy = "BL"; seed = 1; tick_s = 0.01; rows = 8; cols = 8;\n')


def arrivals(n):
    rng, t = random.Random(1), 0
    with open('arrivals.csv', 'w') as f:
        f.write('arrival_s,kernel,work_s\n')
        for _ in range(n):
            t += rng.expovariate(100)
            f.write(f'{t:.6f},{rng.choice(["SVM", "Cmem", "Conv"])},0.001\n')
    run_of('name = "m"; arrivals = { process = "trace"; file = "arrivals.csv"; };\n')
    return ['check', './run.cfg']


def poisson(n):
    run_of(f'name = "m"; arrivals = {{ process = "poisson"; mean_s = 0.0001; count = {n}; work_s = 0.001;'
           ' kernels = ["SVM", "Cmem", "Conv"]; };\n')
    return ['run', './run.cfg', '-q', '-o', 'out']


def trace(n):
    run_of(f'name = "m"; kernels = ( {{ kernel = "SVM"; work_s = {n / 100}; }} );\n')
    subprocess.run([a.thermix, 'run', './run.cfg', '-q', '-o', 'traced', '--trace', '0.01'], check=True, stdout=subprocess.DEVNULL)
    return ['plot', 'traced', '-o', 'figures']


def table(n):
    rows = list(csv.reader(open(root + '/tests/golden/tabs/table.csv')))
    at = rows[0].index('mix')
    os.makedirs('table', exist_ok=True)
    with open('table/table.csv', 'w') as f:
        w = csv.writer(f, lineterminator='\n')
        w.writerow(rows[0])
        for i in range(n):
            row = list(rows[1 + i % (len(rows) - 1)])
            row[at] = f'm{i // (len(rows) - 1)}'
            w.writerow(row)
    return ['report', 'table', '-o', 'page.html']


def log(n):
    rng, heat, left, watts = random.Random(3), 0, 0, 30
    with open('log.csv', 'w') as f:
        f.write('time_s,power_w,temp_c\n')
        for i in range(n):
            if left <= 0:
                watts, left = rng.choice([30, 100, 200, 300]), rng.randint(120, 900)
            left -= 1
            p = watts + rng.gauss(0, 1)
            heat += (0.1 * p - heat) * -math.expm1(-1 / 60)
            f.write(f'{i},{p:.2f},{round(30 + heat + 0.05 * p)}\n')
    return ['calibrate', 'log.csv', '-o', 'fitted', '--no-figures', '-q']


# name: what makes the input, the smaller size, and the most memory that a quarter of it (of a log, whose fit takes long, a 16th) may take beside the program's [MB]
cases = {'arrivals': (arrivals, 100000, 24), 'poisson': (poisson, 20000, 12), 'trace': (trace, 3000, 20),
         'table': (table, 20000, 24), 'log': (log, 62000, 3)}


def cost(command):
    """Processor seconds and MB of one command, by a child of its own."""
    code = ('import resource, subprocess, sys\nr = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n'
            'u = resource.getrusage(resource.RUSAGE_CHILDREN)\n'
            'print(r.returncode, u.ru_utime + u.ru_stime, u.ru_maxrss / 1024)')
    out = subprocess.run([sys.executable, '-c', code, a.thermix, *command], capture_output=True, text=True)
    rc, seconds, mb = out.stdout.split()
    if rc != '0':
        sys.exit(f'{" ".join(command)}: exit {rc}\n{out.stderr}')
    return float(seconds), float(mb)


parser = argparse.ArgumentParser()
parser.add_argument('--thermix', default='thermix')
parser.add_argument('--once', action='store_true')
parser.add_argument('name', nargs='*')
a = parser.parse_args()
os.environ.setdefault('THERMIX_DATA', root)
a.thermix = os.path.abspath(a.thermix) if os.path.exists(a.thermix) else a.thermix
bad = 0
print('input' if a.once else 'input          rows       s      MB        rows       s      MB   exponent: time  memory')
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ['XDG_CACHE_HOME'] = folder
    idle = cost(['--version'])
    for name in a.name or cases:
        make, n, most_mb = cases[name]
        n = n // (16 if make == log else 4) if a.once else n
        one = cost(make(n))
        if a.once:
            mb = one[1] - idle[1]
            print(f'{name}: {n} rows, {mb:.0f} MB (at most {most_mb})')
            bad += mb > most_mb
            continue
        ten = cost(make(10 * n))
        grown = [math.log10(max(y - z, 1e-3) / max(x - z, 1e-3)) for x, y, z in zip(one, ten, idle)]
        print(f'{name:<10} {n:>8} {one[0]:>7.2f} {one[1]:>7.0f} {10 * n:>11} {ten[0]:>7.2f} {ten[1]:>7.0f} {grown[0]:>16.2f} {grown[1]:>7.2f}',
              flush=True)
sys.exit(bad > 0)
