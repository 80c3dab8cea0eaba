#!/usr/bin/env python3
"""Writes the vectors of doc2, a JSON list of {"text", "fingerprint", "letters"}, to standard output.

    make_doc2.py > doc2.json

The texts have no characters that are newer than Unicode 14, so that Python 3.11 will do.
"""

import json
import pathlib
import string
import sys
from itertools import islice, product

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs/developers"))
from doc1 import encode  # noqa: E402
from doc2 import fingerprint  # noqa: E402


def distinct(count, size, letters=string.ascii_lowercase):
    """Returns a text of `count` different words with `size` letters each: they are 2 * count - 1 features."""
    return " ".join("".join(word) for word in islice(product(letters, repeat=size), count))


def scattered(count, *vocabulary):
    """Returns a text of `count` words of the vocabulary in disorder (a linear congruential generator)."""
    state = 1
    chosen = []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % (1 << 31)
        chosen.append(vocabulary[(state >> 16) % len(vocabulary)])
    return " ".join(chosen)


UUID = "123e4567-e89b-12d3-a456-426614174000"
ENGLISH = "The quick brown fox jumps over the lazy dog, and the dog does not mind at all."

TEXTS = [
    # No word
    "",
    " ",
    "\t\n\v\f\r ",
    "12 345, 6.78 -- !?",
    "\u200b\u00ad\x00\x7f",
    "https://example.org/a",
    "user@example.org doi:10.1000/182 " + UUID,
    "0123456789abcdef deadbeefdeadbee0",
    "\U0001f600 \u2603",
    # One word: its length in bytes, the border of chunks, the border of short and long
    "a",
    "b",
    "ab",
    "ba",
    "abc",
    "abcd",
    "abcde",
    "abcdefg",
    "abcdefgh",
    "abcdefghi",
    "abcdefgh" + "ijklmno",
    "abcdefgh" + "ijklmnop",
    "abcdefgh" + "ijklmnop" + "q",
    "abcdefgh" + "ijklmnop" + "qrstuvw",
    "abcdefgh" + "ijklmnop" + "qrstuvwx",
    "abcdefgh" + "ijklmnop" + "qrstuvwx" + "y",
    "abcdefgh" * 5,
    "ijklmnop" + "abcdefgh",  # the order of chunks
    "abcdefgh" * 2,
    "z" * 8,
    "z" * 16,
    "z" * 100,
    "z" * 1000,
    "a1",
    "a1b",
    "1a2b",
    "é",  # 2 bytes, short
    "ÿ",
    "ß",  # folds to ss
    "éa",  # 3 bytes, short
    "aé",  # 3 bytes, short
    "éab",  # 4 bytes, long
    "éé",  # 4 bytes, long
    "e\u0301",  # composed, short
    "x\u0301",  # not composed: 3 bytes, short
    "x\u0301\u0302",  # 5 bytes, long
    "ж",  # 2 bytes, short
    "жа",  # 4 bytes, long
    "жaж",  # 5 bytes, long
    "\u05d0",  # Hebrew, 2 bytes, short
    "\u05d0\u05b8",  # with a point: 4 bytes, long
    "\u07ca",  # NKo, 2 bytes, short: the first is DF
    "\u0800",  # Samaritan, 3 bytes, long: the first is E0
    "ก",  # Thai, long: the first is E0
    "ệ",  # 3 bytes, long: the first is E1
    "語",
    "ｶ",  # half width, long
    "\uac00",  # Hangul, long: the first is EA
    "\ufb1d",  # taken apart by NFKC: 4 bytes
    "\U00020000",  # 4 bytes, long
    "\U00010400",  # Deseret, 4 bytes
    # The same word under normalization, and with what is removed
    "ABC",
    "ａｂｃ",
    "a\u00adb\u200bc",
    "a'b'c",
    "a.b.c",
    "can't",
    "cant",
    "x_y",
    "x1y2z3",
    "ﬁ",
    # Two words: their order, long and short ones
    "a b",
    "b a",
    "a\nb",
    "a, b.",
    "abc abcd",
    "abcd abc",
    "abcd efgh",
    "efgh abcd",
    "é éa",
    "éa éab",
    "ж жа",
    "a 語",
    "語 a",
    "語言",
    "言語",
    "語 言",
    "語a",
    "abcdefgh abcdefghi",
    "z" * 40 + " " + "y" * 41,
    # Words that occur again
    "a a",
    "a a a",
    "abcd abcd",
    "abcd abcd abcd abcd",
    "a b a",
    "a b a b",
    "b a b",
    "abcd ef abcd ef abcd",
    "語語語",
    "a a b b",
    "a b b a",
    # Pairs across runs, numbers, addresses and other things that are no word
    "red green",
    "red 42 green",
    "red\n\n\n--\n\ngreen",
    "red https://example.org/x green",
    "red,https://example.org/x,green",
    "red www.example.org green",
    "red (www.) green",
    "red someone@example.org green",
    "red doi:10.1000/182 green",
    "red 10.1000/182 green",
    "red " + UUID + " green",
    "red isbn:9780000000000 urn:x issn:1234 arxiv:2101.00001 green",
    "red 0123456789abcdef green",
    "red 0123456789abcde green",
    "red abcdefabcdefabcdef green",
    "(https://example.org/x)red(https://example.org/y)green",
    "red\u3000green\u2028blue\u0085white",
    "語https://example.org/x言",
    "x" * 16_383 + "é y",  # a run that is cut
    # Few words, so that most bits come from the fallback
    "one two three",
    "one two three four",
    "three two one",
    "one two three four five six seven eight nine ten",
    "of the in an at to by on is it",
    "to be or not to be",
    "to be or not to be, that is the question",
    ENGLISH,
    ENGLISH.upper(),
    " ".join([ENGLISH] * 3),
    ENGLISH.replace("lazy", "sleepy"),
    ENGLISH.replace("the dog", "the big dog"),
    " ".join(reversed(ENGLISH.split())),
    # Scripts
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.",
    "Voix ambiguë d'un cœur qui, au zéphyr, préfère les jattes de kiwis.",
    "El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia y frío; añoraba a su querido cachorro.",
    "Zażółć gęślą jaźń",
    "Pijamalı hasta yağız şoföre çabucak güvendi. İSTANBUL ISPARTA",
    "Con sói quàng xiên chạy vồ con cún chuyên nâng.",
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία, ΟΔΟΣ ὀδός.",
    "Բել դղյակի ձախ ժամն օֆ ազգությանը ցպահանջ չճշտած վնաս էր եւ փառք։",
    "ქართული ენა ᲥᲐᲠᲗᲣᲚᲘ",
    "עטלף אבק נס דרך מזגן שהתפוצץ כי חם, צה\"ל",
    "نص حكيم له سر قاطع وذو شأن عظيم",
    "ویکی‌پدیا دانشنامهٔ آزاد است",
    "ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश",
    "আমার সোনার বাংলা আমি তোমায় ভালোবাসি",
    "ਸਾਰੇ ਮਨੁੱਖ ਆਜ਼ਾਦ ਪੈਦਾ ਹੁੰਦੇ ਹਨ",
    "બધા માનવો જન્મથી સ્વતંત્ર છે",
    "யாமறிந்த மொழிகளிலே தமிழ்மொழி போல்",
    "తెలుగు భాష చాలా తీయనిది",
    "ಎಲ್ಲಾ ಮಾನವರೂ ಸ್ವತಂತ್ರರಾಗಿ",
    "എല്ലാ മനുഷ്യരും തുല്യരാണ്",
    "සියලු මනුෂ්‍යයෝ නිදහස්ව උපත ලබා ඇත",
    "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า",
    "ທຸກຄົນເກີດມາມີກຽດສັກສີ",
    "လူတိုင်းသည် တူညီ လွတ်လပ်သော",
    "មនុស្សទាំងអស់កើតមកមានសេរីភាព",
    "འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་",
    "ሰው ሁሉ እኩል ሆኖ ተወለደ",
    "ᏣᎳᎩ ꮳꮃꭹ ᎦᏬᏂᎯᏍᏗ",
    "ᐃᓄᒃᑎᑐᑦ ᐅᖃᐅᓯᖅ",
    "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ",
    "ߒߞߏ ߞߊ߲",
    "ⵜⵉⴼⵉⵏⴰⵖ ⵜⴰⵎⴰⵣⵉⵖⵜ",
    "𐐔𐐯𐑅𐐨𐑉𐐯𐐻 𐐼𐐯𐑅𐐨𐑉𐐯𐐻",
    "いろはにほへと ちりぬるを",
    "イロハニホヘト チリヌルヲ",
    "ｲﾛﾊﾆﾎﾍﾄ ﾁﾘﾇﾙｦ",
    "私はガラスを食べられます。それは私を傷つけません。",
    "人人生而自由,在尊严和权利上一律平等。",
    "人人生而自由, 在尊嚴和權利上一律平等。",
    "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다.",
    "\u1100\u1161 \u1112\u1161\u11ab",  # Hangul that NFKC composes
    "English и русский, 中文 한국어 ไทย עברית العربية",
    "𝐁𝐨𝐥𝐝 𝒮𝒸𝓇𝒾𝓅𝓉 ⓒⓘⓡⓒⓛⓔ",
    "🇩🇪 a👍🏽b 👩‍👩‍👧 c",
    # Few distinct features, many times
    "a " * 5000,
    "abcd " * 2000,
    "a b " * 3000,
    "a b c d e " * 1000,
    "語" * 1000,
    scattered(3000, "a", "bc", "def", "ghij"),
    # From some to most bins filled: 31 to 600 features, short words, long words, and both
    distinct(16, 2),
    distinct(32, 2),
    distinct(33, 3),
    distinct(33, 4),
    distinct(50, 2),
    distinct(65, 5),
    distinct(80, 2),
    distinct(100, 4),
    distinct(120, 3),
    distinct(150, 2),
    distinct(150, 8),
    distinct(40, 1, "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏闰馀成岁律吕调阳云腾致雨"),
    distinct(100, 2, "天地玄黄宇宙洪荒日月"),
    distinct(100, 2, "абвгдежзик"),
    distinct(100, 2, "abéжñ語가กαω"),
    scattered(300, *"the of and to in is that for document word feature cell key hash".split()),
    # All bins filled, all cells filled
    distinct(300, 2),
    distinct(350, 3),
    distinct(350, 9),
    distinct(676, 2),
    distinct(1500, 3),
    distinct(3500, 3),
    distinct(2700, 4),
    scattered(6000, *string.ascii_lowercase, *map("".join, product("xyzé", repeat=3)), *"天地玄黄", "éab", "жаж"),
]


def vector(text):
    """Returns the vector of a text."""
    value = fingerprint(text)
    return {
        "text": text,
        "fingerprint": None if value is None else f"{value:016x}",
        "letters": None if value is None else encode(value),
    }


if __name__ == "__main__":
    json.dump([vector(text) for text in TEXTS], sys.stdout, indent=1)
    print()
