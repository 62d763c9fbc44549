# SPDX-License-Identifier: GPL-2.0-or-later
"""Domain definitions from libvirt's RELAX NG grammar: a random walk that visits chosen parts of it."""
import random
import re
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

import values

RNG = '{http://relaxng.org/ns/structure/1.0}'
DEEP = 14  # elements: below that, only what the grammar requires
FOCUS = ('element', 'attribute', 'value')


class NotAllowed(Exception):
    """The pattern matches nothing."""


class Element:
    """An element of a definition; its parts are attributes (name, value), elements and text (str)."""

    def __init__(self, name, ns, parts):
        self.name, self.ns, self.parts = name, ns, parts

    def text(self, ns=''):
        attrs, body = {}, []
        for part in self.parts:
            if isinstance(part, tuple):
                attrs.setdefault(*part)
            else:
                body.append(part.text(self.ns) if isinstance(part, Element) else escape(part))
        head = self.name + ''.join(f' {name}={quoteattr(value)}' for name, value in attrs.items())
        if self.ns != ns:
            head += f' xmlns={quoteattr(self.ns)}'
        return f'<{head}>{"".join(body)}</{self.name}>' if body else f'<{head}/>'


class Grammar:
    """The patterns of domain.rng and of what it includes."""

    def __init__(self, path):
        self.defines, self.start, self.seen = {}, None, set()
        self.focuses = []  # all elements, attributes and values, in the order of the files
        self.load(Path(path))
        self.bits = {id(node): 1 << n for n, node in enumerate(self.focuses)}
        self.below = {}
        self.close()

    def load(self, path):
        if path in self.seen:
            return
        self.seen.add(path)
        for node in ElementTree.parse(path).getroot():
            kind = self.prepare(node, '')
            if kind == 'include':
                self.load(path.parent / node.get('href'))
            elif kind == 'start':
                self.start = node
            elif kind == 'define':
                self.defines.setdefault(node.get('name'), []).append(node)

    def prepare(self, node, ns):
        """Give each pattern its namespace, and drop comments."""
        node.tag = node.tag.removeprefix(RNG)
        if node.tag in FOCUS:
            self.focuses.append(node)
        ns = node.get('ns', ns)
        node.set('ns', node.get('ns', '') if node.tag == 'attribute' else ns)
        for child in node:
            self.prepare(child, ns)
        return node.tag

    def close(self):
        """Compute which focuses are below each definition, until nothing is added."""
        changed = True
        while changed:
            changed = False
            for name, nodes in self.defines.items():
                reach = self.reach_of(nodes)
                changed |= reach != self.below.get(name, 0)
                self.below[name] = reach

    def reach_of(self, nodes):
        reach = 0
        for node in nodes:
            reach |= self.bits.get(id(node), 0) | self.reach_of(node)
            if node.tag == 'ref':
                reach |= self.below.get(node.get('name'), 0)
        return reach


class Walk:
    """One definition: @focuses are to be in it, as far as they go together."""

    def __init__(self, grammar, rng, focuses):
        self.grammar, self.rng = grammar, rng
        self.wanted = sum(grammar.bits[id(node)] for node in focuses)
        self.path, self.left = [], 0
        self.reached = 0

    def domain(self):
        self.left = self.rng.choice((15, 40, 90))  # optional elements
        parts = self.each(self.grammar.start)
        return parts[0].text()

    def leads(self, node):
        return self.grammar.reach_of([node]) & self.wanted if len(self.path) <= DEEP else 0

    def take(self, node, chance):
        """Whether an optional pattern is to be in the definition."""
        if self.leads(node):
            return True
        if chance < 1 and (len(self.path) > DEEP or self.left <= 0):
            return False
        return self.rng.random() < chance

    def each(self, node):
        parts = []
        for child in node:
            parts += self.walk(child)
        return parts

    def walk(self, node):
        return getattr(self, 'on_' + node.tag, self.each)(node)

    def on_text(self, _):
        return [values.text(self.rng, self.path)]

    def on_value(self, node):
        self.reach(node)
        return [node.text or '']

    def on_data(self, node):
        return [values.data(self.rng, self.path, node.get('type'),
                            {child.get('name'): child.text for child in node})]

    def on_empty(self, _):
        return []

    def on_notAllowed(self, _):
        raise NotAllowed

    def on_ref(self, node):
        name = node.get('name')
        own = values.named(self.rng, self.path, name)
        if own is not None and not self.leads(node):
            return [own]
        nodes = self.grammar.defines[name]
        if len(nodes) > 1:
            return self.choose(nodes, self.each)
        return self.each(nodes[0])

    def on_optional(self, node):
        if not self.take(node, 1 if node[0].get('name') in values.ALWAYS else values.chance(self.path)):
            return []
        return self.attempt(node)

    def attempt(self, node):
        try:
            return self.each(node)
        except NotAllowed:
            return []

    def on_zeroOrMore(self, node):
        parts, count = [], values.count(self.rng, self.path)
        if self.leads(node):
            count = max(count, 1)
        for _ in range(count):
            if self.take(node, 0.7):
                parts += self.attempt(node)
        return parts

    def on_oneOrMore(self, node):
        return self.each(node) + self.on_zeroOrMore(node)

    def on_choice(self, node):
        return self.choose(list(node), self.walk)

    def choose(self, nodes, walk):
        leading = [node for node in nodes if self.leads(node)]
        order = values.preferred(self.rng, self.path, nodes)
        self.rng.shuffle(leading)
        for node in leading[:1] + order:
            try:
                return walk(node)
            except NotAllowed:
                pass
        raise NotAllowed

    def on_interleave(self, node):
        """The parts of a child stay together: libxml2 rejects some mixtures that the grammar allows."""
        blocks = [self.walk(child) for child in node]
        if self.rng.random() < 0.5:
            self.rng.shuffle(blocks)
        return [part for block in blocks for part in block]

    def reach(self, node):
        bit = self.grammar.bits[id(node)]
        self.reached |= bit
        self.wanted &= ~bit

    def on_element(self, node):
        if node.get('name') is None:
            return [values.foreign(self.rng, Element)]
        self.reach(node)
        self.left -= 1
        self.path.append(node.get('name'))
        try:
            parts = self.each(node)
            if node.get('name') == 'metadata' and not parts:  # detach removes an empty one
                parts = [values.foreign(self.rng, Element)]
            return [Element(node.get('name'), node.get('ns'), parts)]
        finally:
            self.path.pop()

    def on_attribute(self, node):
        name = node.get('name')
        if name is None:
            return []
        self.path.append('@' + name)
        try:
            own = None if self.leads(node) & ~self.grammar.bits[id(node)] else \
                values.attribute(self.rng, self.path)
            text = own if own is not None else ''.join(self.each(node) or self.on_text(node))
        finally:
            self.path.pop()
        self.reach(node)
        return [(name, text)]


def definition(grammar, seed, number, total):
    """Definition @number of @total: together they visit all focuses. Returns its text and what it visits."""
    order = list(grammar.focuses)
    random.Random(seed).shuffle(order)
    walk = Walk(grammar, random.Random(f'{seed} {number}'), order[number::total])
    for _ in range(20):
        try:
            return walk.domain(), walk.reached
        except NotAllowed:
            pass
    raise SystemExit(f'the grammar allows no definition {number}')

