# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of a page of the documentation that run-page executes.

page.py steps PAGE DIR    write each step of PAGE into DIR: NNN.simulate, NNN.run, NNN.file or NNN.command
page.py check PAGE DIR    compare the output below each command with DIR/NNN.output
page.py update PAGE DIR   rewrite the output below each command that differs
"""
import difflib
import re
import sys
from pathlib import Path

# What follows a prompt; output may begin with "# ", too.
PROMPT = re.compile(r'[#$] (vfctl|virsh|cat|ls|sed|grep|jq|qemu-img|diff|rm|mkdir|for)\b')
MARK = re.compile(r'\s*<!-- (simulate|run|file): (.*) -->$')


def parse(lines):
    """Yield (kind, argument, first line, line after the last line) of each step."""
    at, file = 0, None
    while at < len(lines):
        mark = MARK.match(lines[at])
        if mark and mark[1] == 'file':
            file = mark[2]
        elif mark:
            yield mark[1], mark[2], at, at + 1
        fence = re.match(r'( *)```(\w*)$', lines[at])
        if not fence:
            at += 1
            continue
        end = next(n for n in range(at + 1, len(lines)) if lines[n].strip() == '```')
        indent = len(fence[1])
        body = [line[indent:] for line in lines[at + 1:end]]
        if file:
            yield 'file', file + '\n' + '\n'.join(body) + '\n', at + 1, end
        elif fence[2] == 'console':
            yield from commands(body, at + 1)
        file = None
        at = end + 1


def commands(body, first):
    at = 0
    while at < len(body):
        command = body[at][2:]
        assert PROMPT.match(body[at]), f'line {first + at + 1}: a block begins with a command'
        at += 1
        while command.endswith('\\'):
            command = command[:-1] + body[at].lstrip().removeprefix('> ')
            at += 1
        start = at
        while at < len(body) and not PROMPT.match(body[at]):
            at += 1
        yield 'command', command, first + start, first + at


def settle(line):
    """The line without what differs from run to run; "..." stays."""
    line = re.sub(r'\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b', 'UUID', line)
    line = re.sub(r'\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ', 'TIME', line)
    return re.sub(r'\b(pid|process) \d+', r'\1 N', line)


def pattern(line):
    return '.*'.join(re.escape(part) for part in line.split('...'))


def fits(want, got):
    """Whether the lines got are as want, where "..." is any text, and as a line any lines."""
    want = [settle(line) for line in want if line.strip()]
    got = [settle(line) for line in got if line.strip()]

    def match(w, g):
        while w < len(want):
            if want[w].strip() == '...':
                return any(match(w + 1, k) for k in range(g, len(got) + 1))
            if g == len(got) or not re.fullmatch(pattern(want[w]), got[g]):
                return False
            w, g = w + 1, g + 1
        return g == len(got)
    return match(0, 0)


def main():
    action, page, scratch = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    lines = page.read_text().split('\n')
    steps = list(parse(lines))
    if action == 'steps':
        for number, (kind, text, *_) in enumerate(steps):
            (scratch / f'{number:03}.{kind}').write_text(text)
        return 0
    bad = 0
    for number, (kind, text, start, end) in reversed(list(enumerate(steps))):
        if kind != 'command':
            continue
        indent = re.match(' *', lines[start - 1])[0]
        got = [line.rstrip() for line in (scratch / f'{number:03}.output').read_text().split('\n')]
        while got and not got[-1]:
            got.pop()
        want = [line.removeprefix(indent) for line in lines[start:end]]
        if fits(want, got):
            continue
        if action == 'update':
            lines[start:end] = [indent + line if line else line for line in got]
            print(f'{page}:{start}: rewritten: {text}')
        else:
            bad = 1
            print(f'{page}:{start}: {text}')
            print('\n'.join(difflib.unified_diff(want, got, 'page', 'output', lineterm='')))
    if action == 'update':
        page.write_text('\n'.join(lines))
    return bad


sys.exit(main())
