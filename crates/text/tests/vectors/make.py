"""Makes schemes.json: fingerprints by an implementation that shares nothing with ours but the definition.

Needs the package xxhash. Word segmentation is simplified to what the texts below need of UAX #29, except that of
simhash-doc, which has the words of docs/developers/doc1.py.
"""

import json
import pathlib
import re
import sys
import unicodedata

import xxhash

sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "docs/developers"))
import doc1  # noqa: E402

TEXTS = [
    "", "a", "ab", "Hello world", "The quick brown fox jumps over the lazy dog",
    "the quick brown fox jumps over the lazy dog", "Can't stop, won't stop.", "Straße, STRASSE and strasse",
    "ﬁne ＦＵＬＬ width ①", "co\u00adoperate zero\u200bwidth \ufeffmark", "Ünïcödé naïve café",
    "Привет, мир! Привет, мир!", "日本語の文章です", "αβγ ΣΊΣΥΦΟΣ", "1 22 333 3.14",
    "tabs\tand\nlines\r\nand  blanks", " ".join(str(i * i) for i in range(300)), "lorem ipsum dolor sit amet " * 40,
]
PROSE = ["of it to", "of 1994: see https://example.org", "été à да нет 日本 हिन्दी ไม่มี"]
SCHEMES = ["char:1", "char:2", "char:4", "char:8", "char:32", "word:1", "word:2", "word:3", "word:32"]
INVISIBLE = "\u00ad\u200b\u200d\ufeff"


def words(text):
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    visible = "".join(c for c in folded if c not in INVISIBLE)
    for word in re.findall(r"[^\W_]+(?:['’.][^\W_]+)*", visible):
        # Han and Hiragana: every character is a word.
        yield from word if re.fullmatch("[\u4e00-\u9fff\u3040-\u309f]+", word) else [word]


def shingles_of(text, scheme):
    if scheme == "simhash-doc":
        return {word for word in doc1.words(text) if len(word) >= 3}
    unit, k = scheme.split(":")
    units, joint = (list(text), "") if unit == "char" else (list(words(text)), " ")
    if not units:
        return set()
    return {joint.join(units[i:i + int(k)]) for i in range(max(1, len(units) - int(k) + 1))}


def fingerprint(text, scheme):
    shingles = shingles_of(text, scheme)
    if not shingles:
        return None
    hashes = [xxhash.xxh3_64_intdigest(shingle.encode()) for shingle in shingles]
    bits = [2 * sum(h >> bit & 1 for h in hashes) > len(hashes) for bit in range(64)]
    return f"{sum(is_set << bit for bit, is_set in enumerate(bits)):016x}"


pairs = [(text, scheme) for text in TEXTS for scheme in SCHEMES] + [(text, "simhash-doc") for text in TEXTS + PROSE]
vectors = [{"text": text, "scheme": scheme, "fingerprint": fingerprint(text, scheme)} for text, scheme in pairs]
json.dump(vectors, sys.stdout, indent=1)
print()
