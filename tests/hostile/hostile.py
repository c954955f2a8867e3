#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""hostile.py THERMIX SOURCE [--sample N] [--only WORD] [--shard I/N] [-v]: bad inputs made from valid ones.

Each case changes one file of a valid set (spoil.py) and runs commands on it with limits of time and memory. Wanted: exit code
2 where it cannot be meant, a message that names the file to blame, with its line where it has lines; never a signal, a
report of a sanitizer, a hang, or a change of the output that was there before. Then commands that cost too much, and
commands whose output is their input: refused, nothing touched. Without --sample all cases run."""
import argparse
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

from spoil import (FILE, LINE, SAFE, bad_bytes, bad_kinds, bad_config, bad_csv, bad_database, bad_ice, bad_lines, bad_log,
                   bad_numbers)

TIME_S, MEMORY = 20, 4 << 30


class Box:
    """A folder with a copy of the data and of small valid inputs."""

    def __init__(self, thermix, source):
        self.dir = tempfile.mkdtemp(prefix='thermix-hostile-')
        for d in ('floorplans', 'systems', 'workloads', 'plots'):
            shutil.copytree(os.path.join(source, d), os.path.join(self.dir, 'data', d))
        self.env = dict(os.environ, THERMIX_DATA=os.path.join(self.dir, 'data'),
                        ASAN_OPTIONS='detect_leaks=1:exitcode=99:allocator_may_return_null=1',
                        LSAN_OPTIONS='print_suppressions=0:suppressions=' +
                        os.path.abspath(os.path.join(source, 'tests', 'hostile', 'leaks.supp')),
                        UBSAN_OPTIONS='halt_on_error=1:exitcode=99')
        self.env.setdefault('XDG_CACHE_HOME', os.path.join(self.dir, 'cache'))
        self.thermix = thermix
        self.corpus = os.path.join(source, 'tests', 'fuzz', 'corpus')
        self.sanitized = b'__asan_init' in open(thermix, 'rb').read()

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, content):
        with open(self.path(name), 'wb') as f:
            f.write(content if isinstance(content, bytes) else content.encode())

    def run(self, words, limit_s=TIME_S):
        limits = f'ulimit -c 0 -t {limit_s}' + ('' if self.sanitized else f' -v {MEMORY >> 10}')
        try: # a shell sets the limits: a function of Python's would need a copy of this whole process first
            p = subprocess.run(['bash', '-c', limits + '; exec "$0" "$@"', self.thermix] + words, cwd=self.dir, env=self.env,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=4 * limit_s)
            return p.returncode, p.stderr.decode(errors='replace')
        except subprocess.TimeoutExpired:
            return 'hang', ''


RUN_CFG = '''chip = "gtx280"; mix = "./mix.cfg"; policy = "BL"; seed = 1; tick_s = 0.01; quantum_s = 0.05;
rows = 16; cols = 16; leakage = true;
sensor = { period_s = 0.01; noise_k = 0.0; };
dtm = { policy = "dvfs"; emergency_c = 88.0; };
throttle = { trip_c = 90.0; };
package = { r_convec = 0.2; ambient = 318.15; };
chip_power = { leakage_w = 20.0; };
'''
INPUTS = {
    'mix.cfg': 'name = "m"; target = true;\nkernels = ( { kernel = "Cmem"; work_s = 0.5; },\n { kernel = "SVM"; '
               'work_s = 0.5; arrival_s = 0.1; priority = 1; } );\n',
    'arrive.cfg': 'name = "a";\narrivals = { process = "trace"; file = "arrive.csv"; };\n',
    'arrive.csv': 'arrival_s,kernel,work_s,priority\n0,Cmem,0.5,0\n0.2,SVM,0.5,1\n0.3,SVM,0.5,1\n',
    'run.cfg': RUN_CFG,
    'arrive_run.cfg': 'chip = "gtx280"; mix = "./arrive.cfg"; seed = 1; tick_s = 0.01; rows = 16; cols = 16;\n',
    'node_run.cfg': 'topology = "gtx280x2"; mix = "./mix.cfg"; policy = "MG-BL"; seed = 1; tick_s = 0.01;\n'
                    'rows = 16; cols = 16; fan = { policy = "curve"; };\nfan_failures = ( { fan = "fan0"; at_s = 3.0; } );\n',
    'day.cfg': 'chip = "c1060"; mix = "day_users"; policy = "BL"; gpus = 2; seed = 1; tick_s = 0.05;\n'
               'quantum_s = 0.05; sensor = { period_s = 0.05; };\njob = { policy = "consolidate"; node = "c1060"; };\n',
    'study.cfg': 'name = "s"; doc = "d"; base = "run.cfg"; repeat = 2; seed = 1;\n'
                 'axes = ( { key = "policy"; values = ["BL", "A"]; },\n'
                 ' { key = "package.r_convec"; range = { from = 0.2; to = 0.3; steps = 2; }; } );\n'
                 'constraints = ( ("package.r_convec", "<", 0.5) );\nset = ["tick_s=0.01"];\n',
    'suite.cfg': 'name = "t"; kind = "tabs"; doc = "d"; paper = "003";\n'
                 'base = { chip = "gtx280"; seed = 1; tick_s = 0.01; rows = 16; cols = 16; };\n'
                 'mixes = ["./mix.cfg"];\npolicies = ( "BL", { name = "DVFS"; set = ["dtm.emergency_c=88"]; } );\n'
                 'variants = ( { name = "warm"; set = ["package.ambient=320"]; } );\n'
                 'beside = ( { name = "b"; mix = "./mix.cfg"; policy = "BL"; } );\nbaseline = "BL"; compare = "DVFS";\n'
                 'values = ( { figure = "1"; quantity = "q"; of = "mean"; policy = "BL"; column = "slowdown_pct"; '
                 'value = 1.0; origin = "unseen"; band = 0.5; } );\n',
    'layers.lcf': '0\nY\nY\n1.75e6\n0.01\n0.00015\nchip.flp\n1\nY\nN\n4e6\n0.25\n2e-5\nchip.flp\n',
    'mine.materials': 'silicon\nsolid\n130\n1.63e6\nglue\nsolid\n4\n4e6\n',
    'card.csv': 'timestamp, index, power.draw [W], temperature.gpu\n' + ''.join(
        f'2025/01/07 12:{i // 60:02d}:{i % 60:02d}.000, 0, {25 if i < 40 or i > 140 else 250} W, {30 if i < 40 else 50}\n'
        for i in range(180)),
    'table.csv': 'mix,policy,slowdown_pct,energy_j,peak_temp_c\nWL1,BL,1.5,100,80\nWL1,A,1.0,90,79\nmean,BL,1.5,100,80\n',
}
OVER_INPUT = [ # the word IN is a copy of the file, and must be as it was afterwards
    ('results.sqlite', ['query', 'IN', '-o', 'IN']), ('results.sqlite', ['sensitivity', 'IN', '--value', 'energy_j', '-o', 'IN']),
    ('results.sqlite', ['report', 'IN', '-o', 'IN']), ('results.sqlite', ['merge', 'IN', '-o', 'IN']),
    ('chip.flp', ['floorplan', 'show', 'IN', '-o', 'IN']), ('card.csv', ['log', 'show', 'IN', '-o', 'IN']),
    ('kernel.traceg', ['gate', '--convert', 'IN', '-o', 'IN']), ('train.csv', ['power', 'fit', 'IN', '-o', 'IN']),
    ('power.ptrace', ['thermal', '-c', 'chip.config', '-f', 'chip.flp', '-p', 'IN', '-o', 'IN']),
    ('chip.flp', ['thermal', '-c', 'chip.config', '-f', 'IN', '-p', 'power.ptrace', '-steady_file', 'IN']),
]
COSTS = [ # (words, what the message has)
    (['run', './run.cfg', '-q', '--set', 'mix=./long.cfg', '--set', 'tick_s=1e-5'], 'max-minutes'),
    (['run', './run.cfg', '-q', '--set', 'mix=./far.cfg'], 'max-minutes'),
    (['run', './run.cfg', '-q', '--set', 'warmup_s=1e6', '--set', 'tick_s=0.001', '--set', 'sensor.period_s=0.001'], 'max-minutes'),
    (['run', './run.cfg', '-q', '--set', 'rows=1024', '--set', 'cols=1024'], 'max-'),
    (['run', './run.cfg', '-q', '--set', 'rows=1024', '--set', 'cols=1024', '--set', 'method=grid'], 'max-'),
    (['run', './run.cfg', '-q', '--set', 'gpus=4096', '--max-gb', '0.05'], 'max-gb'),
    (['run', './run.cfg', '-q', '--set', 'gpus=4096', '--set', 'mix=./long.cfg'], 'max-minutes'),
    (['run', './run.cfg', '-q', '--set', 'mix=./poisson.cfg', '--set', 'tick_s=0.001', '--set', 'sensor.period_s=0.001'], 'max-minutes'),
    (['check', './run.cfg', '--set', 'gate={ policy = "convpg"; instructions = 100000000; }', '--max-minutes', '1'], 'max-minutes'),
    (['cta', './blocks.cfg', '-c', 'gtx280', '-p', 'all'], 'max-minutes'),
    (['cta', 'Cmem', '-c', 'gtx280', '-p', 'all,static_optimal', '--epoch', '1', '--max-minutes', '1'], 'max-minutes'),
    (['gate', 'hotspot', '-n', '1000000000', '--max-minutes', '1'], 'max-minutes'),
    (['sweep', './many.cfg', '-o', 'many.sqlite', '-q'], 'max-minutes'),
    (['thermal', '-c', 'chip.config', '-f', 'chip.flp', '-p', 'power.ptrace', '-o', 'big.txt', '-grid_rows', '2048',
      '-grid_cols', '2048'], 'max-'),
]


def write_inputs(b):
    for name, text in INPUTS.items():
        b.write(name, text)
    b.write('long.cfg', INPUTS['mix.cfg'].replace('work_s = 0.5', 'work_s = 1e6'))
    b.write('far.cfg', INPUTS['mix.cfg'].replace('arrival_s = 0.1', 'arrival_s = 1e9'))
    b.write('poisson.cfg', 'name = "p"; arrivals = { process = "poisson"; count = 1000000; kernels = ["Cmem", "SVM"]; };\n')
    b.write('many.cfg', INPUTS['study.cfg'].replace('repeat = 2', 'repeat = 1000000'))
    shutil.copy(b.path('data/floorplans/gtx280/gtx280.flp'), b.path('chip.flp'))
    shutil.copy(b.path('data/floorplans/gtx280/package.config'), b.path('chip.config'))
    shutil.copy(b.path('data/workloads/batches/1E+1M.cfg'), b.path('batch.cfg'))
    shutil.copy(b.path('data/workloads/training/rodinia_c1060.csv'), b.path('train.csv'))
    b.write('kernel.traceg', open(os.path.join(b.corpus, 'accelsim', 'kernel.traceg')).read().replace('insts = 8', 'insts = 9'))
    for name in ('stack.stk', 'chip.flp'):
        shutil.copy(os.path.join(b.corpus, 'ice', name), b.path('ice.flp' if name == 'chip.flp' else name))
    text = open(b.path('data/workloads/kernels/Cmem.cfg')).read()
    b.write('blocks.cfg', text.replace('thread_blocks = 16384', 'thread_blocks = 1000000000'))
    names = [line.split()[0] for line in open(b.path('chip.flp')) if line.strip() and line[0] != '#']
    b.write('power.ptrace', '\t'.join(names) + '\n' + '\t'.join('1.5' for _ in names) + '\n')
    for suite in ('tcs', 'apsa', 'warped-gates', 'consolidation', 'consolidation_day'):
        shutil.copy(b.path(f'data/workloads/suites/{suite}.cfg'), b.path(f'{suite}.cfg'))
    for name in os.listdir(os.path.join(b.corpus, 'log')):
        shutil.copy(os.path.join(b.corpus, 'log', name), b.path('log_' + name))


def write_results(b):
    """Valid results that readers can be given: a study, a run's folder, a trace, a calibration."""
    for words in (['sweep', './study.cfg', '-o', 'results.sqlite', '-q', '-j', '1'],
                  ['run', './run.cfg', '-q', '-o', 'folder', '--trace', '0.05', '--hotspot', '0.05'],
                  ['gate', 'hotspot', '--export', 'kernel.trace', '-n', '2000'],
                  ['calibrate', 'card.csv', '-o', 'cal', '-q', '--no-figures']):
        code, message = b.run(words)
        if code != 0:
            raise SystemExit(f'FAILED: {" ".join(words)}: exit {code}: {message}')
    for rest in ('results.sqlite-wal', 'results.sqlite-shm'):
        if os.path.exists(b.path(rest)):
            os.remove(b.path(rest))


def cases(b):
    """(name, file, maker, commands): valid commands and the file of theirs to spoil. Where several commands read parts
    of one file, one of them must refuse it."""
    run = ['check', './run.cfg']
    gate = ['check', './run.cfg', '--set', 'gate={ policy = "convpg"; instructions = 1000; }']
    cta = ['cta', 'Cmem', '-c', 'gtx280', '-p', 'all']
    thermal = ['thermal', '-c', 'chip.config', '-f', 'chip.flp', '-p', 'power.ptrace', '-o', 'out.txt']
    layers = ['thermal', '-c', 'chip.config', '-grid_layer_file', 'layers.lcf', '-p', 'power.ptrace', '-o', 'out.txt']
    gpu = 'data/floorplans/gtx280/'
    yield 'run', 'run.cfg', bad_config, [run]
    yield 'mix', 'mix.cfg', bad_config, [run]
    yield 'kernel', 'data/workloads/kernels/Cmem.cfg', bad_config, [run, gate, cta]
    yield 'chip', gpu + 'chip.cfg', bad_config, [run]
    yield 'chip include', gpu + 'gt200.cfg', bad_config, [run, cta]
    yield 'floorplan', gpu + 'gtx280.flp', bad_numbers, [run]
    yield 'package', gpu + 'package.config', bad_numbers, [run]
    yield 'arrivals', 'arrive.csv', bad_csv, [['check', './arrive_run.cfg']]
    yield 'node run', 'node_run.cfg', bad_config, [['check', './node_run.cfg']]
    yield 'topology', 'data/systems/gtx280x2.cfg', bad_config, [['check', './node_run.cfg']]
    yield 'study', 'study.cfg', bad_config, [['sweep', './study.cfg', '-o', 'new.sqlite', '-q']]
    yield 'suite', 'suite.cfg', bad_config, [['check', './suite.cfg']]
    for suite in ('tcs', 'apsa', 'warped-gates', 'consolidation', 'consolidation_day'):
        yield 'paper suite ' + suite, suite + '.cfg', bad_config, [['check', f'./{suite}.cfg']]
    yield 'batch', 'batch.cfg', bad_config, [['consolidate', './batch.cfg']]
    yield 'thermal', 'chip.flp', bad_numbers, [thermal]
    yield 'thermal config', 'chip.config', bad_numbers, [thermal]
    yield 'thermal power', 'power.ptrace', bad_numbers, [thermal]
    yield 'layer file', 'layers.lcf', bad_lines, [layers]
    yield 'materials', 'mine.materials', bad_lines, [thermal[:-2] + ['-materials_file', 'mine.materials', '-o', 'out.txt']]
    yield 'floorplan show', 'chip.flp', bad_numbers, [['floorplan', 'show', 'chip.flp', '-o', 'out.txt']]
    yield 'sm', gpu + 'sm.cfg', bad_config, [gate]
    yield 'node', 'data/workloads/nodes/c1060.cfg', bad_config, [['check', './day.cfg']]
    yield 'ice stack', 'stack.stk', bad_ice, [['floorplan', 'convert', 'stack.stk', '-o', 'ice_out']]
    yield 'ice floorplan', 'ice.flp', bad_ice, [['floorplan', 'convert', 'stack.stk', '-o', 'ice_out']]
    yield 'accel-sim', 'kernel.traceg', bad_lines, [['gate', '--convert', 'kernel.traceg', '-o', 'new.trace']]
    yield 'instruction trace', 'kernel.trace', bad_lines, [['gate', 'hotspot', '--trace', 'kernel.trace', '-q', '--policy', 'convpg']]
    yield 'training table', 'train.csv', lambda t: bad_csv(t, SAFE, header_of(t)), [['power', 'fit', 'train.csv']]
    for name in sorted(n for n in os.listdir(b.dir) if n.startswith('log_')):
        yield 'log ' + name[4:], name, bad_log, [['log', 'show', name]]
    yield 'log to calibrate', 'card.csv', bad_log, [['calibrate', 'card.csv', '-o', 'new_cal', '-q', '--no-figures']]
    yield 'calibration', 'cal/node.cfg', bad_config, [['check', './cal/node.cfg']]
    yield 'fit of a calibration', 'cal/fit.csv', lambda t: bad_csv(t, SAFE), [['replay', 'cal', 'card.csv']]
    report = ['report', 'folder', '-o', 'new.html', '--no-what-if']
    for name in ('trace.csv', 'summary.csv', 'kernels.csv', 'manifest.csv'):
        yield 'folder ' + name, 'folder/' + name, lambda t: bad_csv(t, SAFE), [report]
    for name in ('folder.cfg', 'resolved.cfg'):
        yield 'folder ' + name, 'folder/' + name, lambda t: safe(bad_config(t)), [report, ['plot', 'folder', '-q', '-o', 'new_figures']]
    for name in ('power.ptrace', 'temps.ttrace'):
        yield 'folder ' + name, 'folder/' + name, lambda t: safe(bad_numbers(t)), [report]
    yield 'report of a table', 'table.csv', lambda t: bad_csv(t, SAFE), [['report', '.', '-o', 'new.html', '--no-what-if']]
    yield 'database', 'results.sqlite', bad_database, [
        ['query', 'results.sqlite', '--format', 'csv'], ['query', 'results.sqlite', '--all', '--rows', 'policy', '--value', 'energy_j'],
        ['sensitivity', 'results.sqlite', '--value', 'energy_j'], ['merge', 'results.sqlite', '-o', 'new_merged.sqlite']]
    yield 'database drawn', 'results.sqlite', bad_database, [['report', 'results.sqlite', '-o', 'new.html']]


def header_of(text):
    return next(i for i, line in enumerate(text.splitlines()) if line.strip() and line[0] != '#')


def safe(made):
    """Copies of files that nobody is asked to edit: nothing may fall over, but what no reader looks at may be anything."""
    for what, content, _ in made:
        yield what, content, SAFE


def spoiled(b, name, file, maker):
    path = b.path(file)
    if maker is bad_database:
        yield from ((what, lambda content=content: b.write(file, content), verdict) for what, content, verdict in maker(path))
        yield from bad_kinds(path)
        return
    text = open(path).read()
    for what, function, verdict in bad_bytes(path, text):
        if file.startswith('folder/') or maker in (bad_log, bad_lines, bad_ice) or 'log' in file:
            verdict = SAFE if verdict == LINE or what == 'absent' else verdict
        if file.startswith('folder/') or file == 'table.csv':
            verdict = SAFE
        if not (what in ('absent', 'link to itself') and file.startswith('data/')): # found in the next folder of data
            yield what, function, verdict
    for what, content, verdict in maker(text):
        yield what, lambda content=content: b.write(file, content), verdict


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


def judge(code, message, verdict, b):
    """What is wrong with the answer; '' when nothing."""
    if code == 'hang' or code in (-9, -24):
        return 'hang'
    if isinstance(code, int) and (code < 0 or code == 99 or 'Sanitizer' in message or 'runtime error' in message):
        return 'crash'
    if open(b.path('out.txt')).read() != 'precious\n' and code != 0:
        return 'output touched'
    if verdict == SAFE and code in (0, 1, 2):
        return '' if code != 1 or 'memory' not in message else 'out of memory'
    if code == 0:
        return 'accepted'
    if code != 2:
        return f'exit {code}'
    if verdict == LINE and not re.search(r':\d+[:)]', message):
        return 'no line'
    if not message.strip():
        return 'no message'
    return ''


# Their valid commands take long; not in a sample.
SLOW = ('kernel', 'node run', 'topology', 'study', 'sm', 'node', 'chip include', 'database drawn', 'log to calibrate', 'calibration',
        'report of a table')
MADE = ('folder', 'database', 'calibration', 'fit of', 'instruction trace', 'paper suite') # from results that take long to make; not in a sample


def one(b, file, commands, function, verdict):
    """Spoil, run, restore: what is wrong, and the message."""
    whole = open(b.path(file), 'rb').read()
    b.write('out.txt', 'precious\n')
    for rest in os.listdir(b.dir):
        if rest.startswith(('new', 'ice_out')):
            remove(b.path(rest))
    wrong, message = '', ''
    try:
        function()
        for words in commands:
            code, message = b.run(words)
            wrong = judge(code, message, verdict, b)
            if wrong not in ('accepted', '') or (wrong == '' and verdict != SAFE):
                break
    finally:
        remove(b.path(file))
        for rest in ('-wal', '-shm'):
            remove(b.path(file + rest))
        b.write(file, whole)
    return wrong, message


def valid(b, name, commands, seen):
    for words in commands:
        if tuple(words) not in seen:
            b.write('out.txt', '')
            code, message = b.run(words, 10 * TIME_S)
            if code != 0:
                raise SystemExit(f'FAILED: the valid {name} is refused: exit {code}: {message}')
            seen.add(tuple(words))
            for rest in os.listdir(b.dir):
                if rest.startswith(('new', 'ice_out')):
                    remove(b.path(rest))


def fixed(b):
    """(name, what is wrong, message) of commands that cost too much or write over what they read."""
    for words, expected in COSTS:
        code, message = b.run(words)
        wrong = judge(code, message, FILE, b) or ('' if expected in message else 'other words')
        yield 'cost: ' + ' '.join(words), wrong, message
    for file, words in OVER_INPUT:
        shutil.copy(b.path(file), b.path('over' + os.path.splitext(file)[1]))
        path = b.path('over' + os.path.splitext(file)[1])
        before = hashlib.sha256(open(path, 'rb').read()).digest()
        code, message = b.run([os.path.basename(path) if w == 'IN' else w for w in words])
        same = hashlib.sha256(open(path, 'rb').read()).digest() == before
        yield 'over its input: ' + ' '.join(words), judge(code, message, FILE, b) or ('' if same else 'input touched'), message


def main():
    a = argparse.ArgumentParser()
    a.add_argument('thermix')
    a.add_argument('source')
    a.add_argument('--sample', type=int, default=0)
    a.add_argument('--only', default='')
    a.add_argument('--shard', default='1/1', help='I/N: every Nth case')
    a.add_argument('-v', action='store_true')
    a = a.parse_args()
    b = Box(os.path.abspath(a.thermix), os.path.abspath(a.source))
    counts, bad, n, seen = {}, 0, 0, set()
    shard, shards = (int(x) for x in a.shard.split('/'))

    def count(name, wrong, message):
        nonlocal bad, n
        n += 1
        counts[wrong or 'in order'] = counts.get(wrong or 'in order', 0) + 1
        if wrong:
            bad += 1
            print(f'FAILED: {name}: {wrong}: {message.strip()[:300]}', flush=True)
        elif a.v:
            print(f'ok: {name}: {message.strip()[:160]}', flush=True)
    try:
        write_inputs(b)
        if not a.sample:
            write_results(b)
        todo, number = [], 0
        for name, file, maker, commands in cases(b):
            if (a.only and a.only not in name) or (a.sample and not a.only and (name in SLOW or name.startswith(MADE))):
                continue
            checked = [] if maker is bad_log else commands # the corpus has logs that are too short to be shown
            for case in spoiled(b, name, file, maker): # contents of other shards are not kept
                if a.sample or number % shards == shard - 1:
                    todo.append((name, file, commands, checked) + case)
                number += 1
        if a.sample:
            random.Random(3).shuffle(todo)
            todo = todo[:a.sample]
        for name, file, commands, checked, what, function, verdict in todo:
            valid(b, name, checked, seen)
            wrong, message = one(b, file, commands, function, verdict)
            count(f'{name}: {what}', wrong, message)
        if (not a.sample and not a.only and shard == 1) or a.only == 'fixed':
            b.write('out.txt', 'precious\n')
            for name, wrong, message in fixed(b):
                count(name, wrong, message)
        print(f'{n} bad inputs: ' + ', '.join(f'{v} {k}' for k, v in sorted(counts.items())))
    finally:
        shutil.rmtree(b.dir)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
