#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""hostile.py THERMIX SOURCE [--sample N] [--only WORD] [-v]: bad inputs made from valid ones.

Each case changes one file of a valid set so that it cannot be meant, and runs one command on it with limits of time and
memory. Wanted: exit code 2, a message that names the file to blame, with its line where it has lines, no report of a
sanitizer, and the output that was there before untouched. Without --sample all cases run."""
import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

TIME_S, MEMORY = 20, 4 << 30


def groups(text):
    """(begin of the key, begin of the bracket, end) of every `key = {...}`, `(...)`, `[...]`."""
    for m in re.finditer(r'([A-Za-z_]\w*)\s*=\s*([{(\[])', text):
        depth, i = 0, m.start(2)
        while i < len(text):
            depth += text[i] in '{([' 
            depth -= text[i] in '})]'
            i += 1
            if depth == 0:
                yield m.start(), m.start(2), i
                break


def bad_config(text):
    """(what, text, has a line) of texts in libconfig's syntax that no reader may take."""
    for key, at, end in groups(text):
        name = re.match(r'\w+', text[key:]).group()
        others = {'{': ['5', '"x"', 'true', '[1, 2]', '((1))', '1.5'], '(': ['5', '{ z = 1; }', '"x"'],
                  '[': ['5', '{ z = 1; }', '"x"']}[text[at]]
        for o in others:
            yield f'{name} = {o}', text[:at] + o + text[end:], True
        if text[at] == '{':
            yield f'unknown key in {name}', text[:at + 1] + ' zzz = 1; ' + text[at + 1:], True
            yield f'{name} not closed', text[:end - 1], True
    for m in re.finditer(r'([A-Za-z_]\w*)\s*=\s*(-?[0-9][0-9.eE+-]*)\s*;', text):
        for o in ['"x"', '{ }', '[1]', '1e999', '99999999999999999999', '-1e301', 'nan', '12b', '0x', '1,5']:
            yield f'{m.group(1)} = {o}', text[:m.start(2)] + o + text[m.end(2):], True
        yield f'{m.group(1)} twice', text[:m.end()] + ' ' + m.group() + text[m.end():], True
    for m in re.finditer(r'([A-Za-z_]\w*)\s*=\s*("[^"\n]*")\s*;', text):
        if m.group(1) in ('doc', 'source'):
            continue
        for o in ['5', '{ }', '"\\x00"', '"open', '"' + 70000 * 'x' + '"', '"\x01"']:
            yield f'{m.group(1)} = {o[:12]}', text[:m.start(2)] + o + text[m.end(2):], True
    for m in re.finditer(r'\b(true|false)\b', text):
        for o in ['5', '"x"', '{ }']:
            yield f'{m.group()} -> {o}', text[:m.start()] + o + text[m.end():], True
    yield 'unknown key', text + '\nzzz = 1;\n', True
    yield 'nesting', text + '\nzzz = ' + 5000 * '(' + 5000 * ')' + ';\n', True
    yield 'a name of 1 MB', text + '\n' + (1 << 20) * 'k' + ' = 1;\n', True
    yield 'many keys', text + ''.join(f'k{i} = 1;\n' for i in range(100000)), True
    yield 'comment open', text + '\n/* ', True
    yield 'include of nothing', '@include "nowhere.cfg"\n' + text, True
    yield 'brackets', text + '\n}', True


def bad_numbers(text):
    """Numbers of tables and lists that are none."""
    plain = re.sub(r'#[^\n]*', lambda m: ' ' * len(m.group()), text)
    spots = list(re.finditer(r'(?<![\w.])-?\d+\.?\d*(?:[eE][-+]?\d+)?(?![\w.])', plain))
    random.Random(1).shuffle(spots)
    for m in spots[:8]:
        for o in ['abc', 'nan', '1e999', '1,5', '0x10']:
            yield f'{m.group()} -> {o}', text[:m.start()] + o + text[m.end():], True


def bad_bytes(path, text):
    """(what, function that puts it in place, has a line): what no text file may be."""
    def put(data):
        def f():
            with open(path, 'wb') as out:
                out.write(data)
        return f
    raw = text.encode()

    def other(make):
        def f():
            os.remove(path)
            make()
        return f
    yield 'NUL', put(raw[:len(raw) // 2] + b'\0' + raw[len(raw) // 2:]), True
    yield 'UTF-16', put(text.encode('utf-16')), True
    yield 'noise', put(random.Random(2).randbytes(4096)), True
    yield 'folder', other(lambda: os.mkdir(path)), False
    yield 'FIFO', other(lambda: os.mkfifo(path)), False
    yield 'endless device', other(lambda: os.symlink('/dev/zero', path)), False
    yield 'link to itself', other(lambda: os.symlink(os.path.basename(path), path)), False
    yield 'absent', other(lambda: None), False


class Box:
    """A folder with a copy of the data and of small valid inputs."""

    def __init__(self, thermix, source):
        self.dir = tempfile.mkdtemp(prefix='thermix-hostile-')
        for d in ('floorplans', 'systems', 'workloads', 'plots'):
            shutil.copytree(os.path.join(source, d), os.path.join(self.dir, 'data', d))
        self.env = dict(os.environ, THERMIX_DATA=os.path.join(self.dir, 'data'),
                        ASAN_OPTIONS='detect_leaks=1:exitcode=99:allocator_may_return_null=1',
                        UBSAN_OPTIONS='halt_on_error=1:exitcode=99')
        self.env.setdefault('XDG_CACHE_HOME', os.path.join(self.dir, 'cache'))
        self.thermix = thermix
        self.sanitized = b'__asan_init' in open(thermix, 'rb').read()

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), 'w') as f:
            f.write(text)

    def run(self, words):
        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (TIME_S, TIME_S))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if not self.sanitized:
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            p = subprocess.run([self.thermix] + words, cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIME_S, preexec_fn=limits)
            return p.returncode, p.stderr.decode(errors='replace')
        except subprocess.TimeoutExpired:
            return 'hang', ''


def write_inputs(b):
    b.write('mix.cfg', 'name = "m"; target = true;\nkernels = ( { kernel = "Cmem"; work_s = 0.5; },\n { kernel = "SVM"; '
                       'work_s = 0.5; arrival_s = 0.1; priority = 1; } );\n')
    b.write('arrive.cfg', 'name = "a";\narrivals = { process = "trace"; file = "arrive.csv"; };\n')
    b.write('arrive.csv', 'arrival_s,kernel,work_s,priority\n0,Cmem,0.5,0\n0.2,SVM,0.5,1\n')
    b.write('run.cfg', 'chip = "gtx280"; mix = "./mix.cfg"; policy = "BL"; seed = 1; tick_s = 0.01; quantum_s = 0.05;\n'
                       'rows = 16; cols = 16; leakage = true;\nsensor = { period_s = 0.01; noise_k = 0.0; };\n'
                       'dtm = { policy = "dvfs"; emergency_c = 88.0; };\nthrottle = { trip_c = 90.0; };\n'
                       'package = { r_convec = 0.2; ambient = 318.15; };\nchip_power = { leakage_w = 20.0; };\n')
    b.write('arrive_run.cfg', 'chip = "gtx280"; mix = "./arrive.cfg"; seed = 1; tick_s = 0.01; rows = 16; cols = 16;\n')
    b.write('node_run.cfg', 'topology = "gtx280x2"; mix = "./mix.cfg"; policy = "MG-BL"; seed = 1; tick_s = 0.01;\n'
                            'rows = 16; cols = 16; fan = { policy = "curve"; };\n'
                            'fan_failures = ( { fan = "fan0"; at_s = 3.0; } );\n')
    b.write('day.cfg', 'chip = "c1060"; mix = "day_users"; policy = "BL"; gpus = 2; seed = 1; tick_s = 0.05;\n'
                       'quantum_s = 0.05; sensor = { period_s = 0.05; };\n'
                       'job = { policy = "consolidate"; node = "c1060"; };\n')
    b.write('study.cfg', 'name = "s"; doc = "d"; base = "run.cfg"; repeat = 2; seed = 1;\n'
                         'axes = ( { key = "policy"; values = ["BL", "A"]; },\n'
                         ' { key = "package.r_convec"; range = { from = 0.2; to = 0.3; steps = 2; }; } );\n'
                         'constraints = ( ("package.r_convec", "<", 0.5) );\nset = ["tick_s=0.01"];\n')
    shutil.copy(b.path('data/floorplans/gtx280/gtx280.flp'), b.path('chip.flp'))
    shutil.copy(b.path('data/floorplans/gtx280/package.config'), b.path('chip.config'))
    names = [line.split()[0] for line in open(b.path('chip.flp')) if line.strip() and line[0] != '#']
    b.write('power.ptrace', '\t'.join(names) + '\n' + '\t'.join('1.5' for _ in names) + '\n')


def cases(b):
    """(name, file, commands): valid commands and the file of theirs to spoil; the file's kind from its name. Where
    several commands read parts of one file, one of them must refuse it."""
    run = ['check', './run.cfg']
    gate = ['check', './run.cfg', '--set', 'gate={ policy = "convpg"; instructions = 1000; }']
    cta = ['cta', 'Cmem', '-c', 'gtx280', '-p', 'all']
    thermal = ['thermal', '-c', 'chip.config', '-f', 'chip.flp', '-p', 'power.ptrace', '-o', 'out.txt']
    gpu = 'data/floorplans/gtx280/'
    yield 'run', 'run.cfg', [run]
    yield 'mix', 'mix.cfg', [run]
    yield 'kernel', 'data/workloads/kernels/Cmem.cfg', [run, gate, cta]
    yield 'chip', gpu + 'chip.cfg', [run]
    yield 'chip include', gpu + 'gt200.cfg', [run, cta]
    yield 'floorplan', gpu + 'gtx280.flp', [run]
    yield 'package', gpu + 'package.config', [run]
    yield 'arrivals', 'arrive.csv', [['check', './arrive_run.cfg']]
    yield 'node run', 'node_run.cfg', [['check', './node_run.cfg']]
    yield 'topology', 'data/systems/gtx280x2.cfg', [['check', './node_run.cfg']]
    yield 'study', 'study.cfg', [['sweep', './study.cfg', '-o', 'new.sqlite', '-q']]
    yield 'thermal', 'chip.flp', [thermal]
    yield 'thermal config', 'chip.config', [thermal]
    yield 'thermal power', 'power.ptrace', [thermal]
    yield 'floorplan show', 'chip.flp', [['floorplan', 'show', 'chip.flp', '-o', 'out.txt']]
    yield 'sm', gpu + 'sm.cfg', [gate]
    yield 'node', 'data/workloads/nodes/c1060.cfg', [['check', './day.cfg']]


def spoiled(b, name, file):
    path = b.path(file)
    text = open(path).read()
    for what, function, line in bad_bytes(path, text):
        if not (what in ('absent', 'link to itself') and file.startswith('data/')): # found in the next folder of data
            yield what, function, line
    maker = bad_config if file.endswith('.cfg') else bad_numbers
    for what, changed, line in maker(text):
        def put(changed=changed):
            with open(path, 'w') as f:
                f.write(changed)
        yield what, put, line


def restore(b, file, text):
    path = b.path(file)
    if os.path.islink(path) or os.path.exists(path):
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        else:
            os.remove(path)
    b.write(file, text)


def judge(code, message, line, b):
    """What is wrong with the answer; '' when nothing."""
    if code == 'hang':
        return 'hang'
    if code == 0:
        return 'accepted'
    if isinstance(code, int) and (code < 0 or code == 99 or 'Sanitizer' in message or 'runtime error' in message):
        return 'crash'
    if code != 2:
        return f'exit {code}'
    if line and not re.search(r':\d+: ', message):
        return 'no line'
    if open(b.path('out.txt')).read() != 'precious\n':
        return 'output touched'
    return ''


SLOW = ('kernel', 'node run', 'topology', 'study', 'sm', 'node', 'chip include') # their valid commands take long; not in a sample


def main():
    a = argparse.ArgumentParser()
    a.add_argument('thermix')
    a.add_argument('source')
    a.add_argument('--sample', type=int, default=0)
    a.add_argument('--only', default='')
    a.add_argument('-v', action='store_true')
    a = a.parse_args()
    b = Box(os.path.abspath(a.thermix), os.path.abspath(a.source))
    counts, bad = {}, 0
    try:
        write_inputs(b)
        todo = []
        for name, file, commands in cases(b):
            if (a.only and a.only not in name) or (a.sample and not a.only and name in SLOW):
                continue
            todo += [(name, file, commands, what, line, function) for what, function, line in spoiled(b, name, file)]
        if a.sample:
            random.Random(3).shuffle(todo)
            todo = todo[:a.sample]
        valid = set()
        for name, file, commands, what, line, function in todo:
            for words in commands:
                if tuple(words) not in valid:
                    b.write('out.txt', '')
                    code, message = b.run(words)
                    if code != 0:
                        print(f'FAILED: the valid {name} is refused: exit {code}: {message}')
                        return 1
                    valid.add(tuple(words))
            text = open(b.path(file)).read()
            b.write('out.txt', 'precious\n')
            for rest in ('new.sqlite', 'new.sqlite.log'):
                if os.path.exists(b.path(rest)):
                    os.remove(b.path(rest))
            try:
                function()
                for words in commands:
                    code, message = b.run(words)
                    wrong = judge(code, message, line, b)
                    if wrong != 'accepted':
                        break
            finally:
                restore(b, file, text)
            counts[wrong or 'refused well'] = counts.get(wrong or 'refused well', 0) + 1
            if wrong:
                bad += 1
                print(f'FAILED: {name}: {what}: {wrong}: {message.strip()[:300]}')
            elif a.v:
                print(f'ok: {name}: {what}: {message.strip()[:160]}')
        print(f'{len(todo)} bad inputs: ' + ', '.join(f'{n} {k}' for k, n in sorted(counts.items())))
    finally:
        shutil.rmtree(b.dir)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
