"""Texts of which it is known what is a version of what, as COPY reads them: id, set, what was changed, the id of the first
version, and the text.

`decision.py generated FILES ROWS FOLDER`: FILES lists text files, whose sentences make the texts. Half of the rows are
*clean*: texts with one of twenty headers and footers. Half are *templated*: made from thirty templates, with a name, a
version, dependencies and up to three sentences of their own. A third of either are versions of one of the others: words
replaced, sentences cut, or header and footer exchanged.

`decision.py short LINES ROWS FOLDER`: each line of the file LINES is a text. Those of 5 to 30 words, and changed ones.

`decision.py releases CACHE "OLD NEW" FOLDER`: what similarity_index/natural has fetched of two releases of Debian. The newer
text of a package, or a manual page, is a version of the older one, and of no other text.

`decision.py versions FILE.csv - FOLDER`: the same from rows of set, key, old text, new text, either of which may be empty.

Each set goes to a file FOLDER/SET.page. Of texts that are equal but for case and punctuation the first is taken.
"""

import csv
import hashlib
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).parent
sys.path += [str(HERE / "compare"), str(HERE / "similarity_index")]
import natural  # noqa: E402
from documents import WORD, sentences_of  # noqa: E402

TEMPLATES = 30
BOILERPLATES = 20
FIELDS = "{field}"
# What is done to the words of a version, in the order of the numbers of rows.
CHANGES = ["2 % of the words replaced", "5 % replaced", "10 % replaced", "sentences cut", "boilerplate exchanged", "none"]
SHORT_CHANGES = ["a letter mistyped", "a word left out", "a word added", "two words exchanged", "a word replaced"]


class Generator:
    def __init__(self, sentences, rows):
        self.sentences = sentences
        self.rows = rows
        self.chance = random.Random(1)
        self.words = sorted({word for sentence in sentences[:50_000] for word in WORD.findall(sentence)})
        self.boilerplates = [(self.some(1, 3), self.some(1, 4)) for _ in range(BOILERPLATES)]
        self.templates = [self.template() for _ in range(TEMPLATES)]

    def some(self, least, most):
        return [self.chance.choice(self.sentences) for _ in range(self.chance.randint(least, most))]

    def template(self):
        """Sentences, between which fields are filled in."""
        return [part for sentence in self.some(5, 14) for part in (sentence, FIELDS)]

    def field(self):
        words = self.chance.sample(self.words, self.chance.randint(1, 12))
        version = ".".join(str(self.chance.randrange(40)) for _ in range(3))
        return f"{words[0]} {version}: " + ", ".join(words[1:]) + "."

    def clean(self):
        return [self.chance.choice(self.boilerplates) if self.chance.random() < 0.6 else ([], []), self.some(5, 30)]

    def templated(self):
        chance = self.chance
        own = self.some(0, 3)
        fields = chance.randint(3, 6)
        body = []
        for part in chance.choice(self.templates):
            if part != FIELDS:
                body.append(part)
            elif fields:
                body.append(self.field())
                fields -= 1
        return [([], []), body + own]

    def changed(self, text, change):
        (header, footer), body = text
        if change == "sentences cut":
            body = list(body)
            for _ in range(max(1, len(body) // 8)):
                del body[self.chance.randrange(len(body))]
        elif change == "boilerplate exchanged":
            header, footer = self.chance.choice(self.boilerplates)
        elif change != "none":
            share = int(change.split()[0]) / 100
            body = [" ".join(self.chance.choice(self.words) if self.chance.random() < share else word
                             for word in sentence.split(" ")) for sentence in body]
        return [(header, footer), body]

    def lines(self):
        for first, kind, make in ((0, "clean", self.clean), (self.rows // 2, "templated", self.templated)):
            originals = []
            for number in range(self.rows // 2):
                if number % 3 == 2:
                    origin, text = self.chance.choice(originals)
                    change = CHANGES[number // 3 % len(CHANGES)]
                    text = self.changed(text, change)
                else:
                    origin = first + number
                    change = ""
                    text = make()
                    # Those of the last ten thousand, since texts take memory.
                    originals = [*originals[-9_999:], (origin, text)] if number % 1000 == 0 else originals
                    originals.append((origin, text))
                (header, footer), body = text
                yield first + number, kind, change, origin, " ".join([*header, *body, *footer])


def normal(text):
    return " ".join(WORD.findall(text.casefold()))


def changed_words(chance, words, change, others):
    """A short text with one thing changed."""
    words, at = list(words), chance.randrange(len(words) - 1)
    if change == "a letter mistyped":
        word = max(words, key=len)
        letter = chance.randrange(len(word))
        words[words.index(word)] = word[:letter] + chance.choice("abcdefghijklmnopqrstuvwxyz") + word[letter + 1 :]
    elif change == "two words exchanged":
        words[at : at + 2] = words[at + 1], words[at]
    elif change == "a word added":
        words.insert(at, chance.choice(others))
    elif change == "a word replaced":
        words[at] = chance.choice(others)
    else:
        del words[at]
    return " ".join(words)


def short_lines(name, texts, rows):
    chance = random.Random(1)
    distinct = list({normal(text): text for text in texts if 5 <= len(text.split()) <= 30}.values())
    chance.shuffle(distinct)
    distinct = distinct[: rows * 2 // 3]
    others = [word for text in distinct for word in text.split()]
    for number, text in enumerate(distinct):
        yield number, name, "", number, text
    for number in range(len(distinct) // 2):
        origin = chance.randrange(len(distinct))
        change = SHORT_CHANGES[number % len(SHORT_CHANGES)]
        text = changed_words(chance, distinct[origin].split(), change, others)
        yield len(distinct) + number, name, change, origin, text


def version_lines(name, versions):
    """Rows of a set, of pairs of an old and a new text by their key; the new ones come last."""
    number_of = {}
    rows = []
    for key in sorted(versions, key=lambda key: hashlib.sha256(key.encode()).digest()):
        old = versions[key][0]
        if old and normal(old) not in number_of:
            number_of[normal(old)] = len(rows)
            rows.append((len(rows), name, "", len(rows), old))
    for old, new in versions.values():
        if old and new and normal(new) not in number_of:
            number_of[normal(new)] = len(rows)
            rows.append((len(rows), name, "newer", number_of[normal(old)], new))
    return rows


def release_sets(folder, releases):
    """The texts of each set by their key, of the older and the newer release."""
    descriptions = [natural.descriptions(folder / release / "lists", ["en"])[0]["en"] for release in releases]
    titles, bodies = ([{package: texts[part] for package, texts in side.items()} for side in descriptions] for part in (0, 1))
    pages = [{path: text for path, (_, text) in natural.pages(folder / release / "pages", "en").items()} for release in releases]
    for name, (old, new), least in (("titles", titles, 5), ("descriptions", bodies, 15), ("manual pages", pages, 80)):
        yield name, {key: (text, new.get(key)) for key, text in old.items() if len(text.split()) >= least}


def given_sets(file):
    sets = {}
    csv.field_size_limit(1 << 30)
    with open(file, newline="", encoding="utf-8") as rows:
        for name, key, *texts in csv.reader(rows):
            sets.setdefault(name, {})[key] = texts
    return sets.items()


def sets_of(kind, source, what):
    """The name of each set, and its rows."""
    if kind == "generated":
        sentences = sentences_of(pathlib.Path(source).read_text().splitlines())
        yield kind, Generator(sentences, int(what)).lines()
    elif kind == "short":
        name = pathlib.Path(source).stem
        yield name, short_lines(name, pathlib.Path(source).read_text(encoding="utf-8").splitlines(), int(what))
    else:
        sets = release_sets(pathlib.Path(source), what.split()) if kind == "releases" else given_sets(source)
        for name, versions in sets:
            yield name, version_lines(name, versions)


def main(kind, source, what, folder):
    for name, rows in sets_of(kind, source, what):
        with open(f"{folder}/{name.replace(' ', '-')}.page", "w", encoding="utf-8") as file:
            for *columns, text in rows:
                print(*columns, " ".join(text.replace("\\", " ").replace("\0", "").split()), sep="\t", file=file)


if __name__ == "__main__":
    main(*sys.argv[1:])
