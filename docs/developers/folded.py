#!/usr/bin/env python3
"""Reference implementation of the schemes folded:doc2, perm:letters:k and folded:perm:letters:k; the steps are those
of doc2.md.

    folded.py FILE      checks the vectors in FILE, a JSON list of {"text", "scheme", "fingerprint"}
    folded.py SCHEME    writes the fingerprint of standard input (UTF-8), or NULL if there is none

It needs Python 3.11 or later and no package, and prefers clarity to speed. The words come from doc1.py, and the choice
of features from doc2.py.
"""

import json
import sys
import unicodedata

import doc2
from doc1 import words, xxh3

# The first and the last code point of each range of step 0.
GREEK = [(0x370, 0x3FF), (0x1F00, 0x1FFF)]
ACCENTS = [(0x300, 0x36F)]
HEBREW_LETTERS = [(0xFB1D, 0xFB4E)]
POINTS = [(0x591, 0x5BD), (0x5BF, 0x5BF), (0x5C1, 0x5C2), (0x5C4, 0x5C5), (0x5C7, 0x5C7)]
VOWEL_SIGNS = [(0x610, 0x61A), (0x640, 0x640), (0x64B, 0x65F), (0x670, 0x670), (0x6D6, 0x6DC), (0x6DF, 0x6E8),
               (0x6EA, 0x6ED), (0xFE70, 0xFE7F)]
# The code points that become a letter: alif, waw, ya, ha, lam with alif, and three of Persian and Urdu.
ARABIC_LETTERS = {
    0x627: [(0x622, 0x623), (0x625, 0x625), (0x671, 0x671), (0xFB50, 0xFB51), (0xFE81, 0xFE84), (0xFE87, 0xFE88)],
    0x648: [(0x624, 0x624), (0xFE85, 0xFE86)],
    0x64A: [(0x626, 0x626), (0x649, 0x649), (0xFE89, 0xFE8C), (0xFEEF, 0xFEF0)],
    0x647: [(0x629, 0x629), (0xFE93, 0xFE94)],
    0xFEFB: [(0xFEF5, 0xFEFA)],
    0x6D5: [(0x6C0, 0x6C0)],
    0x6C1: [(0x6C2, 0x6C2)],
    0x6D2: [(0x6D3, 0x6D3)],
}


def is_in(char, ranges):
    return any(first <= ord(char) <= last for first, last in ranges)


def arabic_letter(char):
    """Returns the letter that a character becomes, or the character."""
    return next((chr(letter) for letter, ranges in ARABIC_LETTERS.items() if is_in(char, ranges)), char)


def fold(text):
    """Step 0: returns the text without optional marks."""
    kept = []
    follows_greek = False
    for char in text:
        if is_in(char, POINTS + VOWEL_SIGNS):
            continue
        if is_in(char, ACCENTS):
            if not follows_greek:
                kept.append(char)
            continue
        follows_greek = is_in(char, GREEK)
        if follows_greek or is_in(char, HEBREW_LETTERS):
            parts = unicodedata.normalize("NFD", char)
            kept += [part for part in parts if not is_in(part, ACCENTS + POINTS)]
        else:
            kept.append(arabic_letter(char))
    return "".join(kept)


def letters(text, k):
    """Returns the set of features of letters:k."""
    found, before = set(), None
    for word in words(text):
        marked = f" {word} "
        found |= {marked[at : at + k] for at in range(max(1, len(marked) - k + 1))}
        utf8 = word.encode("utf-8")
        is_short = len(utf8) <= 9 and utf8[0] >= 0xE0
        if is_short and before:
            found.add(before + word)
        before = word if is_short else None
    return found


def fingerprint_of(values):
    """Steps 8 to 12 for the values and shifts of features; None if there are none."""
    if not values:
        return None
    cells = doc2.least_keys(values)
    return sum(doc2.mix(doc2.choice(cells, i)) & (1 << i) for i in range(64))


def fingerprint(text, scheme):
    """Returns the fingerprint of the text, or None if it has no words."""
    if scheme.startswith("folded:"):
        text, scheme = fold(text), scheme.removeprefix("folded:")
    if scheme == "doc2":
        return doc2.fingerprint(text)
    k = int(scheme.removeprefix("perm:letters:"))
    return fingerprint_of({(xxh3(feature.encode("utf-8")), 0) for feature in letters(text, k)})


def check(path):
    """Checks a file of vectors and returns the exit status."""
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    wrong = 0
    for vector in vectors:
        made = fingerprint(vector["text"], vector["scheme"])
        if (None if made is None else f"{made:016x}") != vector["fingerprint"]:
            wrong += 1
            print(f"wrong: {vector['scheme']} of {vector['text'][:60]!r}")
    print(f"{path}: {len(vectors) - wrong} of {len(vectors)} vectors are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1].endswith(".json"):
        sys.exit(check(sys.argv[1]))
    result = fingerprint(sys.stdin.buffer.read().decode("utf-8"), sys.argv[1])
    print("NULL" if result is None else f"{result:016x}")
