"""Writes a corpus and test items, as COPY reads them. Usage: training.py FOLDER ITEMS

FOLDER/files lists the text files. item.tsv: id, how it was put into the corpus, body. corpus.tsv: id, body.
"""

import pathlib
import random
import sys

folder, wanted = pathlib.Path(sys.argv[1]), int(sys.argv[2])
random.seed(17)


def field(text):
    return text.replace("\0", "").translate({92: "\\\\", 9: "\\t", 10: "\\n", 13: "\\r"})


def read(path):
    return pathlib.Path(path).read_bytes().decode(errors="replace")


def excerpt(words):
    """Words in any order, so that no other text has them: some 40 to 1,000 characters."""
    length = int(random.choice([40, 60, 100, 200, 400, 800]) * random.uniform(0.9, 1.25))
    return " ".join(random.choices(words, k=length // 5))[:length].rsplit(" ", 1)[0]


paths = (folder / "files").read_text().splitlines()
random.shuffle(paths)
others = paths[::4]
del paths[::4]
items = set()
while others and len(items) < wanted:
    for path in others:
        words = read(path)[:100_000].split()
        items.update(item for item in (excerpt(words) for _ in range(100)) if len(item) >= 30)
items = random.sample(sorted(items), wanted)
hidden = {}
for number, item in enumerate(items[: wanted // 10]):
    words = item.split(" ")
    lines = "\n".join(" ".join(words[i : i + 8]) for i in range(0, len(words), 8))
    hidden.setdefault(random.randrange(len(paths)), []).append(lines if number % 2 else item)

with open(folder / "item.tsv", "w") as out:
    for number, item in enumerate(items):
        how = "not at all" if number >= wanted // 10 else "in lines" if number % 2 else "as it is"
        out.write(f"{number}\t{how}\t{field(item)}\n")
with open(folder / "corpus.tsv", "w") as out:
    for number, path in enumerate(paths):
        text = read(path)
        for item in hidden.get(number, []):
            place = text.find("\n", random.randrange(len(text) + 1)) + 1
            text = f"{text[:place]}{item}\n{text[place:]}"
        out.write(f"{number}\t{field(text)}\n")
