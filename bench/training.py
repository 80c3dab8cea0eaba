"""Writes a corpus and test items, as COPY reads them. Usage: training.py FOLDER ITEMS TEXTS

FOLDER/files lists the text files. item.tsv: id, how it was put into the corpus, body. corpus.tsv: id, body, TEXTS pieces
of the files or, for 0, the files. hidden.tsv: a text and an item that was put there.
"""

import pathlib
import random
import sys

folder = pathlib.Path(sys.argv[1])
wanted = int(sys.argv[2])
pieces = int(sys.argv[3])
random.seed(17)


def field(text):
    return text.replace("\0", "").translate({92: "\\\\", 9: "\\t", 10: "\\n", 13: "\\r"})


def read(path):
    return pathlib.Path(path).read_bytes().decode(errors="replace")


def texts():
    if not pieces:
        yield from map(read, paths)
        return
    every = [text for text in map(read, paths) if len(text) > 2_000]
    for _ in range(pieces):
        text = random.choice(every)
        place = random.randrange(len(text) - 2_000)
        yield text[place : place + 2_000]


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
for number in range(wanted // 10):
    hidden.setdefault(random.randrange(pieces or len(paths)), []).append(number)


def as_put(number):
    words = items[number].split(" ")
    return "\n".join(" ".join(words[i : i + 8]) for i in range(0, len(words), 8)) if number % 2 else items[number]


with open(folder / "item.tsv", "w") as out:
    for number, item in enumerate(items):
        how = "not at all" if number >= wanted // 10 else "in lines" if number % 2 else "as it is"
        out.write(f"{number}\t{how}\t{field(item)}\n")
with open(folder / "hidden.tsv", "w") as out:
    out.writelines(f"{text}\t{item}\n" for text in sorted(hidden) for item in hidden[text])
with open(folder / "corpus.tsv", "w") as out:
    for number, text in enumerate(texts()):
        for item in hidden.get(number, []):
            place = text.find("\n", random.randrange(len(text) + 1)) + 1
            text = f"{text[:place]}{as_put(item)}\n{text[place:]}"
        out.write(f"{number}\t{field(text)}\n")
