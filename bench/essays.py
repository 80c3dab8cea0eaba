"""Writes essays of English-like text, as COPY reads them: id, tab, body. Usage: essays.py COUNT CHARACTERS QUOTING

Words are made of syllables, and as frequent as Zipf's law says. Every 300th sentence is one of 20 that many essays have.
After them come QUOTING essays, each of which quotes 300 characters of each of six others.
"""

import random
import sys

BEGINNINGS = "b c d f g h l m n p r s t v w st tr sh".split()
VOWELS = "a e i o u ea".split()
ENDINGS = ["", "n", "r", "s", "t", "ll"]


def main(count, characters, quoting):
    random.seed(17)
    syllables = [a + b + c for a in BEGINNINGS for b in VOWELS for c in ENDINGS]
    words = ["".join(random.choices(syllables, k=random.choice([1, 1, 2, 2, 2, 3, 3]))) for _ in range(30_000)]
    weights = []
    total = 0.0
    for rank in range(len(words)):
        total += 1 / (rank + 2.7)
        weights.append(total)

    def sentence():
        chosen = random.choices(words, cum_weights=weights, k=random.randint(6, 28))
        return " ".join(chosen).capitalize() + "."

    frequent = [f"{sentence()} {sentence()}" for _ in range(20)]

    def essay():
        body = ""
        while len(body) < characters:
            body += (random.choice(frequent) if random.random() < 1 / 300 else sentence()) + " "
        return body[:characters]

    passages = []
    for number in range(1, count + 1):
        body = essay()
        passages.append(body[3000:3300])
        print(number, body, sep="\t")
    for number in range(count + 1, count + quoting + 1):
        print(number, " ".join([*random.sample(passages, 6), essay()])[:characters], sep="\t")


main(*map(int, sys.argv[1:]))
