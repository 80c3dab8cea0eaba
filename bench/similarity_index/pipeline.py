"""What pipelines find and cost, in Markdown: `pipeline.py TEXTS RELATED SEED FOLDER MADE`.

TEXTS and RELATED are what change.py wrote. FOLDER has, for a collection C and a kind K of texts, what pipeline.sql made
(ours.C.K.scores.csv and ours.C.K.seconds.csv), and what minhash_lsh.py made (lsh.C.K.…), where that was run. MADE says
when and where.
"""

import collections
import csv
import os
import re
import sys

import numpy as np
from evaluate import CHANGES, Group, header, line
from scipy import sparse

RATE = 10
BYTES = {"stored": 8 + 24 + 4 * 128, "lsh": 4 * 128}
# Exact resemblance is measured for one original of this many.
SAMPLE = 4
INTRODUCTION = """
## Pipelines: candidates and a second look

All texts of a collection are in one table, originals and changed copies. A pipeline finds its near pairs:

- **Ours** stores `simhash(body)`, 8 bytes a row. A near join finds the pairs within a radius. For the texts in
  these pairs a second look is made, in the same statement, and compared pair by pair. *n bins* is
  `minhash(body, n, 'doc2')`; *winnow* and *manber* are `winnow_sketch(body, 16, 8)` and `manber_sketch(body, 12, 3)`;
  *all features* are the hashes of `simhash_features`. *Stored* keeps 128 bins in the table instead.
- **datasketch** and **rensa** are packages of Python. A feature is two or five consecutive words, of lower case and
  without punctuation. Both make MinHash signatures of 128 values, look candidates up by bands, and compare signatures.
  Five words and threshold 0.7 are what the package text-dedup takes by default; it has 250 values, and compares nothing.
- **Exact resemblance** compares all pairs of originals, and a quarter of the changed texts with their originals.
  Features are words and pairs of words.

A changed text is found if the pair of it and its original is found. A false pair is one of two unrelated originals. All
other pairs cost time, but do not count. Each pipeline's second look has the lowest threshold at which at most 10 of a
million unrelated pairs are false; where nothing is compared, all candidates count. *Precision* is the share of found
pairs of changed texts and originals in these and false pairs. ± is the standard error from 100 resamples.
Seconds are processor time of one core, with the making of features. Loading the texts is not in them. *Fingerprints*
are signatures, too, where they are stored. The last sentence has the time of the pairs within 14 bits by a join through
an index, without that of building it."""


def read_scores(file, ours):
    """For each pipeline its pairs: changes, numbers of both originals, scores. Ours is there once for each radius."""
    rows = collections.defaultdict(list)
    with open(file, newline="", encoding="utf-8") as lines:
        for row in csv.reader(lines):
            if not ours:
                rows[row[0]].append((row[1], int(row[2]), int(row[3]), float(row[4])))
                continue
            name, change, first, second, distance, score = row
            pair = change, int(first), int(second), float(score or 0)
            for radius in range(14, 21, 2):
                if int(distance) <= radius:
                    rows[name, radius].append(pair)
                    rows["fingerprint", radius].append((*pair[:3], 1.0))
    return {name: [np.array(column) for column in zip(*set(pairs))] for name, pairs in rows.items()}


def threshold_at(rate, scores, weights, pairs):
    """The lowest score down to which the weights of false pairs stay at the rate in a million, and that weight."""
    order = np.argsort(-scores)
    false = np.cumsum(weights[order]) * 1e6 / pairs
    # Equal scores stand or fall together.
    last = np.append(scores[order][1:] != scores[order][:-1], True) if len(scores) else np.array([], bool)
    ends = np.flatnonzero(last & (false <= rate))
    exceeded = np.any(false > rate)
    if not exceeded:
        return -1.0, false[-1] if len(false) else 0.0
    return (scores[order][ends[-1]], false[ends[-1]]) if len(ends) else (2.0, 0.0)


def quality(group, scored, kind, rate, numbers):
    """The threshold, the share found of each change and of all with errors, false pairs in a million, precision, F1."""
    changes, first, second, scores = scored
    is_false = changes == ""
    rows = []
    for weights in group.weights:
        weighed = (weights[first] * weights[second])[is_false]
        limit, false = threshold_at(rate, scores[is_false], weighed, group.pairs)
        found = [np.sum(weights[first[(changes == change) & (scores >= limit)]]) for change in CHANGES[kind]]
        shares = np.array(found + [np.mean(found)]) / weights[numbers].sum()
        # As if all numbers had been looked at.
        true = np.sum(found) * weights.sum() / weights[numbers].sum()
        wrong = false * group.pairs / 1e6
        precision = true / max(true + wrong, 1)
        f1 = 2 * precision * shares[-1] / max(precision + shares[-1], 1e-9)
        rows.append([*100 * shares, limit, false, 100 * precision, 100 * f1])
    rows = np.array(rows)
    return rows[0], rows[1:].std(axis=0, ddof=1)


def exact(texts, kind, group):
    """The resemblance of unrelated originals, where it is not small, and of changed texts with their originals."""
    word = re.compile(r"\w+")

    def features(text):
        words = word.findall(text.lower())
        return np.unique(np.fromiter(map(hash, words + list(zip(words, words[1:]))), np.int64))

    originals = [features(text) for text in texts["none"]]
    size = np.array([len(f) for f in originals])
    columns = np.unique(np.concatenate(originals), return_inverse=True)[1]
    matrix = sparse.csr_matrix((np.ones(len(columns), np.int32), columns, np.append(0, np.cumsum(size))))
    pairs = []
    for start in range(0, len(originals), 500):
        rows = slice(start, start + 500)
        shared = (matrix[rows] @ matrix.T).toarray()
        resemblance = shared / (size[rows, None] + size - shared)
        resemblance[group.ignored[rows]] = 0
        a, b = np.nonzero(resemblance > 0.1)
        pairs += zip([""] * len(a), a + start, b, resemblance[a, b])
    for change in CHANGES[kind]:
        for number in range(0, len(originals), SAMPLE):
            changed = features(texts[change][number])
            shared = len(np.intersect1d(changed, originals[number], assume_unique=True))
            pairs.append((change, number, number, shared / (len(changed) + size[number] - shared)))
    return [np.array(column) for column in zip(*pairs)]


def read_seconds(file):
    with open(file, newline="", encoding="utf-8") as lines:
        return list(csv.reader(lines))


def our_costs(file):
    """By pipeline: bytes a row, and the seconds of fingerprints, candidates and second look."""
    seconds = {(step, radius, look): float(took) for step, radius, look, _, took in read_seconds(file)}
    costs = {}
    for (step, radius, look), took in seconds.items():
        if step == "candidates":
            costs["fingerprint", int(radius)] = 8, seconds["fingerprints", "", ""], took, 0
        if step == "recipe":
            made = seconds["fingerprints", "", ""] + (seconds["signatures", "", ""] if look == "stored" else 0)
            candidates = seconds["candidates", radius, ""]
            costs[look, int(radius)] = BYTES.get(look, 8), made, candidates, max(took - candidates, 0)
    return costs


def their_costs(file):
    seconds = collections.defaultdict(dict)
    for name, step, _, took in read_seconds(file):
        seconds[name][step] = float(took)
    return {name: (BYTES["lsh"], s["features"] + s["signatures"], s["candidates"], s["second look"]) for name, s in seconds.items()}


def row(title, cost, measured, kind):
    values, errors = measured
    count = len(CHANGES[kind]) + 1
    shares = [f"{value:.1f}" for value in values[: count - 1]] + [f"{values[count - 1]:.1f} ± {errors[count - 1]:.1f}"]
    limit, false, precision, f1 = values[count:]
    cells = ["all" if limit < 0 else f"{limit:.2f}", *shares, f"{false:.1f}", f"{precision:.2f}", f"{f1:.1f}"]
    if cost:
        cells += [str(cost[0]), *[f"{seconds:.2f}" for seconds in cost[1:]], f"**{sum(cost[1:]):.2f}**"]
    line([title, *cells] + [""] * (5 * (not cost)))


def report(collection, kind, texts, group, folder):
    print(f"\n### Collection {collection}, {kind}: {len(texts['none']) * (len(CHANGES[kind]) + 1):,} texts")
    header(["pipeline", "threshold", *[f"{change}, %" for change in CHANGES[kind]], "all, %", "false in a million", "precision, %",
            "F1, %", "bytes a row", "fingerprints, s", "candidates, s", "second look, s", "total, s"])
    numbers = np.arange(len(texts["none"]))
    path = os.path.join(folder, "{}." + f"{collection}.{kind}." + "{}.csv")
    scores = read_scores(path.format("ours", "scores"), True)
    costs = our_costs(path.format("ours", "seconds"))
    for (look, radius), cost in sorted(costs.items(), key=lambda item: (item[0][0] != "fingerprint", item[0])):
        scored = scores["128 bins" if look == "stored" else look, radius]
        rate = np.inf if look == "fingerprint" else RATE
        name = "fingerprint alone" if look == "fingerprint" else f"fingerprint, then {look}"
        row(f"{name}, radius {radius}", cost, quality(group, scored, kind, rate, numbers), kind)
    if os.path.exists(path.format("lsh", "scores")):
        scores = read_scores(path.format("lsh", "scores"), False)
        costs = their_costs(path.format("lsh", "seconds"))
        for name, cost in costs.items():
            row(f"{name}, nothing compared", (*cost[:3], 0), quality(group, scores[name], kind, np.inf, numbers), kind)
            row(f"{name}, compared", cost, quality(group, scores[name], kind, RATE, numbers), kind)
    row("exact resemblance of all pairs", None, quality(group, exact(texts, kind, group), kind, RATE, numbers[::SAMPLE]), kind)
    (join,) = [float(took) for step, *_, took in read_seconds(path.format("ours", "seconds")) if step == "join"]
    print(f"\nPairs within 14 by a join: {join:.2f} s.")


def main(texts_file, related_file, seed, folder, made):
    csv.field_size_limit(sys.maxsize)
    texts = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(texts_file, newline="", encoding="utf-8") as rows:
        for _, collection, kind, change, _, text in csv.reader(rows):
            texts[collection, kind][change].append(text)
    related = collections.defaultdict(list)
    with open(related_file, newline="") as rows:
        for collection, kind, a, b in csv.reader(rows):
            related[collection, kind].append((int(a), int(b)))
    print(INTRODUCTION)
    print(f"\nThis part was {made}")
    for (collection, kind), those in texts.items():
        if os.path.exists(os.path.join(folder, f"ours.{collection}.{kind}.seconds.csv")):
            group = Group(len(those["none"]), related[collection, kind], int(seed))
            report(collection, kind, those, group, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
