"""The question of bench/training, as programs for training data ask it: `training_ngrams.py FOLDER TEXTS`.

An item is found if a text has at least 0.7 of its sequences of eight words. All of the items' sequences are kept in
memory, and those of the first TEXTS texts looked up there.
"""

import collections
import itertools
import pathlib
import re
import sys
import time

LENGTH = 8
SHARE = 0.7
ESCAPED = re.compile(r"\\(.)")


def rows(path, fields):
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            *first, body = line.rstrip("\n").split("\t", fields - 1)
            yield *first, ESCAPED.sub(lambda match: {"n": "\n", "t": "\t", "r": "\r"}.get(match[1], match[1]), body)


def sequences(body):
    words = body.split()
    return {" ".join(words[i : i + LENGTH]) for i in range(len(words) - LENGTH + 1)}


def main(folder, texts):
    folder = pathlib.Path(folder)
    items = [(how, body) for _, how, body in rows(folder / "item.tsv", 3)]
    owners = collections.defaultdict(list)
    sizes = {}
    started = time.process_time()
    for number, (_, body) in enumerate(items):
        sizes[number] = len(found := sequences(body))
        for sequence in found:
            owners[sequence].append(number)
    found = set()
    characters = 0
    for _, body in itertools.islice(rows(folder / "corpus.tsv", 2), int(texts)):
        characters += len(body)
        shared = collections.Counter(number for sequence in sequences(body) for number in owners.get(sequence, ()))
        found.update(number for number, count in shared.items() if count >= SHARE * sizes[number])
    seconds = time.process_time() - started
    there = {int(item) for text, item in rows(folder / "hidden.tsv", 2) if int(text) < int(texts)}
    print(f"{LENGTH} words in Python, the first {texts} texts: {len(found & there) / len(there):.3f} found, "
          f"{len(found - there)} others, {seconds / characters * 1e8:.1f} s of processor time for 100 MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
