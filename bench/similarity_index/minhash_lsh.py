"""Near pairs by others' MinHash-LSH of 128 values: `minhash_lsh.py TEXTS RELATED COLLECTION KIND SCORES SECONDS`.

TEXTS and RELATED are what change.py wrote. SCORES gets the pairs that count, as pipeline.sql says: pipeline, change, number
of both originals, resemblance by the signatures. SECONDS gets the time of each step on one core: pipeline, step, pairs,
seconds. A look-up by bands finds candidates, and the second look compares their signatures.
"""

import csv
import itertools
import re
import sys
import time

import rensa
from datasketch import MinHash, MinHashLSH

WORD = re.compile(r"\w+")
VALUES = 128
CHUNK = 256
# Words in a feature, and the thresholds for which datasketch chooses bands; for rensa the number of bands.
# Five words and 0.7 is what text-dedup does.
DATASKETCH = [(5, [0.7, 0.5]), (2, [0.5, 0.3])]
RENSA = [(2, [16, 32])]


def features(text, length):
    words = WORD.findall(text.lower())
    return {" ".join(words[i : i + length]) for i in range(max(len(words) - length + 1, 1))}


class Clock:
    """Adds up processor time by step."""

    def __init__(self):
        self.seconds = {}

    def run(self, step, work, *arguments):
        start = time.process_time()
        result = work(*arguments)
        self.seconds[step] = self.seconds.get(step, 0) + time.process_time() - start
        return result


def with_datasketch(clock, texts, length):
    signatures = []
    for first in range(0, len(texts), CHUNK):
        chunk = texts[first : first + CHUNK]
        sets = clock.run("features", lambda: [[feature.encode() for feature in features(text, length)] for text in chunk])
        signatures += clock.run("signatures", lambda: MinHash.bulk(sets, num_perm=VALUES))
    return signatures


def datasketch_candidates(signatures, threshold):
    index = MinHashLSH(threshold=threshold, num_perm=VALUES)
    for key, signature in enumerate(signatures):
        index.insert(key, signature, check_duplication=False)
    return [(a, b) for a, signature in enumerate(signatures) for b in index.query(signature) if a < b]


def with_rensa(clock, texts, length):
    signatures = []
    for first in range(0, len(texts), CHUNK):
        chunk = texts[first : first + CHUNK]
        sets = clock.run("features", lambda: [list(features(text, length)) for text in chunk])
        signatures += clock.run("signatures", lambda: rensa.RMinHash.from_token_sets(sets, num_perm=VALUES, seed=1))
    return signatures


def rensa_candidates(signatures, bands):
    index = rensa.RMinHashLSH(threshold=0.5, num_perm=VALUES, num_bands=bands)
    index.insert_many(signatures)
    return [(a, b) for a, found in enumerate(index.query_all(signatures)) for b in found if a < b]


def main(texts_file, related_file, collection, kind, scores_file, seconds_file):
    csv.field_size_limit(sys.maxsize)
    with open(texts_file, newline="", encoding="utf-8") as rows:
        rows = [row for row in csv.reader(rows) if row[1:3] == [collection, kind]]
    with open(related_file, newline="") as pairs:
        related = {(int(a), int(b)) for c, k, a, b in csv.reader(pairs) if (c, k) == (collection, kind)}
    changes = [row[3] for row in rows]
    numbers = [int(row[4]) for row in rows]
    texts = [row[5] for row in rows]

    def counts(a, b):
        first, second = sorted((numbers[a], numbers[b]))
        if first == second:
            return "none" in (changes[a], changes[b])
        return changes[a] == changes[b] == "none" and (first, second) not in related

    kinds = [("datasketch, {} words, threshold {}", with_datasketch, datasketch_candidates, DATASKETCH)]
    kinds.append(("rensa, {} words, {} bands", with_rensa, rensa_candidates, RENSA))
    with open(scores_file, "w", newline="") as scores, open(seconds_file, "w", newline="") as seconds:
        scores = csv.writer(scores)
        seconds = csv.writer(seconds)
        for name, sign, candidates, settings in kinds:
            for length, thresholds in settings:
                clock = Clock()
                signatures = sign(clock, texts, length)
                for threshold in thresholds:
                    pipeline = name.format(length, threshold)
                    found = clock.run("candidates", candidates, signatures, threshold)
                    similar = clock.run("second look", lambda: [signatures[a].jaccard(signatures[b]) for a, b in found])
                    for (a, b), score in zip(found, similar):
                        if counts(a, b):
                            change = (changes[a] + changes[b]).replace("none", "")
                            scores.writerow([pipeline, change, numbers[a], numbers[b], score])
                    for step in ["features", "signatures", "candidates", "second look"]:
                        seconds.writerow([pipeline, step, len(found), clock.seconds[step]])
                    del clock.seconds["candidates"], clock.seconds["second look"]


if __name__ == "__main__":
    main(*sys.argv[1:])
