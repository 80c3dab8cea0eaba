"""Texts in many scripts, made by chance and the same in every run."""

import random

# The first and the last letter of each script, or of a block of it.
SCRIPTS = [
    ("a", "z"), ("à", "ÿ"), ("Ā", "ſ"), ("α", "ω"), ("а", "я"), ("ա", "ֆ"), ("א", "ת"), ("ء", "ي"), ("अ", "ह"),
    ("অ", "হ"), ("ก", "ฮ"), ("ཀ", "ཬ"), ("က", "အ"), ("ა", "ჰ"), ("가", "힣"), ("ሀ", "ፐ"), ("ក", "អ"), ("ぁ", "ん"),
    ("ァ", "ヺ"), ("一", "鿿"), ("𐌰", "𐍊"), ("𝐀", "𝟋"),
]  # fmt: skip
# Marks that join letters, signs, and what is no prose.
OTHERS = [
    "\u0301", "\u0308", "\u093e", "\u200d", "\u00ad", "😀", "👩‍👩‍👧", "1999", "3.14", "https://example.org/a?b=c",
    "user@example.org", "’", "—", "…", "\ufeff", "ﬁ", "Ⅻ", "\t", "\r\n", "\u2028", "__init__", "İ", "ß",
]  # fmt: skip


def texts(count: int) -> list[str]:
    """Distinct texts of up to 100 words; one is empty."""
    chance = random.Random(19)
    made = {"": None}
    while len(made) < count:
        scripts = chance.sample(SCRIPTS, chance.choice([1, 1, 1, 2, 4]))
        separator = chance.choice([" ", " ", " ", "", "\n", ", "])
        words = chance.choice([1, 2, 5, 30, 100])
        made[separator.join(word(chance, scripts) for _ in range(words))] = None
    return list(made)


def word(chance: random.Random, scripts: list[tuple[str, str]]) -> str:
    if chance.random() < 0.1:
        return chance.choice(OTHERS)
    first, last = chance.choice(scripts)
    # Words come again, as in prose.
    letters = random.Random(chance.randrange(2000))
    made = "".join(chr(letters.randint(ord(first), ord(last))) for _ in range(letters.randint(1, 9)))
    return made.title() if chance.random() < 0.1 else made
