"""What each fingerprint finds, in Markdown: `evaluate.py RELATED PLOTS SEED FINGERPRINTS...`.

RELATED is what change.py wrote. FINGERPRINTS are CSV files with a header: id, then a column for each scheme; the first
of them also says what the text of an id is. PLOTS gets the same for gnuplot.
"""

import collections
import csv
import itertools
import sys

import numpy as np

RATES = [10, 1]
RADII = range(21)
RESAMPLES = 100
CHANGES = {
    "documents": ["inserted", "deleted", "replaced", "shuffled", "framed"],
    "paragraphs": ["deleted", "added", "replaced"],
    "sentences": ["deleted", "added", "replaced"],
}
INTRODUCTION = """
## Which fingerprint finds what

Collection A has documents in English: manuals and reference pages. Collection B has help pages of LibreOffice in many
languages. A document has 60 words or more, and 1,000 to 60,000 bytes. A paragraph of 50 to 200 words and a sentence of
5 to 30 words were cut from each. These texts were changed in these ways:

- **inserted**: a piece of 1 to 80 % of the document is there a second time, anywhere.
- **deleted**: a piece of 1 to 80 % is gone; of paragraphs and sentences 1 to 50 %.
- **replaced**: each word is replaced by a word of the collection, with a probability of 5 to 30 %.
- **shuffled**: blocks of 30 to 120 words are in another order.
- **framed**: 30 to 150 words of another document are before the text, and as many behind it.
- **added**: a piece of another document, half as long or less, is before the text or behind it.

Originals are related if they have 0.3 or more of their triples of words in common; numbers do not count as words. All
other pairs of originals are unrelated. An unrelated pair within the radius is a false pair. A changed text is found if
it is within the radius of its original.

The tables *found at* have the radius at which 10, or 1, of a million unrelated pairs are false pairs. It has decimals,
because the shares found are interpolated between two radii, in the logarithm of the false pairs. After ± follows the
standard error, from 100 resamples of the texts. *None* means that too many unrelated texts have equal fingerprints.

The fingerprints of ClickHouse have 32 bits. Python's package got one of four changed texts, because it takes long.
The features of minhash are doc1's pairs of words."""


def read(files):
    """For each group of texts (collection, kind, change) and scheme, the fingerprints by number; None where a text has none."""
    groups = {}
    tables = [csv.DictReader(open(file, newline="", encoding="utf-8")) for file in files]
    described = ["id", "collection", "kind", "change", "number"]
    schemes = [name for table in tables for name in table.fieldnames if name not in described]
    for rows in itertools.zip_longest(*tables):
        assert len({row["id"] for row in rows}) == 1, "all files have the same texts in the same order"
        key = tuple(rows[0][name] for name in described[1:4])
        group = groups.setdefault(key, {scheme: {} for scheme in schemes})
        for row in rows:
            for scheme, value in row.items():
                if scheme not in described and value != "not measured":
                    group[scheme][int(rows[0]["number"])] = int(value) if value else None
    return groups, schemes


def parts(scheme, fingerprints):
    """A vector for each fingerprint; the product of two vectors is the number of bits that agree."""
    present = np.array([value is not None for value in fingerprints.values()])
    values = np.array([value or 0 for value in fingerprints.values()], np.int64)
    digits = values[:, None] >> np.arange(64) & 1
    vectors = digits[:, :, None] == np.arange(2)
    # What has no fingerprint agrees with nothing.
    return (vectors & present[:, None, None]).reshape(len(values), -1).astype(np.float32), 64


class Group:
    """Texts of one kind in one collection: which pairs do not count as false, and which texts are in which resample."""

    def __init__(self, size, related, seed):
        self.ignored = np.tri(size, dtype=bool)
        self.related = len(related)
        if related:
            a, b = np.array(related).T
            self.ignored[np.minimum(a, b), np.maximum(a, b)] = True
        self.pairs = self.ignored.size - np.count_nonzero(self.ignored)
        # How often each text is in a resample; the first one is the sample itself.
        drawn = np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), RESAMPLES)
        self.weights = np.concatenate([np.ones((1, size), np.int64), drawn])


def radius_at(rate, false):
    """The radius with so many false pairs, between two radii in the logarithm of these; -1 if there is none."""
    radius = np.searchsorted(false, rate, "right") - 1
    if radius < 0 or radius + 1 == len(false) or false[radius] == 0:
        return radius
    return radius + np.log(rate / false[radius]) / np.log(false[radius + 1] / false[radius])


def measure(group, scheme, originals, changed):
    """By radius: false pairs in a million, and the share found of each change. At each rate: the radius, and the shares with errors."""
    vectors, places = parts(scheme, originals)
    distance = (places - vectors @ vectors.T).astype(np.uint8)
    distance[group.ignored] = 255
    counts = np.cumsum(np.bincount(distance.ravel(), minlength=256)[: places + 1])
    false = counts * 1e6 / group.pairs
    # No resample has so many pairs that a larger radius would count.
    last = min(int(np.searchsorted(false, 8 * max(RATES))), places - 1)
    a, b = np.nonzero(distance <= last)
    near = np.zeros((len(group.weights), last + 1))
    for radius in range(last + 1):
        at = distance[a, b] == radius
        near[:, radius] = np.sum(group.weights[:, a[at]] * group.weights[:, b[at]], axis=1)
    near = np.cumsum(near, axis=1) * 1e6 / group.pairs
    found = {}
    shares = {rate: {} for rate in RATES}
    radii = {rate: [radius_at(rate, row) for row in near] for rate in RATES}
    for change, fingerprints in changed.items():
        numbers = list(fingerprints)
        own = places - np.sum(vectors[numbers] * parts(scheme, fingerprints)[0], axis=1)
        within = own[:, None] <= np.arange(-1, places + 1)
        found[change] = 100 * within[:, 1:].mean(axis=0)
        weights = group.weights[:, numbers]
        recall = 100 * weights @ within[:, : last + 3] / weights.sum(axis=1, keepdims=True)
        # With radius -1 nothing is found, not even what is equal.
        recall[:, 0] = 0
        for rate in RATES:
            at = [np.interp(r + 1, np.arange(recall.shape[1]), row) for r, row in zip(radii[rate], recall)]
            shares[rate][change] = at[0], np.std(at[1:], ddof=1)
    return false, found, {rate: radii[rate][0] for rate in RATES}, shares


def line(cells):
    print("|", " | ".join(cells), "|")


def header(cells):
    print()
    line(cells)
    print("|" + "---|" * len(cells))


def name(scheme):
    return f"**{scheme}**" if scheme == "doc2" else scheme


def short(n):
    return "0" if n == 0 else f"{n:.2f}" if n < 0.095 else f"{n:.1f}" if n < 9.95 else f"{n:,.0f}"


def print_shares(collection, rate, results, schemes):
    print(f"\n### Collection {collection}: found at {rate} false pair{'s' * (rate > 1)} in a million, %")
    for kinds in [["documents"], ["paragraphs", "sentences"]]:
        header(["fingerprint"] + [title for kind in kinds for title in [f"radius, {kind}"] + [
            change if kind == "documents" else f"{kind}, {change}" for change in CHANGES[kind]]])
        for scheme in schemes:
            cells = [name(scheme)]
            for kind in kinds:
                _, _, radii, shares = results[collection, kind, scheme]
                cells.append("none" if radii[rate] < 0 else f"{radii[rate]:.1f}")
                cells += ["{:.1f} ± {:.1f}".format(*shares[rate][change]) for change in CHANGES[kind]]
            line(cells)


def print_radii(title, by_scheme):
    print(f"\n### {title}, by radius")
    header(["radius"] + [str(radius) for radius in RADII])
    for scheme, values in by_scheme.items():
        line([name(scheme)] + [short(n) for n in values[: len(RADII)]])


def main(related_file, plots, seed, files):
    groups, schemes = read(files)
    related = collections.defaultdict(list)
    with open(related_file, newline="") as rows:
        for collection, kind, a, b in csv.reader(rows):
            related[collection, kind].append((int(a), int(b)))
    names = sorted({key[0] for key in groups})
    results = {}
    described = []
    for collection, kind in itertools.product(names, CHANGES):
        originals = groups[collection, kind, "none"]
        group = Group(len(originals[schemes[0]]), related[collection, kind], int(seed))
        described.append([collection, kind, f"{len(group.ignored):,}", f"{group.pairs / 1e6:,.1f}", f"{group.related:,}"])
        for scheme in schemes:
            changed = {change: groups[collection, kind, change][scheme] for change in CHANGES[kind]}
            results[collection, kind, scheme] = measure(group, scheme, originals[scheme], changed)
    print(INTRODUCTION)
    header(["collection", "kind", "texts", "million unrelated pairs", "related pairs"])
    for cells in described:
        line(cells)
    for collection, rate in itertools.product(names, RATES):
        print_shares(collection, rate, results, schemes)
    for collection in names:
        false = {scheme: results[collection, "documents", scheme][0] for scheme in schemes}
        print_radii(f"Collection {collection}: false pairs in a million pairs of documents", false)
        for change in ["inserted", "deleted", "replaced", "framed"]:
            found = {scheme: results[collection, "documents", scheme][1][change] for scheme in schemes}
            print_radii(f"Collection {collection}: found of the documents {change}, %", found)
    with open(plots, "w", encoding="utf-8") as file:
        for (collection, kind, scheme), (false, found, _, _) in results.items():
            for (change, shares), radius in itertools.product(found.items(), RADII):
                if radius < len(false):
                    numbers = [radius, round(false[radius], 4), round(shares[radius], 2)]
                    print(collection, kind, change, scheme, *numbers, sep="\t", file=file)


if __name__ == "__main__":
    main(*sys.argv[1:4], sys.argv[4:])
