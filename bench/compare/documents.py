"""Texts of some 2 KB, made of sentences of this machine's text files, with known duplicates."""

import collections
import random
import re

LENGTH = 2_000
WORD = re.compile(r"\w+")
SENTENCE = re.compile(r"[A-Z][^.!?\n]{30,300}[.!?]")


def sentences_of(files):
    found = {}
    for name in files:
        try:
            with open(name, encoding="utf-8") as file:
                found.update(dict.fromkeys(SENTENCE.findall(file.read())))
        except (OSError, UnicodeDecodeError):
            pass
        if len(found) > 500_000:
            break
    return list(found)


class Corpus:
    """Of ten documents one is a copy, one a changed copy, and one each shares a third or half of its sentences with another."""

    def __init__(self, sentences):
        self.sentences = [sentence.replace("\\", " ").replace("\t", " ") for sentence in sentences]
        self.words = [word for sentence in self.sentences[:5_000] for word in WORD.findall(sentence)]

    def own(self, chance, size=0):
        part = []
        while size < LENGTH:
            part.append(self.sentences[int(chance.random() * len(self.sentences))])
            size += len(part[-1]) + 1
        return part

    def original(self, chance, number):
        """The sentences of an earlier document that is no copy."""
        return self.own(random.Random(chance.randrange(number // 10) * 10 + chance.randrange(4, 10)))

    def replaced(share):
        def change(self, chance, part):
            words = " ".join(part).split(" ")
            return [" ".join(chance.choice(self.words) if chance.random() < share else word for word in words)]
        return change

    def rewritten(self, chance, part):
        part = list(part)
        for _ in range(2):
            del part[chance.randrange(len(part))]
            part.insert(chance.randrange(len(part) + 1), chance.choice(self.sentences))
        return part

    def framed(self, chance, part):
        return [chance.choice(self.sentences[:100]), *part, chance.choice(self.sentences[:100])]

    CHANGES = {"2 % of the words replaced": replaced(0.02), "5 % replaced": replaced(0.05), "10 % replaced": replaced(0.1),
               "two sentences exchanged": rewritten, "a sentence before and after": framed}

    def kind(self, number):
        """What was done to it, if it is a copy."""
        if number < 10 or number % 10 > 1:
            return None
        return "none" if number % 10 == 0 else list(self.CHANGES)[number // 10 % len(self.CHANGES)]

    def text(self, number):
        chance = random.Random(number)
        kind = self.kind(number)
        if kind:
            part = self.original(chance, number)
            return " ".join(part if kind == "none" else self.CHANGES[kind](self, chance, part))
        if number >= 10 and number % 10 in (2, 3):
            part = self.original(chance, number)
            part = part[: len(part) // (5 - number % 10)]
            return " ".join(part + self.own(chance, sum(map(len, part))))
        return " ".join(self.own(chance))

    def judge(self, gone, count):
        """The share of copies that go, all and by kind, and the share of others that do."""
        there = collections.Counter(map(self.kind, range(count)))
        found = collections.Counter(map(self.kind, gone))
        false = found.pop(None, 0) / there.pop(None)
        kinds = ", ".join(f"{kind}: {100 * found[kind] / there[kind]:.2f} %" for kind in sorted(there))
        return sum(found.values()) / sum(there.values()), false, kinds


def shingles(text, length=5):
    words = WORD.findall(text.lower())
    return {" ".join(words[i : i + length]) for i in range(max(len(words) - length + 1, 1))}


def load_texts(connection, texts):
    """The texts, numbered from 0, in a table `document`."""
    connection.execute("CREATE TABLE document (id bigint, body text)")
    with connection.cursor().copy("COPY document FROM STDIN") as copy:
        for row in enumerate(texts):
            copy.write_row(row)
