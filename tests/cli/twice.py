#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every command line of the documents, of examples/ and of --help, typed as people type them: twice, in another order, after Ctrl-C, and two at
once, into the same folders. Exit codes and files must be those of the first time. Usage: twice.py THERMIX PROJECT [SOURCE...]

SOURCE: a page (docs/guide.md), `help`, or a script of examples/gallery; without it: all of them. --quick: twice and two at once alone.
--list prints the command lines and types nothing."""
import argparse, glob, hashlib, os, random, re, shutil, signal, subprocess, sys, tempfile, textwrap, time

parser = argparse.ArgumentParser()
parser.add_argument('thermix')
parser.add_argument('project')
parser.add_argument('source', nargs='*')
parser.add_argument('--quick', action='store_true')
parser.add_argument('--list', action='store_true')
arg = parser.parse_intermixed_args()
project = os.path.abspath(arg.project)
thermix = os.path.abspath(arg.thermix)

# What makes the commands cheap; they are typed as they are written otherwise.
WRAPPER = f'''#!/bin/bash
case "$1" in
  run) case "$2" in serve.cfg|row.cfg) ;; *) exec {thermix} "$@" --set rows=8 --set cols=8 ;; esac ;;
  table) case "$2" in tabs|short) exec {thermix} "$@" --set rows=8 --set cols=8 ;; esac ;;
  sweep) if [ "$2" = cooling ]; then shift 2; exec {thermix} sweep cooling-quick "$@"; fi ;;
  bound) if [ "$2" = serve-warm ]; then exec {thermix} "$@" --set serve.requests.count=60; fi ;;
  validate) case "${{2-}}" in ''|-*) shift; exec {thermix} validate pulses "$@" ;; esac ;;
esac
exec {thermix} "$@"
'''
# Not typed: what needs the network, another program's installation, or the user's system.
SKIP = re.compile(r'sudo|apt|git clone|cmake|pip |ctest|\./dev|man -l|mpirun|mpiexec|/usr/share|http|hotspot\b.*-c|pkg-config|cache clean')
# What the pages say that one has: the name there, and a file of the tree.
INPUTS = {'gpu.csv': 'docs/examples/measured/card.csv', 'other.csv': 'docs/examples/measured/card.csv', 'chip.config': 'docs/examples/dualcore/chip.config',
          'hotspot.config': 'docs/examples/dualcore/chip.config', 'chip.flp': 'docs/examples/dualcore/chip.flp', 'chip.materials': 'docs/examples/dualcore/chip.materials',
          'power.ptrace': 'docs/examples/dualcore/power.ptrace', 'stack.stk': 'tests/fuzz/corpus/ice/stack.stk', 'ice.flp': 'tests/fuzz/corpus/ice/chip.flp',
          'accelwattch_power_report.log': 'tests/fuzz/corpus/accelwattch/report.log', 'v100.flp': 'floorplans/v100/v100.flp',
          'gpgpusim_power_trace_report.log.gz': 'tests/fuzz/corpus/accelwattch/trace.log', 'package.config': 'floorplans/v100/package.config',
          'my_policy.c': 'examples/my_policy.c'}
# Files whose bytes hold times of computing: what `thermix query` reads of a database counts, of a store of resumed runs nothing.
STORES = ('.journal',)


def statements(text):
    """Whole commands: a line, or as many as bash needs."""
    part = ''
    for line in text.splitlines():
        part += line + '\n'
        if not part.strip():
            part = ''
            continue
        check = subprocess.run(['bash', '-n'], input=part, capture_output=True, text=True)
        if check.returncode == 0 and not check.stderr and not line.endswith('\\'):
            yield part.rstrip('\n')
            part = ''
    if part.strip():
        yield part.rstrip('\n')


def blocks(page):
    """The commands of a page: blocks of sh, and indented ones that type thermix. A file that the page shows under its name (`# run.cfg`) is written first."""
    found = []
    for language, name, fenced, indented in re.findall(r'^```(\w*)\n(?:# (\w+\.cfg)\b)?(.*?)^```$|((?:^    +\S[^\n]*\n)+)', open(page, encoding='utf-8').read(),
                                                       re.S | re.M):
        if language == 'sh':
            found.append(fenced)
        elif name:
            found.insert(0, f"cat > {name} <<'C'\n#{fenced}C")
        elif re.search(r'^ +(cd .*&& )?thermix ', indented, re.M):
            found.append(textwrap.dedent(indented))
    return '\n'.join(found).replace('$(pkg-config --cflags thermix)', f'-I {project}/include').replace('cp -r /usr/share/thermix/', 'cp -rT ')


def of_cooling():
    """The page of examples/cooling gives one command for its folders, and the layer of each one's picture in a table."""
    page = open(project + '/examples/cooling/README.md', encoding='utf-8').read()
    lines = ['cp -rT "$EXAMPLES/cooling" cooling']
    for name, layer in re.findall(r'\| `(\w+)`: .* Layer (\d)', page):
        for line in re.findall(r'^    thermix .*', page, re.M):
            lines.append(f'( cd cooling/{name}; {line.split("#")[0].strip().replace("NAME", name).replace("LAYER", layer)} )')
    assert len(lines) >= 7, lines
    return '\n'.join(lines)


def of_help():
    env = dict(os.environ, ARGP_HELP_FMT='rmargin=1000')
    run = lambda *words: subprocess.run([thermix, *words], capture_output=True, text=True, env=env).stdout
    names = re.findall(r'^  ([a-z]+)  +\S', run('--help'), re.M)
    lines = []
    for name in names:
        text = run(name, '--help')
        examples = re.search(r'^Examples?:\n(.*)', text, re.S | re.M)
        lines += re.findall(r'^  (thermix (?:.*\\\n)*.*)$', examples.group(1), re.M) if examples else []
    assert len(lines) > 40, lines
    return '\n'.join(lines)


def collect():
    found = {}
    pages = [os.path.join(project, 'README.md')] + sorted(glob.glob(project + '/docs/*.md')) + sorted(glob.glob(project + '/examples/**/*.md', recursive=True))
    for page in pages:
        text = blocks(page)
        if re.search(r'^thermix ', text, re.M) and 'NAME' not in text:
            found[os.path.relpath(page, project)] = text
    for script in sorted(glob.glob(project + '/examples/gallery/*/run.sh')):
        name = os.path.basename(os.path.dirname(script))
        found['gallery/' + name] = f'bash {script} out/gallery/{name}'
    found['examples/cooling'] = of_cooling()
    found['help'] = ''
    return found


class Place:
    """An isolated folder, as a checkout looks from inside."""

    def __init__(self, root):
        self.root = root
        self.env = dict(os.environ, XDG_CACHE_HOME=root + '/.cache', PATH=root + '/.bin:' + os.environ['PATH'], HOME=root, DOCS=root + '/docs', EXAMPLES=project + '/examples', LC_ALL='C.UTF-8')
        os.makedirs(root + '/.bin')
        os.makedirs(root + '/out')
        with open(root + '/.bin/thermix', 'w') as f:
            f.write(WRAPPER)
        os.chmod(root + '/.bin/thermix', 0o755)
        for name in ('workloads', 'plots', 'systems', 'docs'):
            os.symlink(f'{project}/{name}', f'{root}/{name}')
        os.mkdir(root + '/floorplans') # a page adds a chip to it
        for name in os.listdir(project + '/floorplans'):
            os.symlink(f'{project}/floorplans/{name}', f'{root}/floorplans/{name}')
        for name, source in INPUTS.items(): # what the pages say that one has
            shutil.copy(f'{project}/{source}', f'{root}/{name}')
        with open(root + '/rows.csv', 'w', encoding='utf-8') as f:
            f.write('prompt_size,batch_size,token_size,prompt_time,token_time,tensor_parallel\n')
            for size in (128, 512, 2048):
                for batch in (1, 4, 16):
                    f.write(f'{size},{batch},128,{20 + size * batch / 50},{30 + batch / 4},8\n' * 2)
        with open(root + '/row.cfg', 'w', encoding='utf-8') as f:
            f.write('chip = "a100"; gpus = 320; seed = 1; tick_s = 1.0; quantum_s = 1.0; serve = { model = "llama2-70b"; tp = 8; heat = false;\n'
                    'requests = { file = "workloads/requests/azure_conv_2023.csv"; }; };\n')

    def start(self, line):
        return subprocess.Popen(['bash', '-euo', 'pipefail', '-c', line], cwd=self.root, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, errors='replace', start_new_session=True)

    def type(self, line):
        p = self.start(line)
        said = p.communicate()[1]
        return p.returncode, said.strip().splitlines()[-1:] or ['']

    def files(self):
        found = {}
        for folder, names, files in os.walk(self.root):
            names[:] = [n for n in names if not n.startswith('.')]
            for name in files:
                path = os.path.join(folder, name)
                short = os.path.relpath(path, self.root)
                if name.endswith(STORES) or os.path.islink(path):
                    continue
                if name.endswith('.sqlite'):
                    data = subprocess.run([thermix, 'query', path, '--format', 'csv'], capture_output=True, env=self.env, cwd=self.root).stdout
                else:
                    data = open(path, 'rb').read()
                found[short] = hashlib.sha256(data).hexdigest()
        return found


def differ(before, after):
    return sorted(f'{name} ({"gone" if name not in after else "new" if name not in before else "changed"})' for name in set(before) | set(after)
                  if before.get(name) != after.get(name))


def check(name, text):
    lines = [s for s in statements(text) if not s.lstrip().startswith('#') and not SKIP.search(s)]
    bad = []
    chance = random.Random(26)
    with tempfile.TemporaryDirectory() as root:
        place = Place(root)
        first, seconds = {}, {}
        for line in lines:
            begin = time.monotonic()
            first[line], said = place.type(line)
            seconds[line] = time.monotonic() - begin
            if first[line]:
                print(f'  exit {first[line]}: {line.splitlines()[0]}: {said[0][:150]}')
        whole = place.files()

        def code(line, got, how):
            if got != first[line]:
                bad.append(f'{how}: exit {got}, at first {first[line]}: {line}')

        def page(how):
            for line in lines:
                got, said = place.type(line)
                code(line, got, f'{how} {said[0]}')
            for change in differ(whole, place.files()):
                bad.append(f'{how}: {change}')

        page('twice')
        for line in lines: # each into the folders that it has just written
            if not line.startswith('thermix '):
                continue
            pair = [place.start(line), place.start(line)]
            for p in pair:
                said = p.communicate()[1].strip().splitlines()[-1:] or ['']
                code(line, p.returncode, f'two at once {said[0]}')
        page('after two at once')
        if not arg.quick:
            other = lines[:]
            chance.shuffle(other)
            for line in other:
                place.type(line)
            page('after another order')
            for line in lines:
                p = place.start(line)
                time.sleep(chance.uniform(0, 1.2 * seconds[line]))
                try:
                    os.killpg(p.pid, signal.SIGINT)
                except ProcessLookupError:
                    pass
                p.communicate()
            for path in (os.path.join(f, n) for f, _, names in os.walk(root) for n in names):
                if '.tmp-' in path:
                    bad.append(f'after Ctrl-C: {path} stays')
                elif path.endswith('/manifest.csv') and ',writing,' in open(path, encoding='utf-8', errors='replace').read():
                    bad.append(f'after Ctrl-C: {path} says that its files are being written')
            page('after Ctrl-C')
    print(f'{name}: {len(lines)} lines, {len([l for l in lines if first[l] == 0])} of exit 0, {sum(seconds.values()):.1f} s the first time')
    return [f'{name}: {b}' for b in bad]


found = collect()
unknown = [s for s in arg.source if s not in found]
if unknown:
    sys.exit(f'no commands in {", ".join(unknown)}; there are {", ".join(found)}')
if 'help' in (arg.source or found):
    found['help'] = of_help()
if arg.list:
    print('\n'.join(found[name] for name in arg.source or found))
    sys.exit()
bad = []
for name in arg.source or found:
    bad += check(name, found[name])
    sys.stdout.flush()
print('\n'.join(f'FAILED: {b}' for b in bad) or 'typed twice: the same')
sys.exit(1 if bad else 0)
