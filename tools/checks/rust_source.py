"""Parses Rust files for the checks in this folder: finds functions and tests in a file, and files that contain tests."""

import re
from pathlib import Path

# Comments and literals, in which braces mean nothing, before what does mean something.
TOKEN = re.compile(
    r"""//[^\n]* | /\*.*?\*/
    | b?r(?P<hashes>\#*)".*?"(?P=hashes) | b?"(?:\\.|[^"\\])*" | b?'(?:\\[^']+|\\'|[^'\\\n])' | '\w+
    | (?P<test>\#\[cfg\((?:test|any\(test,[^]]*\))\)\]) | \bfn\s+(?P<name>\w+) | (?P<brace>[{}]) | (?P<bracket>[()\[\];])""",
    re.DOTALL | re.VERBOSE)


class Span:
    """A function, or an item under #[cfg(test)] or #[cfg(any(test, …))]: from its first token to the brace that closes it."""

    def __init__(self, name, start, depth, brackets):
        self.name = name
        self.start = start
        self.depth = depth
        self.brackets = brackets


def spans(source):
    """The name of each function (None: tests), and the offsets where it starts and ends."""
    waiting = []
    open_spans = []
    depth = 0
    brackets = 0
    for token in TOKEN.finditer(source):
        if token['test'] or token['name']:
            waiting.append(Span(token['name'], token.start(), depth, brackets))
        elif token['bracket'] in ('(', '['):
            brackets += 1
        elif token['bracket'] in (')', ']'):
            brackets -= 1
        elif token['bracket'] == ';':
            # A declaration without a body; a semicolon in brackets belongs to the type of an array.
            waiting = [span for span in waiting if (span.depth, span.brackets) != (depth, brackets)]
        elif token['brace'] == '{':
            open_spans += [span for span in waiting if (span.depth, span.brackets) == (depth, brackets)]
            waiting = [span for span in waiting if (span.depth, span.brackets) != (depth, brackets)]
            depth += 1
        elif token['brace'] == '}':
            depth -= 1
            yield from ((span.name, span.start, token.end()) for span in open_spans if span.depth == depth)
            open_spans = [span for span in open_spans if span.depth != depth]


def without_tests(source):
    """The source without its tests."""
    for start, end in reversed([(start, end) for name, start, end in spans(source) if name is None]):
        source = source[:start] + source[end:].removeprefix('\n')
    return source


def files(*folders):
    """The Rust files of the folders, but for those that are tests: in a folder `tests`, or under such an attribute where they are declared."""
    found = {path: path.read_text(encoding='utf-8') for folder in folders for path in Path(folder).rglob('*.rs') if 'tests' not in path.parts}
    for path, source in list(found.items()):
        folder = path.parent if path.stem in ('mod', 'lib') else path.with_suffix('')
        for name in re.findall(r'#\[cfg\((?:test|any\(test,[^]]*\))\)\]\s+(?:pub(?:\(\w+\))? )?mod (\w+);', source):
            found.pop(folder / f'{name}.rs', None)
    return dict(sorted(found.items()))


def without_comments(source):
    """The source without what follows //."""
    return TOKEN.sub(lambda token: '' if token[0].startswith('/') else token[0], source)
