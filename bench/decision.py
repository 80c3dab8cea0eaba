"""Texts of which it is known what is a version of what: `decision.py FILES ROWS FOLDER`, which gets page.tsv.

FILES lists text files, whose sentences make the texts. Half of the rows are *clean*: texts with one of twenty headers and
footers. Half are *templated*: made from thirty templates, with a name, a version, dependencies and up to three sentences
of their own. A third of either are versions of one of the others: words replaced, sentences cut, or header and footer
exchanged. A line is an id, the set, what was changed, the id of the first version, and the text.
"""

import random
import sys

sys.path.append(__file__.rpartition("/")[0] + "/compare")
from documents import WORD, sentences_of  # noqa: E402

TEMPLATES, BOILERPLATES, FIELDS = 30, 20, "{field}"
# What is done to the words of a version, in the order of the numbers of rows.
CHANGES = ["2 % of the words replaced", "5 % replaced", "10 % replaced", "sentences cut", "boilerplate exchanged", "none"]


class Generator:
    def __init__(self, sentences, rows):
        self.sentences, self.rows, self.chance = sentences, rows, random.Random(1)
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
        chance, own = self.chance, self.some(0, 3)
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
                    origin, change, text = first + number, "", make()
                    # Those of the last ten thousand, since texts take memory.
                    originals = [*originals[-9_999:], (origin, text)] if number % 1000 == 0 else originals
                    originals.append((origin, text))
                (header, footer), body = text
                yield first + number, kind, change, origin, " ".join([*header, *body, *footer])


def main(files, rows, folder):
    with open(files) as names:
        sentences = [sentence.replace("\\", " ").replace("\t", " ") for sentence in sentences_of(names.read().splitlines())]
    with open(f"{folder}/page.tsv", "w", encoding="utf-8") as file:
        for line in Generator(sentences, int(rows)).lines():
            print(*line, sep="\t", file=file)


if __name__ == "__main__":
    main(*sys.argv[1:])
