#!/usr/bin/env python3
"""Reference implementation of doc1, a similarity fingerprint of documents; the steps are those of doc1.md.

    doc1.py FILE    checks the vectors in FILE, a JSON list of {"text", "fingerprint", "letters"}
    doc1.py         writes the fingerprint of standard input (UTF-8), or NULL if there is none

It needs Python 3.11 or later and no package, and prefers clarity to speed. Names, general categories, NFKC
and case folding come from the Python that runs it: Unicode 14 in Python 3.11, where doc1 wants Unicode 16. It
shows only in texts with newer characters: to an older Python these are unassigned, and thus not letters. What
is listed here by code point is of Unicode 16.
"""

import base64
import functools
import json
import re
import sys
import unicodedata

# ----------------------------------------------------------------------------- Steps 1 and 2: runs, addresses

MAX_RUN_BYTES = 16_384

# Neither \s nor str.split() will do: to them U+001C to U+001F are white space, and so is much outside ASCII.
RUN = re.compile(r"[^\t-\r ]+")

ADDRESS_CANDIDATE = re.compile(r"[A-Za-z0-9\-._~:/?#@!$&*+,;=%]+")

# Applied to candidates, which are ASCII and were put in lower case before.
ADDRESS_SIGN = re.compile(
    r"""
      ://
    | www\. .
    | [^@] @+ [^@]    # as good as: an @ with something else somewhere before and somewhere after it
    | ^ (doi | urn | isbn | issn | arxiv) : .
    | 10 \. [0-9]{4,} /
    | [0-9a-f]{8} - ([0-9a-f]{4} - ){3} [0-9a-f]{12}
    """,
    re.VERBOSE,
)


def runs(text):
    """Step 1: yields the runs of the text, none of them longer than MAX_RUN_BYTES in UTF-8."""
    for run in RUN.findall(text):
        rest = run.encode("utf-8")
        while len(rest) > MAX_RUN_BYTES:
            # The cut may split a character, and then "ignore" leaves that one out.
            head = rest[:MAX_RUN_BYTES].decode("utf-8", "ignore")
            yield head
            rest = rest[len(head.encode("utf-8")) :]
        yield rest.decode("utf-8")


def without_addresses(run):
    """Step 2: returns the run with a blank in place of each address."""
    return ADDRESS_CANDIDATE.sub(lambda m: " " if ADDRESS_SIGN.search(m[0].lower()) else m[0], run)


# -------------------------------------------------------------------------------------- Step 3: normalization

DEFAULT_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
CONTROL_BUT_NOT_WHITE_SPACE = "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
REMOVED = re.compile(f"[{DEFAULT_IGNORABLE}{CONTROL_BUT_NOT_WHITE_SPACE}]+")


def normalized(run):
    """Step 3: returns the run in NFKC, case-folded, without the characters that do not show."""
    folded = unicodedata.normalize("NFKC", run).casefold()
    return unicodedata.normalize("NFKC", REMOVED.sub("", folded))


# --------------------------------------------------------------------- Steps 4 and 5: segments and bare words

WHITE_SPACE = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")

# Word_Break classes are written as one character each. There are fewer than in UAX #29, for what is segmented
# has gone through step 3 and has no white space: CR, LF, Newline, WSegSpace and ZWJ do not occur, and of the
# other classes only what NFKC leaves. Regional indicators are Other: flags have no letter, however they pair.
ALETTER, HEBREW, NUMERIC, KATAKANA, EXTEND_NUM_LET, EXTEND, OTHER = "AHNK_xo"
PUNCTUATION_CLASSES = {
    "'": "'",  # Single_Quote
    '"': '"',  # Double_Quote
    ".": ".\u2018\u2019",  # MidNumLet
    ":": ":\u00b7\u055f\u05f4\u2027",  # MidLetter
    ",": ",;\u0589\u060c\u060d\u066c\u07f8\u2044",  # MidNum
    EXTEND_NUM_LET: "_\u203f\u2040\u2054",
}
CLASS_OF_PUNCTUATION = {char: cls for cls, chars in PUNCTUATION_CLASSES.items() for char in chars}

NUMERIC_BUT_NOT_ND = re.compile("[\u0600-\u0605\u066b\u06dd\u0890\u0891\u08e2\u19da\U000110bd\U000110cd]")
ALETTER_BUT_NOT_LETTER = re.compile(
    "[\u02c2-\u02c5\u02d2-\u02d7\u02de\u02df\u02e5-\u02eb\u02ed\u02ef-\u02ff\u055a-\u055c\u055e\u058a\u05f3"
    "\u070f\ua708-\ua716\ua720\ua721\ua789\ua78a\uab5b\U0001f150-\U0001f169\U0001f170-\U0001f189]"
)
# By code point and not by name, because Python 3.11 has no names for Tangut.
IDEOGRAPHIC = re.compile(
    "[\u3006\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\ufa0e-\ufa29"
    "\U00017000-\U00018d08\U0001b170-\U0001b2fb\U00020000-\U000323af]"
)
# What names begin with. SA is the line breaking class of scripts that need a dictionary.
HIRAGANA = ("HIRAGANA ", "HENTAIGANA ")
SA = ("AHOM ", "KHMER ", "LAO ", "MYANMAR ", "THAI ", "TAI LE ", "TAI THAM ", "TAI VIET ", "NEW TAI LUE ")


@functools.cache
def word_break_class(char):
    """Returns the Word_Break class of a character that step 3 can leave."""
    if char in CLASS_OF_PUNCTUATION:
        return CLASS_OF_PUNCTUATION[char]
    category = unicodedata.category(char)
    name = unicodedata.name(char, "")
    if category == "Nd" or NUMERIC_BUT_NOT_ND.match(char):
        return NUMERIC
    if ALETTER_BUT_NOT_LETTER.match(char):
        return ALETTER
    if category[0] == "M" or category == "Cf" or "\U0001f3fb" <= char <= "\U0001f3ff":
        return EXTEND  # marks, emoji modifiers, and Format, which every rule treats as Extend
    if name.startswith(("KATAKANA", "VERTICAL KANA")) and char != "\u30fb":
        return KATAKANA
    if category[0] != "L" and category != "Nl":
        return OTHER
    if name.startswith("HEBREW "):
        return HEBREW
    if IDEOGRAPHIC.match(char) or name.startswith(HIRAGANA + SA):
        return OTHER
    return ALETTER


# The places where rules WB5 to WB13b forbid a boundary, in a string of classes without Extend.
NO_BOUNDARY = re.compile(
    r"""
      (?<= [AH]     ) (?= [AH]        )   # WB5
    | (?<= [AH]     ) (?= [:.'] [AH]  )   # WB6
    | (?<= [AH][:.']) (?= [AH]        )   # WB7
    | (?<= H        ) (?= '           )   # WB7a
    | (?<= H        ) (?= " H         )   # WB7b
    | (?<= H"       ) (?= H           )   # WB7c
    | (?<= N        ) (?= N           )   # WB8
    | (?<= [AH]     ) (?= N           )   # WB9
    | (?<= N        ) (?= [AH]        )   # WB10
    | (?<= N[,.']   ) (?= N           )   # WB11
    | (?<= N        ) (?= [,.'] N     )   # WB12
    | (?<= K        ) (?= K           )   # WB13
    | (?<= [AHNK_]  ) (?= _           )   # WB13a
    | (?<= _        ) (?= [AHNK]      )   # WB13b
    """,
    re.VERBOSE,
)


def segments(text):
    """Step 4: yields what lies between the word boundaries of a text without white space."""
    # WB4: what extends a character goes with it, and the rules do not see it. At the start it stands alone.
    units, classes = [], ""
    for char in text:
        char_class = word_break_class(char)
        if char_class == EXTEND and units:
            units[-1] += char
        else:
            units.append(char)
            classes += OTHER if char_class == EXTEND else char_class
    joined = {match.start() for match in NO_BOUNDARY.finditer(classes)}
    segment = ""
    for place, unit in enumerate(units):
        if segment and place not in joined:
            yield segment
            segment = ""
        segment += unit
    if segment:
        yield segment


HEXADECIMAL = re.compile("[0-9a-f]{16,}")  # after case folding


def words(text):
    """Steps 1 to 5: returns the words of the text, in order."""
    parts = (part for run in runs(text) for part in WHITE_SPACE.split(normalized(without_addresses(run))))
    found = []
    for segment in (segment for part in parts for segment in segments(part)):
        kinds = [unicodedata.category(char)[0] for char in segment]
        if "L" in kinds:
            word = "".join(char for char, kind in zip(segment, kinds) if kind in "LMN")
            if not (HEXADECIMAL.fullmatch(word) and re.search("[0-9]", word)):
                found.append(word)
    return found


# -------------------------------------------------------------- Step 7: XXH3, 64 bits, seed 0, default secret

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8"
    "fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb17"
    "0ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
PRIME32_1, PRIME32_2, PRIME32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIME64_1, PRIME64_2, PRIME64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
PRIME64_4, PRIME64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MASK32, MASK64 = (1 << 32) - 1, (1 << 64) - 1


def read(data, offset, size=8):
    """Reads a little-endian integer."""
    return int.from_bytes(data[offset : offset + size], "little")


def secret(offset):
    """Reads 64 bits of the secret."""
    return read(SECRET, offset)


def rotate64(value, bits):
    """Rotates 64 bits to the left."""
    return (value << bits | value >> (64 - bits)) & MASK64


def fold_product(a, b):
    """Multiplies to 128 bits and folds the upper half onto the lower."""
    product = a * b
    return (product & MASK64) ^ (product >> 64)


def avalanche(value):
    """The final mix of XXH3."""
    value = ((value ^ value >> 37) * 0x165667919E3779F9) & MASK64
    return value ^ value >> 32


def avalanche_xxh64(value):
    """The final mix of XXH64, which XXH3 uses for up to 3 bytes."""
    value = ((value ^ value >> 33) * PRIME64_2) & MASK64
    value = ((value ^ value >> 29) * PRIME64_3) & MASK64
    return value ^ value >> 32


def mix16(data, offset, secret_offset):
    """Mixes 16 bytes of data with 16 bytes of the secret."""
    low, high = read(data, offset), read(data, offset + 8)
    return fold_product(low ^ secret(secret_offset), high ^ secret(secret_offset + 8))


def accumulate(lanes, data, offset, secret_offset):
    """Takes a stripe of 64 bytes into the lanes."""
    for i in range(8):
        value = read(data, offset + 8 * i)
        keyed = value ^ secret(secret_offset + 8 * i)
        lanes[i ^ 1] = (lanes[i ^ 1] + value) & MASK64
        lanes[i] = (lanes[i] + (keyed & MASK32) * (keyed >> 32)) & MASK64


def scramble(lanes):
    """Ends a block of 16 stripes."""
    for i, lane in enumerate(lanes):
        lanes[i] = ((lane ^ lane >> 47 ^ secret(128 + 8 * i)) * PRIME32_1) & MASK64


def xxh3_long(data):
    """XXH3 of more than 240 bytes."""
    lanes = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1]
    # The last 1 to 64 bytes are no stripe of this loop; they are part of the one that ends with the data.
    for stripe in range((len(data) - 1) // 64):
        accumulate(lanes, data, 64 * stripe, 8 * (stripe % 16))
        if stripe % 16 == 15:
            scramble(lanes)
    accumulate(lanes, data, len(data) - 64, 121)
    value = len(data) * PRIME64_1
    for i in range(0, 8, 2):
        value += fold_product(lanes[i] ^ secret(11 + 8 * i), lanes[i + 1] ^ secret(19 + 8 * i))
    return avalanche(value & MASK64)


def xxh3(data):
    """XXH3 of bytes, 64 bits, with seed 0."""
    size = len(data)
    if size == 0:
        return avalanche_xxh64(secret(56) ^ secret(64))
    if size <= 3:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return avalanche_xxh64(combined ^ read(SECRET, 0, 4) ^ read(SECRET, 4, 4))
    if size <= 8:
        value = read(data, size - 4, 4) + (read(data, 0, 4) << 32) ^ secret(8) ^ secret(16)
        value ^= rotate64(value, 49) ^ rotate64(value, 24)
        value = (value * 0x9FB21C651E98DF25) & MASK64
        value ^= (value >> 35) + size
        value = (value * 0x9FB21C651E98DF25) & MASK64
        return value ^ value >> 28
    if size <= 16:
        low = read(data, 0) ^ secret(24) ^ secret(32)
        high = read(data, size - 8) ^ secret(40) ^ secret(48)
        low_reversed = int.from_bytes(low.to_bytes(8, "little"), "big")
        return avalanche((size + low_reversed + high + fold_product(low, high)) & MASK64)
    if size > 240:
        return xxh3_long(data)
    value = size * PRIME64_1
    if size <= 128:
        for i in range((size + 31) // 32):  # pairs of 16 bytes, from both ends inward
            value += mix16(data, 16 * i, 32 * i) + mix16(data, size - 16 * (i + 1), 32 * i + 16)
        return avalanche(value & MASK64)
    for i in range(8):
        value += mix16(data, 16 * i, 16 * i)
    value = avalanche(value & MASK64)
    for i in range(8, size // 16):
        value += mix16(data, 16 * i, 16 * (i - 8) + 3)
    return avalanche((value + mix16(data, size - 16, 119)) & MASK64)


# ----------------------------------------------------------------------------- Steps 6 to 8 and the text form


def fingerprint(text):
    """Steps 1 to 8: returns the fingerprint of the text, or None if it has no words."""
    found = words(text)
    features = set(found) if len(found) == 1 else {f"{a} {b}" for a, b in zip(found, found[1:])}
    if not features:
        return None
    hashes = [xxh3(feature.encode("utf-8")) for feature in features]
    return sum(1 << i for i in range(64) if 2 * sum(h >> i & 1 for h in hashes) > len(hashes))


def encode(fingerprint):
    """Returns the 13 letters of a fingerprint, without the name of the scheme."""
    # RFC 4648 fills up the last letter with zero bits: here with one, 64 bits and one making 13 letters.
    return base64.b32encode(fingerprint.to_bytes(8, "big")).decode("ascii").rstrip("=").lower()


def check(path, fingerprint):
    """Checks a function against the vectors in a file, prints the failures, and returns their number."""
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    failed = 0
    for vector in vectors:
        value = fingerprint(vector["text"])
        got = (None, None) if value is None else (f"{value:016x}", encode(value))
        expected = (vector["fingerprint"], vector["letters"])
        if got != expected:
            failed += 1
            print(f"text {vector['text']!r}\n  expected {expected}\n  got      {got}")
            print(f"  words    {words(vector['text'])}")
    print(f"{len(vectors) - failed} passed, {failed} failed")
    return failed


def main(arguments, scheme, fingerprint):
    """Runs the command for a scheme, and returns its exit status."""
    if arguments:
        return 1 if check(arguments[0], fingerprint) else 0
    # Bytes and not sys.stdin, which would depend on the locale and translate line ends.
    value = fingerprint(sys.stdin.buffer.read().decode("utf-8", "replace"))
    print("NULL" if value is None else f"{scheme}:{encode(value)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], "doc1", fingerprint))
