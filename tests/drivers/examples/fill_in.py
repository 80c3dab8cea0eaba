"""Usage: fill_in.py HEADING LANGUAGE FOLDER INTO   Copies a folder, with the examples of docs/clients.md filled in.

In its files, `@block 1@` stands for the first block under the heading, and `@block 0@` for the SQL that drivers need. `@unsigned@` and `@signed@` stand for the two
cells that the table of conversions has for the language.
"""

import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / 'docs' / 'clients.md'
BLOCK_LINE = re.compile(r'^( *).*@block (\d+)@.*\n', re.MULTILINE)


def section(page, heading):
    parts = re.split(r'^#+ (.*)$', page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))[heading]


def conversions(page, language):
    """The cells of the language: the unsigned number of `si`, and the signed one of `number`."""
    return re.search(rf'^\| {re.escape(language)} \| `(.*?)` \| (?:in SQL: )?`(.*?)` \|$', page, re.MULTILINE).groups()


def main():
    heading, language, folder, into = sys.argv[1:]
    page = PAGE.read_text(encoding='utf-8')
    sql, *blocks = (block for part in ('Drivers', heading) for block in
                    re.findall(r'^```\w+\n(.*?)^```', section(page, part), re.DOTALL | re.MULTILINE))
    unsigned, signed = conversions(page, language)
    unused = set(range(1, len(blocks) + 1))

    def block(line):
        number = int(line[2])
        unused.discard(number)
        return re.sub(r'^(?=.)', line[1], (sql, *blocks)[number], flags=re.MULTILINE)

    for file in Path(folder).rglob('*.*'):
        text = BLOCK_LINE.sub(block, file.read_text(encoding='utf-8'))
        copy = Path(into) / file.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text.replace('@unsigned@', unsigned).replace('@signed@', signed), encoding='utf-8')
    if unused:
        sys.exit(f'{heading}: no test runs block {min(unused)}')


main()
