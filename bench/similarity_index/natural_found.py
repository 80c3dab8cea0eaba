"""What is found of natural edits, in Markdown: `natural_found.py TEXTS CODES SEED [RATE]`.

TEXTS is what natural.py wrote. CODES are tab-separated, without a header: id, then a code in hexadecimal digits for
each column that the first line names; empty where a text has none. RATE is how many of a million unrelated pairs are
false (default 10).
"""

import collections
import csv
import sys

import numpy as np

RELATED = 0.3
csv.field_size_limit(1 << 30)


def bits_of(codes):
    """A row of bits for each code, and whether there is one."""
    size = max(map(len, codes)) // 2
    present = np.array([bool(code) for code in codes])
    data = np.frombuffer(b"".join(bytes.fromhex(code) if code else bytes(size) for code in codes), np.uint8)
    return np.unpackbits(data.reshape(len(codes), size), axis=1).astype(np.float32), present


def distances(one, other):
    """The distances of all pairs; those of texts without a code are beyond all others."""
    (a, has_a) = one
    (b, has_b) = other
    found = a.sum(1)[:, None] + b.sum(1)[None, :] - 2 * (a @ b.T)
    found[~has_a] = found[:, ~has_b] = a.shape[1] + 1
    return found.round().astype(np.int16)


def triples(text):
    words = [word for word in text.casefold().split() if any(map(str.isalpha, word))]
    return {tuple(words[at:at + 3]) for at in range(max(1, len(words) - 2))}


class Set:
    """Pairs of versions, unrelated pairs and hard negatives of one set."""

    def __init__(self, rows):
        self.sides = [[row for row in rows if row[3] == side] for side in "01"]
        families = [np.unique([row[4] for row in rows], return_inverse=True)[1].reshape(-1)]
        family = dict(zip((row[0] for row in rows), families[0]))
        a, b = (np.array([family[row[0]] for row in side]) for side in self.sides)
        self.size = len(a)
        own = np.eye(self.size, dtype=bool)
        self.hard = (a[:, None] == b[None, :]) & ~own
        self.unrelated = ~self.hard & ~own
        self.shingles = {}
        self.related = {}

    def triples_of(self, side, at):
        key = side, at
        if key not in self.shingles:
            self.shingles[key] = triples(self.sides[side][at][5])
        return self.shingles[key]

    def is_related(self, i, j):
        if (i, j) not in self.related:
            a = self.triples_of(0, i)
            b = self.triples_of(1, j)
            self.related[i, j] = len(a & b) >= RELATED * len(a | b)
        return self.related[i, j]

    def leave_out_related(self, near):
        """Pairs that share 0.3 of their triples of words are not unrelated; of interest are near ones alone."""
        for i, j in zip(*np.nonzero(near & self.unrelated)):
            if self.is_related(i, j):
                self.unrelated[i, j] = False
                self.hard[i, j] = True


def found_at(rate, own, false, pairs):
    """The share of versions found where `rate` in a million pairs are false; interpolated, as evaluate.py does."""
    top = int(own.max()) + 2
    wrong = np.cumsum(np.bincount(false, minlength=top))[:top] * 1e6 / pairs
    found = np.cumsum(np.bincount(own, minlength=top))[:top] / len(own)
    radius = np.searchsorted(wrong, rate, "right") - 1
    if radius < 0:
        return 0.0, -1
    if radius + 1 >= top or wrong[radius] == 0:
        return found[radius], radius
    share = np.log(rate / wrong[radius]) / np.log(wrong[radius + 1] / wrong[radius])
    return found[radius] + share * (found[radius + 1] - found[radius]), radius + share


def best_f1(own, false):
    """The best F1 of versions against these false pairs, at any radius."""
    top = int(own.max()) + 1
    right = np.cumsum(np.bincount(own, minlength=top))[:top]
    wrong = np.cumsum(np.bincount(false, minlength=top))[:top]
    return (2 * right / (right + wrong + len(own))).max()


def line(cells):
    print("|", " | ".join(cells), "|")


def table(title, sets, columns, cell):
    print(f"\n{title}\n")
    line(["", *columns])
    print("|" + "---|" * (len(columns) + 1))
    for name in sets:
        line([name, *(cell(name, column) for column in columns)])


def measure(rows, codes, columns, rate):
    """For each column: the share found and its radius, and the best F1 against hard negatives and unrelated pairs."""
    data = Set(rows)
    matrices = {}
    for column in columns:
        sides = [bits_of([codes[row[0]].get(column, "") for row in side]) for side in data.sides]
        matrices[column] = distances(*sides)
        if column == "doc2":
            data.leave_out_related(matrices[column] <= 18)
    results = {}
    for column, matrix in matrices.items():
        own = matrix.diagonal()
        share, radius = found_at(rate, own, matrix[data.unrelated], np.count_nonzero(data.unrelated))
        results[column] = share, radius, best_f1(own, matrix[data.hard]), best_f1(own, matrix[data.unrelated])
    # Candidates, then a second look.
    for look in columns:
        for first, radius in (("doc2", 18),):
            if look.endswith(" look"):
                near = matrices[first] <= radius
                seen = np.where(near, matrices[look], 9999)
                own = seen.diagonal()
                false = seen[data.unrelated]
                for limit in (0.38, 0.45):
                    at = int((1 - limit) * 128)
                    results[f"{look} {limit}"] = (own <= at).mean(), np.count_nonzero(false <= at) * 1e6 / len(false), 0, 0
                hard, unrelated = (best_f1(own.clip(0, 600), seen[others].clip(0, 600)) for others in (data.hard, data.unrelated))
                results[f"{look} f1"] = hard, 100 * unrelated, 0, 0
                results["ceiling"] = (near.diagonal().mean(), 0, 0, 0)
    return results


def main(texts, code_file, seed, rate="10"):
    groups = collections.defaultdict(list)
    for row in csv.reader(open(texts, newline="", encoding="utf-8")):
        groups[row[1]].append(row)
    lines = open(code_file, encoding="utf-8")
    columns = next(lines).rstrip("\n").split("\t")[1:]
    codes = {}
    for text in lines:
        number, *values = text.rstrip("\n").split("\t")
        codes[number] = dict(zip(columns, values))
    results = {}
    for name, rows in sorted(groups.items()):
        results[name] = measure(rows, codes, columns, int(rate))
        print(name, len(rows) // 2, file=sys.stderr)
    print(f"Seed {seed}.")
    table(f"Found at {rate} false pairs in a million, %, and the radius", results, columns,
          lambda name, column: "{:.1f} ({:.1f})".format(100 * results[name][column][0], results[name][column][1]))
    table("Best F1 against hard negatives and against unrelated pairs, %", results, columns,
          lambda name, column: "{:.1f}, {:.1f}".format(100 * results[name][column][2], 100 * results[name][column][3]))
    looks = sorted({key for result in results.values() for key in result} - set(columns))
    table("doc2 <= 18, then a second look: found % (false in a million), and F1 as above", results, looks,
          lambda name, column: "{:.1f} ({:.2f})".format(100 * results[name][column][0], results[name][column][1]))


if __name__ == "__main__":
    main(*sys.argv[1:])
