"""`lost.py read FOLDER TEXTS` writes the texts of TEXTS to page.tsv; `lost.py count FOLDER` says what the deletions of
gone.tsv lose."""

import collections
import pathlib
import re
import sys
import unicodedata

from texts import texts_of

# Of scripts that are written without spaces (Thai, Hiragana, Han), each character is a word, and Katakana are words of their own.
ALONE = r"\u0e00-\u0e7f\u3005-\u3007\u3040-\u309f\u3400-\u9fff"
KATAKANA = r"\u30a0-\u30ff"
WORD = re.compile(rf"[{ALONE}]|[{KATAKANA}]+|[^\W{ALONE}{KATAKANA}]+")


def read(folder, texts):
    with open(folder / "page.tsv", "w", encoding="utf-8") as table:
        for number, text in enumerate(dict.fromkeys(texts_of(texts))):
            print(number, " ".join(text.replace("\\", " ").split()), sep="\t", file=table)


def count(folder):
    rows = [tuple(map(int, line.split())) for line in open(folder / "gone.tsv")]
    compared = {row[side] for row in rows for side in (0, 1)}
    words = {}
    texts_with = collections.Counter()
    for text, line in enumerate(open(folder / "page.tsv", encoding="utf-8")):
        found = {sys.intern(word) for word in WORD.findall(unicodedata.normalize("NFKC", line.split("\t")[1]).casefold())}
        texts_with.update(found)
        if text in compared:
            words[text] = found
    losses = collections.defaultdict(list)
    for gone, keeper, pairs, all_words in rows:
        lost = words[gone] - words[keeper]
        number = any(re.search(r"\d", word) for word in lost)
        rare = any(texts_with[word] <= 5 and not re.search(r"\d", word) for word in lost)
        for rule, is_asked in (("within 18, rare <= 50", 1), ("and pairs of words >= 0.93", pairs), ("and all words", pairs and all_words)):
            if is_asked:
                losses[rule].append((number, rare, number or rare))
    print(f"{text + 1:,} texts: deleted, lose a number, lose a rare word, lose either")
    for rule, rows in losses.items():
        print(f"{rule}: {len(rows):,}", *(f"{100 * sum(column) / len(rows):.3g} %" for column in zip(*rows)), sep=", ")


if __name__ == "__main__":
    globals()[sys.argv[1]](*map(pathlib.Path, sys.argv[2:]))
