# SPDX-License-Identifier: GPL-2.0-or-later
"""site.py SOURCE_DIR PAGES_DIR: copy docs/ for mkdocs, and the pages that stand elsewhere in the source tree."""
import os
import re
import shutil
import sys
from pathlib import Path

top, target = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
OUTSIDE = {'CONTRIBUTING.md': 'dev/contributing.md', 'NEWS.md': 'reference/news.md', 'tests/README.md': 'dev/tests.md'}


def place(path):
    """The place on the site of a file of the source tree; None for one that the site does not have."""
    name = str(path.relative_to(top))
    if name in OUTSIDE:
        return target / OUTSIDE[name]
    return target / path.relative_to(top / 'docs') if name.startswith('docs/') else None


def rewrite(source, page):
    def link(match):
        text, name, anchor = match[1], match[2], match[3] or ''
        if re.match(r'[a-z]+:', name) or not name:
            return match[0]
        to = (source.parent / name).resolve()
        there = place(to) if to.is_relative_to(top) else None
        if not there or to.is_dir():
            return text
        return f'[{text}]({os.path.relpath(there, page.parent)}{anchor})'
    return re.sub(r'(?<!!)\[([^\]\[]*)\]\(([^)\s#]*)(#[^)\s]*)?\)', link, source.read_text())


def copy(source):
    page = place(source)
    page.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix == '.md':
        page.write_text(rewrite(source, page))
    else:
        shutil.copy(source, page)


shutil.rmtree(target, ignore_errors=True)
for path in sorted((top / 'docs').rglob('*')):
    if path.is_file() and not path.is_relative_to(top / 'docs/man'):
        copy(path)
for name in OUTSIDE:
    copy(top / name)
