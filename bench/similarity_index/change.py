"""Changes texts in many ways: `change.py ORIGINALS TEXTS RELATED SEED`.

ORIGINALS has collection and text, as CSV. TEXTS gets the originals and the changed copies, as CSV: id, collection,
kind (documents, paragraphs or sentences), change, number of the original, text. RELATED gets the pairs of originals
that resemble each other although nobody changed them: collection, kind, number, number.
"""

import csv
import random
import re
import sys

import numpy as np

# Thai, Lao, Burmese, Khmer, kana and Han are written without blanks: there, each character with its marks counts as a word.
ALONE = "\u0e01-\u0edf\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
THEIR_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3\u3099\u309a"
MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0dff"
WORD = re.compile(f"[a-zA-Z0-9_]+(?![^\\W{ALONE}]|[{MARKS}])|[{ALONE}][{THEIR_MARKS}]*|(?:[^\\W{ALONE}]|[{MARKS}])+")


def words(text):
    """The text in pieces: a word with what follows it, up to the next word."""
    text += "\n"
    starts = [word.start() for word in WORD.finditer(text)]
    return [text[a:b] for a, b in zip([0] + starts[1:], starts[1:] + [len(text)])]


def plain_words(text):
    """Words without numbers: those do not make a page another one."""
    return [word for word in WORD.findall("".join(text).lower()) if not word.isdigit()]


def piece(text, most):
    """Where a piece of 1 to `most` percent begins and ends."""
    size = min(max(int(len(text) * random.uniform(0.01, most / 100)), 1), len(text) - 1)
    start = random.randint(0, len(text) - size)
    return start, start + size


def deleted(text, others, most=80):
    start, end = piece(text, most)
    return text[:start] + text[end:]


def inserted(text, others):
    """A piece of the same document, anywhere."""
    start, end = piece(text, 80)
    at = random.randint(0, len(text))
    return text[:at] + text[start:end] + text[at:]


def replaced(text, others):
    """Each word by a word of the collection, with a probability of 5 to 30 %. What follows the word stays."""

    def other():
        return WORD.search(random.choice(random.choice(others)))[0]

    share = random.uniform(0.05, 0.30)
    return [WORD.sub(lambda _: other(), word) if random.random() < share else word for word in text]


def shuffled(text, others):
    """Blocks of 30 to 120 words in another order."""
    ends = [0]
    while ends[-1] < len(text):
        ends.append(ends[-1] + random.randint(30, 120))
    blocks = [text[a:b] for a, b in zip(ends, ends[1:])]
    random.shuffle(blocks)
    return sum(blocks, [])


def framed(text, others):
    """The first and the last 30 to 150 words of another document as header and footer."""
    other = random.choice(others)
    return other[: random.randint(30, 150)] + text + other[-random.randint(30, 150) :]


def halved(text, others):
    return deleted(text, others, 50)


def extended(text, others):
    """Up to half as much of another document before or behind it."""
    start, end = piece(text, 50)
    other = random.choice(others)
    at = random.randint(0, max(len(other) - (end - start), 0))
    added = other[at : at + end - start]
    return random.choice([added + text, text + added])


def part(least, most):
    def of(text):
        size = min(random.randint(least, most), len(text))
        start = random.randint(0, len(text) - size)
        return text[start : start + size]

    return of


SHORT = {"deleted": halved, "added": extended, "replaced": replaced}
KINDS = {
    "documents": (list, {"inserted": inserted, "deleted": deleted, "replaced": replaced, "shuffled": shuffled, "framed": framed}),
    "paragraphs": (part(50, 200), SHORT),
    "sentences": (part(5, 30), SHORT),
}


def related(texts):
    """Pairs of texts that have 0.3 or more of their triples of plain words in common."""
    triples = []
    for text in texts:
        plain = plain_words(text)
        triples.append(np.unique(np.fromiter(map(hash, zip(plain, plain[1:], plain[2:])), np.int64)))
    size = np.array([len(t) for t in triples])
    owner = np.repeat(np.arange(len(texts)), size)
    triple = np.concatenate(triples)
    order = np.lexsort((owner, triple))
    owner = owner[order]
    triple = triple[order]
    shared = np.zeros((len(texts), len(texts)), np.int32)
    # Owners of the same triple stand side by side: first neighbours are counted, then those two steps apart, and so on.
    first = np.arange(len(triple))
    step = 1
    while len(first):
        first = first[first + step < len(triple)]
        first = first[triple[first] == triple[first + step]]
        np.add.at(shared, (owner[first], owner[first + step]), 1)
        step += 1
    return np.argwhere(shared >= np.maximum(0.3 * (size[:, None] + size - shared), 1))


def main(originals, texts, pairs, seed):
    random.seed(int(seed))
    csv.field_size_limit(sys.maxsize)
    collections = {}
    with open(originals, newline="", encoding="utf-8") as rows:
        for collection, text in csv.reader(rows):
            text = words(text)
            if len(plain_words(text)) >= 60:
                collections.setdefault(collection, []).append(text)
    with open(texts, "w", newline="", encoding="utf-8") as texts, open(pairs, "w", newline="") as pairs:
        texts = csv.writer(texts)
        pairs = csv.writer(pairs)
        id = 0
        for collection, documents in sorted(collections.items()):
            for kind, (cut, changes) in KINDS.items():
                distinct = {"".join(text): text for text in map(cut, documents)}
                for change, how in {"none": lambda text, others: text, **changes}.items():
                    for number, text in enumerate(distinct.values()):
                        texts.writerow([id, collection, kind, change, number, "".join(how(text, documents))])
                        id += 1
                pairs.writerows([collection, kind, a, b] for a, b in related(distinct.values()))


main(*sys.argv[1:])
