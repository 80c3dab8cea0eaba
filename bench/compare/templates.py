"""Texts that were made from templates, from texts to the rows that go: `templates.py RESULTS SOCKETS TEXTS DOCUMENTS`.

Half of the texts of bench/decision.py, whose sentences are those of TEXTS, are made from thirty templates, and a third are
versions of another one. Letters of one template differ in two names, and one of a hundred is a version of another one. *Found*
is the share of the versions that go, *false* the share of what goes that is no version.
"""

import csv
import hashlib
import pathlib
import sys

from corpus import CLUSTER, RARE, in_postgres, peers_of
from documents import sentences_of
from measure import COLUMNS, in_child, or_left_out, report

sys.path.append(str(pathlib.Path(__file__).parent.parent))
from decision import Generator  # noqa: E402

LETTER = "Dear customer, today we sent your order of {} and {}. It will reach you within three days."


def letters(count):
    """The texts, and whether each is a version: the letter before it, as a reminder."""
    name = lambda number, part: hashlib.md5(f"{number}{part}".encode()).hexdigest()
    for number in range(count):
        is_version = number % 100 == 99
        letter = LETTER.format(name(number - is_version, ""), name(number - is_version, "b"))
        yield ("Reminder! " if is_version else "") + letter, is_version


def main(results, sockets, files, count):
    with open(files) as names:
        sentences = sentences_of(names.read().splitlines())
    generated = ((" ".join(text.replace("\\", " ").split()), origin != number)
                 for number, _, _, origin, text in Generator(sentences, int(count)).lines())
    for data, rows in (("texts, half from thirty templates", generated), ("letters of one template", letters(int(count)))):
        texts, versions = zip(*rows)

        def line(peer, settings, gone, seconds, peak, size):
            right = sum(versions[number] for number in gone)
            with open(results, "a", newline="") as file:
                report(csv.DictWriter(file, COLUMNS), question="templates", data=f"{len(texts):,} {data}", peer=peer, settings=settings,
                       found=right / sum(versions), false=1 - right / max(len(gone), 1), build_s=seconds, peak_mb=peak, bytes=int(size))
            print(f"  {data}, {peer}: {len(gone)} gone, {right} right, {seconds:.1f} s", file=sys.stderr)

        radius = 18 if len(texts) < 100_000 else 14
        line("simhash_pg", f"radius {radius}, rare words <= {RARE}, COPY and all", *in_postgres(sockets, texts, radius, CLUSTER))
        for peer, settings, size, work in peers_of(texts):
            with or_left_out(peer):
                line(peer, settings, *in_child(work), size)


if __name__ == "__main__":
    main(*sys.argv[1:])
