#!/usr/bin/env python3
"""Reference implementation of doc2, a similarity fingerprint of documents; the steps are those of doc2.md.

    doc2.py FILE    checks the vectors in FILE, a JSON list of {"text", "fingerprint", "letters"}
    doc2.py         writes the fingerprint of standard input (UTF-8), or NULL if there is none

It needs Python 3.11 or later and no package, and prefers clarity to speed. The words, which are steps 1 to 5, and
the letters of a fingerprint come from doc1.py, and so does what it says about older versions of Unicode.
"""

import sys

from doc1 import main, words

MASK64 = (1 << 64) - 1
FACTOR = 0x9E3779B97F4A7C15

# ------------------------------------------------------------------------ Steps 6 and 7: from words to features


def is_long(word):
    """Returns whether a word, in UTF-8, is long: it has over three bytes, or is one character of three."""
    return len(word) > 3 or word[0] >= 0xE0


def word_hash(word):
    """Step 6: returns the hash of a word, in UTF-8."""
    h = 0
    for start in range(0, len(word), 8):
        c = int.from_bytes(word[start : start + 8], "little")  # as if zero bytes followed
        h = ((h ^ c) * 0x9FB21C651E98DF25) & MASK64
        h ^= h >> 32
    return h


def rot(a):
    """Exchanges the upper and the lower 32 bits."""
    return (a << 32 | a >> 32) & MASK64


def features(found):
    """Step 7: returns the set of features of the words, in UTF-8, each of them as its value and shift."""
    hashed = [(word_hash(word), int(is_long(word))) for word in found]
    singles = {(b * FACTOR & MASK64, n) for b, n in hashed}
    pairs = {((rot(a) ^ b) * FACTOR & MASK64, n_a + n_b) for (a, n_a), (b, n_b) in zip(hashed, hashed[1:])}
    return singles | pairs


# ---------------------------------------------------------------- Steps 8 to 12: from features to the fingerprint


def least_keys(found):
    """Step 8: returns the least key of each cell that is not empty, by the number of the cell."""
    cells = {}
    for x, n in found:
        cell, key = x >> 55, x % (1 << 55) >> n
        cells[cell] = min(key, cells.get(cell, key))
    return cells


def mix(z):
    """Step 9: the finalizer of SplitMix64."""
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK64
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK64
    return z ^ z >> 31


def choice(cells, i):
    """Steps 10 and 11: returns the key chosen for bit i."""
    own = [cells[cell] for cell in range(8 * i, 8 * i + 8) if cell in cells]
    if own:
        return min(own)
    return min(cells.values(), key=lambda k: mix(k + (i << 58)))


def fingerprint(text):
    """Steps 1 to 12: returns the fingerprint of the text, or None if it has no words."""
    found = [word.encode("utf-8") for word in words(text)]
    if not found:
        return None
    cells = least_keys(features(found))
    return sum(mix(choice(cells, i)) & (1 << i) for i in range(64))  # Step 12


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], "doc2", fingerprint))
