"""`lost.py read FOLDER` writes the texts to page.tsv; `lost.py count FOLDER` says what the deletions of gone.tsv lose."""

import collections
import gzip
import pathlib
import re
import sys
import unicodedata

sys.path.append(str(pathlib.Path(__file__).parent / "similarity_index"))
from natural import pages  # noqa: E402


def read(folder):
    texts = [text for _, text in pages(pathlib.Path("/usr/share"), "en").values()]
    for file in sorted(pathlib.Path("/usr/share/doc").glob("*/*")):
        if re.match("copyright|changelog|README", file.name) and file.is_file() and not file.is_symlink():
            texts.append((gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8", errors="replace").read())
    with open(folder / "page.tsv", "w", encoding="utf-8") as table:
        for number, text in enumerate(text for text in dict.fromkeys(texts) if len(text) > 200):
            print(number, " ".join(text.replace("\\", " ").replace("\0", "").split()), sep="\t", file=table)


def count(folder):
    words = [set(re.findall(r"\w+", unicodedata.normalize("NFKC", line.split("\t")[1]).casefold())) for line in open(folder / "page.tsv", encoding="utf-8")]
    texts_with = collections.Counter(word for text in words for word in text)
    losses = collections.defaultdict(list)
    for line in open(folder / "gone.tsv"):
        gone, keeper, pairs, all_words = map(int, line.split())
        lost = words[gone] - words[keeper]
        number = any(re.search(r"\d", word) for word in lost)
        rare = any(texts_with[word] <= 5 and not re.search(r"\d", word) for word in lost)
        for rule, is_asked in (("within 18, rare <= 50", 1), ("and pairs of words >= 0.93", pairs), ("and all words", pairs and all_words)):
            if is_asked:
                losses[rule].append((number, rare, number or rare))
    print(f"{len(words):,} texts: deleted, lose a number, lose a rare word, lose either")
    for rule, rows in losses.items():
        print(f"{rule}: {len(rows):,}", *(f"{100 * sum(column) / len(rows):.1f} %" for column in zip(*rows)), sep=", ")


if __name__ == "__main__":
    globals()[sys.argv[1]](pathlib.Path(sys.argv[2]))
