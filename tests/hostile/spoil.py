#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways to spoil a file. Each maker yields (what, content, verdict): content is text or bytes; the verdict is LINE (must be
refused with file and line), FILE (must be refused) or SAFE (may be taken or refused, but in order)."""
import os
import random
import re
import sqlite3

LINE, FILE, SAFE = 'line', 'file', 'safe'


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
    """Texts in libconfig's syntax that no reader may take. Of what a list of many alike has again and again, the first two."""
    seen = {}
    for what, content, verdict in every_bad_config(text):
        seen[what] = seen.get(what, 0) + 1
        if seen[what] <= 2:
            yield what, content, verdict


def every_bad_config(text):
    for key, at, end in groups(text):
        name = re.match(r'\w+', text[key:]).group()
        others = {'{': ['5', '"x"', 'true', '[1, 2]', '((1))', '1.5'], '(': ['5', '{ z = 1; }', '"x"'],
                  '[': ['5', '{ z = 1; }', '"x"']}[text[at]]
        for o in others:
            yield f'{name} = {o}', text[:at] + o + text[end:], LINE
        if text[at] == '{':
            yield f'unknown key in {name}', text[:at + 1] + ' zzz = 1; ' + text[at + 1:], LINE
            yield f'{name} not closed', text[:end - 1], LINE
    for m in re.finditer(r'([A-Za-z_]\w*)\s*=\s*(-?[0-9][0-9.eE+-]*)\s*;', text):
        for o in ['"x"', '{ }', '[1]', '1e999', '99999999999999999999', '-1e301', 'nan', '12b', '0x', '1,5']:
            yield f'{m.group(1)} = {o}', text[:m.start(2)] + o + text[m.end(2):], LINE
        yield f'{m.group(1)} twice', text[:m.end()] + ' ' + m.group() + text[m.end():], LINE
    for m in re.finditer(r'([A-Za-z_]\w*)\s*=\s*("[^"\n]*")\s*;', text):
        if m.group(1) in ('doc', 'source'):
            continue
        for o in ['5', '{ }', '"\\x00"', '"open', '"' + 70000 * 'x' + '"', '"\x01"']:
            yield f'{m.group(1)} = {o[:12]}', text[:m.start(2)] + o + text[m.end(2):], LINE
    for m in re.finditer(r'\b(true|false)\b', text):
        for o in ['5', '"x"', '{ }']:
            yield f'{m.group()} -> {o}', text[:m.start()] + o + text[m.end():], LINE
    yield 'unknown key', text + '\nzzz = 1;\n', LINE
    yield 'nesting', text + '\nzzz = ' + 5000 * '(' + 5000 * ')' + ';\n', LINE
    yield 'a name of 1 MB', text + '\n' + (1 << 20) * 'k' + ' = 1;\n', LINE
    yield 'many keys', text + ''.join(f'k{i} = 1;\n' for i in range(100000)), LINE
    yield 'comment open', text + '\n/* ', LINE
    yield 'include of nothing', '@include "nowhere.cfg"\n' + text, LINE
    yield 'brackets', text + '\n}', LINE


def bad_numbers(text):
    """Numbers of tables and lists that are none."""
    plain = re.sub(r'#[^\n]*', lambda m: ' ' * len(m.group()), text)
    spots = list(re.finditer(r'(?<![\w.])-?\d+\.?\d*(?:[eE][-+]?\d+)?(?![\w.])', plain))
    random.Random(1).shuffle(spots)
    for m in spots[:8]:
        for o in ['abc', 'nan', '1e999', '1,5', '0x10']:
            yield f'{m.group()} -> {o}', text[:m.start()] + o + text[m.end():], LINE


def bad_bytes(path, text):
    """(what, function that puts it in place, verdict): what no text file may be."""
    def put(data):
        def f():
            with open(path, 'wb') as out:
                out.write(data)
        return f
    raw = text.encode()

    yield 'NUL', put(raw[:len(raw) // 2] + b'\0' + raw[len(raw) // 2:]), LINE
    yield 'UTF-16', put(text.encode('utf-16')), LINE
    yield 'noise', put(random.Random(2).randbytes(4096)), LINE
    yield from bad_kinds(path)


def bad_kinds(path):
    """What is there under the name but no file."""
    def other(make):
        def f():
            os.remove(path)
            make()
        return f
    yield 'folder', other(lambda: os.mkdir(path)), FILE
    yield 'FIFO', other(lambda: os.mkfifo(path)), FILE
    yield 'endless device', other(lambda: os.symlink('/dev/zero', path)), FILE
    yield 'link to itself', other(lambda: os.symlink(os.path.basename(path), path)), FILE
    yield 'absent', other(lambda: None), FILE


def lines_of(text):
    return text.splitlines(keepends=True)


def cells(text):
    """Spots of numbers outside comments, at most eight, the same each time."""
    plain = re.sub(r'#[^\n]*', lambda m: ' ' * len(m.group()), text)
    spots = list(re.finditer(r'(?<![\w.])-?\d+\.?\d*(?:[eE][-+]?\d+)?(?![\w.])', plain))
    random.Random(4).shuffle(spots)
    return spots[:8]


def bad_csv(text, verdict=LINE, header=0):
    """A table that a spreadsheet or a full disk has spoiled; header: index of the line with the names."""
    rows = lines_of(text)
    yield 'empty', '', FILE
    yield 'only line ends', '\n\n\n', FILE
    yield 'header only', ''.join(rows[:header + 1]), FILE
    names = rows[header].rstrip('\n').split(',')
    for k, name in enumerate(names):
        yield f'no column {name}', ''.join(rows[:header]) + ','.join(names[:k] + ['zz'] + names[k + 1:]) + '\n' + ''.join(rows[header + 1:]), SAFE
        yield f'column {name} twice', ''.join(rows[:header]) + ','.join([name] + names[1:]) + '\n' + ''.join(rows[header + 1:]) if k else text + '"\n', SAFE if k else verdict
    at = min(header + 2, len(rows) - 1)
    row = rows[at].rstrip('\n')
    for what, new in [('a cell too few', row.rsplit(',', 1)[0]), ('a cell too many', row + ',1'), ('quote open', row.replace(',', ',"', 1)),
                      ('semicolons', row.replace(',', ';')), ('a NUL', row.replace(',', ',\0', 1))]:
        yield what, ''.join(rows[:at]) + new + '\n' + ''.join(rows[at + 1:]), verdict
    for what, new in [('a row of 1 MB', (1 << 20) * 'x'), ('100000 cells', 100000 * ','), ('words', ','.join('abc' for _ in names)),
                      ('infinities', ','.join('inf' for _ in names)), ('decimal commas', re.sub(r'(\d)\.(\d)', r'\1,\2', row))]:
        yield what, ''.join(rows[:at]) + new + '\n' + ''.join(rows[at + 1:]), SAFE
    for m in cells(text):
        for o in ['abc', 'nan', '1e999', '-1e300', '0x10', '"', '1;5']:
            yield f'{m.group()} -> {o}', text[:m.start()] + o + text[m.end():], SAFE


def bad_log(text):
    """A measured log: much is let pass by intent (N/A, gaps), nothing may fall over."""
    for what, changed, _ in bad_csv(text):
        yield what, changed, SAFE
    rows = lines_of(text)
    yield 'backwards', rows[0] + ''.join(reversed(rows[1:])), SAFE
    yield 'one row', ''.join(rows[:2]), SAFE
    yield 'cut', text[:len(text) * 2 // 3], SAFE
    yield 'a million rows of noise', rows[0] + 20000 * 'x,y,z\n', FILE


def bad_ice(text):
    yield 'empty', '', FILE
    yield 'comment open', text + '/* ', LINE
    yield 'quote open', text.replace('"', '', 1) if text.count('"') > 1 else text + ' "', LINE
    for m in list(re.finditer(r';', text))[:6]:
        yield 'no semicolon', text[:m.start()] + text[m.end():], LINE
    for m in list(re.finditer(r'[A-Za-z]{3,}', text))[:14]:
        yield f'{m.group()} misspelt', text[:m.start()] + 'zzz' + text[m.start():], SAFE
    for m in cells(text):
        for o in ['abc', '-1', 'nan', '1e999', '1,5', '']:
            yield f'{m.group()} -> {o}', text[:m.start()] + o + text[m.end():], SAFE
    for line in [l for l in lines_of(text) if l.strip()][:6]:
        yield f'twice: {line.strip()[:30]}', text.replace(line, line + line, 1), SAFE
        yield f'without: {line.strip()[:30]}', text.replace(line, '', 1), SAFE


def bad_lines(text):
    """Formats of one thing a line: lines lost, doubled, cut, words in place of numbers."""
    rows = [r for r in lines_of(text)]
    yield 'empty', '', FILE
    yield 'cut in a line', text.rstrip('\n')[:-5], SAFE
    for k, row in enumerate(rows[:24]):
        if not row.strip() or row[0] == '#':
            continue
        yield f'without {row.strip()[:24]}', ''.join(rows[:k] + rows[k + 1:]), SAFE
        yield f'twice {row.strip()[:24]}', ''.join(rows[:k + 1] + rows[k:]), SAFE
        words = row.split()
        for w in range(min(len(words), 4)):
            for o in ['zzz', '-1', '99999999999999999999', 'nan', '(8,8)', '']:
                yield f'{words[w]} -> {o}', ''.join(rows[:k]) + ' '.join(words[:w] + [o] + words[w + 1:]) + '\n' + ''.join(rows[k + 1:]), SAFE
    yield 'a line of 1 MB', text + (1 << 20) * 'x' + '\n', SAFE


def bad_database(path):
    """A study's database that another program, a full disk or a stranger has written. SQL changes what is there."""
    whole = open(path, 'rb').read()
    sql = [
        ('a run without a state', "UPDATE run SET status = 'x'"),
        ('point far away', 'UPDATE point SET n = 2305843009213693950 WHERE n = 1'),
        ('point below 0', 'UPDATE point SET n = -1 WHERE n = 1'),
        ('point of no run', "UPDATE point SET run = 'nobody' WHERE n = 0"),
        ('a text for a number', "UPDATE metric SET value = 'warm'"),
        ('infinity', 'UPDATE metric SET value = 9e999'),
        ('a long id', "UPDATE run SET id = id || 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'"),
        ('no metric', 'DELETE FROM metric'), ('no point', 'DELETE FROM point'), ('no run', 'DELETE FROM run'),
        ('no study', 'DELETE FROM study'), ('no parameter', 'DELETE FROM parameter'),
        ('no table metric', 'DROP TABLE metric'), ('no table point', 'DROP TABLE point'), ('no table study', 'DROP TABLE study'),
        ('an axis of 1 MB', "UPDATE study SET value = replace(hex(zeroblob(500000)), '0', 'k') WHERE key LIKE '%ax%'"),
        ('blobs', "UPDATE study SET value = x'00ff00'"), ('blobs as parameters', "UPDATE parameter SET value = x'00ff'"),
        ('nulls', 'UPDATE parameter SET value = NULL'), ('another program', 'PRAGMA application_id = 7'),
        ('another version', 'PRAGMA user_version = 99'), ('a column more', 'ALTER TABLE run ADD COLUMN zzz'),
        ('a name in a name', "UPDATE parameter SET key = 'a'';x', value = '<script>'"),
        ('a trigger', 'CREATE TRIGGER t AFTER UPDATE ON run BEGIN DELETE FROM metric; END'),
        ('a view beside', 'CREATE VIEW extra AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c'),
        ('a view for point', 'DROP TABLE point; CREATE VIEW point(n, run) AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)'
                             " SELECT x, 'r' FROM c"),
    ]
    for what, text in sql:
        with open(path, 'wb') as f:
            f.write(whole)
        db = sqlite3.connect(path)
        try:
            db.executescript('PRAGMA journal_mode = DELETE; ' + text)
            db.commit()
        except sqlite3.Error:
            pass
        db.close()
        spoiled = open(path, 'rb').read()
        if spoiled != whole:
            yield what, spoiled, FILE if what.startswith(('no table', 'another', 'a view for', 'point far', 'point below')) else SAFE
    with open(path, 'wb') as f:
        f.write(whole)
    yield 'empty', b'', FILE
    yield 'text', b'mix,policy\n', FILE
    yield 'head only', whole[:100], FILE
    for k in range(1, 8):
        yield f'cut at {k}/8', whole[:len(whole) * k // 8], SAFE
    rng = random.Random(5)
    for k in range(40):
        at = rng.randrange(len(whole))
        yield f'byte {at}', whole[:at] + bytes([whole[at] ^ (1 << rng.randrange(8))]) + whole[at + 1:], SAFE
    for k in range(10):
        at = 4096 * rng.randrange(max(1, len(whole) // 4096))
        yield f'page {at} zeroed', whole[:at] + bytes(4096) + whole[at + 4096:], SAFE
