# SPDX-License-Identifier: GPL-2.0-or-later
"""Values of domain definitions: as the grammar's patterns say, and so that vfctl has to read them."""
import re

try:
    from re import _parser as expressions
except ImportError:  # before Python 3.11
    import sre_parse as expressions

WORDS = ('a', 'guest-1', 'virtio', 'x y', 'a<b>&"c\'', 'ä', '/var/lib/a', '0', '17')
LETTERS = 'abXY01-_.'
NUMBERS = (0, 1, 1, 2, 2, 3, 4, 7, 8, 16, 64, 255, 1024, 65535, 4294967295)

# What vfctl accepts: the others are refused, and a few of them are enough.
ATTRIBUTES = {
    ('domain', '@type'): ('kvm', 'kvm', 'kvm', 'qemu'),
    ('type', '@arch'): ('x86_64',),
    ('type', '@machine'): ('q35', 'pc-q35-7.2'),
    ('controller', '@index'): tuple('0112345'),
    ('target', '@busNr'): ('64', '128', '200', '254'),
    ('cell', '@id'): ('0', '1'),
    ('sibling', '@id'): ('0', '1'),
    ('memory', '@unit'): ('KiB', 'MiB', 'gib', 'b', 'KB'),
}
NAMED = {
    'pciDomain': ('0', '0x0000'),
    'pciBus': ('0', '0', '0x00', '1', '0x01', '2', '0x3b'),
    'pciSlot': ('0', '0x00', '1', '0x02', '3', '0x1b', '0x1f', '31'),
    'pciFunc': ('0', '0x0', '1', '0x2', '7'),
    'cpuset': ('0', '1', '0-1', '0-3', '2-3', '0,2', '0-7,^1', '4-63'),
    'uint8': ('0', '1', '0x02', '0xff'),
    'uint16': ('0', '1', '0x0010', '0xffff'),
}
# Where the grammar has alternatives that vfctl refuses: the definition that is usual.
USUAL = {'oshvm', 'hvmx86', 'hvm'}
# Devices that vfctl reads, changes or counts, and their types.
LIKED = {'interface', 'hostdev', 'controller', 'hostdevsubsys', 'hostdevsubsyspci', 'pci'}
# vfctl refuses a template without devices, and libvirt always writes the element.
ALWAYS = {'devices'}
# The chance of an optional part, by the innermost element.
CHANCES = {'domain': 0.45, 'devices': 0.3, 'cpu': 0.4, 'cputune': 0.5, 'os': 0.3, 'address': 0.8}


def attribute(rng, path):
    pool = ATTRIBUTES.get(tuple(path[-2:]))
    return rng.choice(pool) if pool else None


def named(rng, path, name):
    pool = NAMED.get(name)
    return rng.choice(pool) if pool else None


def chance(path):
    inner = next((name for name in reversed(path) if name[0] != '@'), '')
    return CHANCES.get(inner, 0.3)


def count(rng, path):
    return rng.choice((0, 1, 2, 5, 9) if path and path[-1] == 'devices' else (0, 0, 1, 2))


def liked(node):
    name, kind = node.get('name'), node.find("attribute[@name='type']/value")
    return name in LIKED or kind is not None and kind.text in LIKED


def preferred(rng, path, nodes):
    """The alternatives in random order; a usual one first, or mostly one that vfctl has to look at."""
    order = list(nodes)
    rng.shuffle(order)
    if rng.random() < 0.6:
        order.sort(key=lambda node: not liked(node))
    order.sort(key=lambda node: node.get('name') not in USUAL)
    return order


def text(rng, path):
    if path[-1] == 'name' and 'domain' == path[-2]:
        return 'template'
    return rng.choice(WORDS)


def foreign(rng, element):
    """An element of another program, in <metadata>."""
    inner = element('part', 'urn:example:other', [('n', rng.choice(WORDS)), rng.choice(WORDS)])
    return element('other', 'urn:example:other', [inner] * rng.choice((0, 1, 2)))


def data(rng, path, kind, params):
    if 'pattern' in params:
        return matching(rng, params['pattern'], params)
    low = int(params.get('minInclusive', 1 if kind == 'positiveInteger' else 0))
    high = int(params.get('maxInclusive', 32767))
    if kind in ('int', 'integer', 'long', 'short') or kind.startswith('unsigned') or kind == 'positiveInteger':
        return str(rng.choice([n for n in NUMBERS if low <= n <= high] or [low]))
    return {'double': '1.5', 'NCName': 'name1', 'anyURI': 'http://example.org/a',
            'dateTime': '2024-01-02T03:04:05'}.get(kind) or text(rng, path)


def matching(rng, pattern, params):
    """A text that the pattern matches, within the limits of its type."""
    limits = int(params.get('minInclusive', -1 << 64)), int(params.get('maxInclusive', 1 << 64))
    parsed = expressions.parse(pattern)
    for _ in range(50):
        out = sample(rng, parsed)
        if not re.fullmatch(r'-?[0-9]+', out) or limits[0] <= int(out) <= limits[1]:
            return out
    return str(limits[0])


def sample(rng, parsed):
    return ''.join(SAMPLERS[str(op)](rng, argument) for op, argument in parsed)


def repeated(rng, argument):
    low, high, inner = argument
    return ''.join(sample(rng, inner) for _ in range(rng.randint(low, min(int(high), low + 3))))


def one_of(rng, items):
    if str(items[0][0]) == 'NEGATE':
        excluded = {chr(value) for op, value in items[1:] if str(op) == 'LITERAL'}
        return rng.choice([c for c in LETTERS if c not in excluded])
    op, value = rng.choice(items)
    if str(op) == 'RANGE':
        return chr(rng.randint(*value))
    return ' ' if str(op) == 'CATEGORY' else chr(value)


SAMPLERS = {
    'LITERAL': lambda rng, code: chr(code),
    'NOT_LITERAL': lambda rng, code: rng.choice([c for c in LETTERS if ord(c) != code]),
    'ANY': lambda rng, _: rng.choice(LETTERS),
    'IN': one_of,
    'BRANCH': lambda rng, argument: sample(rng, rng.choice(argument[1])),
    'SUBPATTERN': lambda rng, argument: sample(rng, argument[-1]),
    'MAX_REPEAT': repeated,
}
