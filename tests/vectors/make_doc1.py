"""Makes doc1.json: texts in which every rule of docs/developers/doc1.md is met, with the fingerprints of its reference implementation."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs/developers"))
import doc1  # noqa: E402

LONG = "".join(f"word{i}x " for i in range(3000))

TEXTS = [
    # no words, one word, few
    "", " \t\r\n", "...", "42", "3.14 1,000 ٣٤ Ⅷ", "word", "word word", "Hello world", "hello, WORLD!", "a b", "a b a b a",
    "The quick brown fox jumps over the lazy dog", "THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG.",
    # words and numbers
    "B2B and H2O, but 1994 is a number", "half ½x of it", "the 1st of 2nd 3,5 and 3.5 or 10%", "snake_case and kebab-case",
    "can't can’t cant", "O'Neill's e.g. i.e. U.S.A.", "rock'n'roll, jack-o'-lantern", "a:b a.b a,b a;b a·b a‧b", "_ __ _a_ a_",
    "1a a1 1a1 ١a", "x\u00b2 x₂ ①a", "Ⅷ viii ⅷ",
    # URLs, e-mail addresses, identifiers
    "see https://example.org/a?b=1 for all of the reports", "see (http://example.org/path_(x)). Then on",
    "WWW.Example.ORG and www. and www", "ftp://host/x,y;z=1 end", "write to me@example.org, or @home or home@ or @@",
    "a@b@c @a@b@ x", "doi:10.1000/182 and 10.1000/182 and 10.100/182", "DOI: 10.12345/abc.def follows", "x10.1234/a y",
    "urn:isbn:0451450523 return:x isbn:1 issn:2 arXiv:1706.03762v5 pre-doi:x", "id 550e8400-e29b-41d4-a716-446655440000 end",
    "red deadbeef-dead-beef-dead-beefdeadbeef blue", "not 550e8400-e29b-41d4-a716-44665544000 uuid", "key=550E8400-E29B-41D4-A716-446655440000; more words",
    "d41d8cd98f00b204e9800998ecf8427e is a digest", "deadbeefdeadbeef is a word", "d41d8cd98f00b204 d41d8cd98f00b20 16 and 15",
    "请看https://example.org/a的说明", "<a href=\"https://example.org\">Annual report</a> (WWW.EXAMPLE.ORG)",
    "naïve«http://a.b/c»café", "and/or either/or 24/7", "/usr/share/doc and C:\\Windows", "ｗｗｗ．example．org and ｈttp://x",
    "exam\u00adple.org/x http:\u200b//split",
    # characters that are not seen
    "co\u00adoperate coop\u200berate", "zero\u200dwidth\u200c joiners\ufeff", "\ufeffbyte order mark", "left\u200eto\u200fright marks",
    "bell\x07 inside\x1bwords \x00nul\x7f", "next\u0085line sep\u2028arator no\u00a0break", "vari\ufe0fation ⌚️ selector",
    "soft\u2060word joiner", "tag\U000e0041s ignored", "fs\x1cgs\x1drs\x1eus\x1f",
    # marks, case and compatibility
    "é e\u0301 É E\u0301", "\u0301leading mark", "ọ̈ o\u0323\u0308 o\u0308\u0323", "Straße STRASSE strasse ẞ", "ΣΊΣΥΦΟΣ σίσυφος ς",
    "İstanbul ISTANBUL ıstanbul", "ﬁne ﬂow ﬃ ﬆ", "ＦＵＬＬ ｗｉｄｔｈ １２３", "Ǆ ǅ ǆ Ĳ ŉ", "㎏ ㍿ ℡ ™ №", "Å Å K K Ω Ω",
    "ﷺ ﻻ ﷲ", "ᾳ ᾼ ΑΙ", "ŉ 'n ʼn",
    # scripts
    "Привет, мир! Ёлка ёж", "Це — об’єкт і об'єкт", "日本語の文章です", "日本 語", "カタカナと ひらがな、漢字ー々", "ｶﾀｶﾅ ガ か゛",
    "한국어 문장입니다", "한국어", "中文没有空格，但是有标点。", "𠮷野家 𪚥", "ไม่มีช่องว่าง ภาษาไทย", "ພາສາລາວ", "မြန်မာဘာသာ", "ភាសាខ្មែរ",
    "مرحبا بالعالم، كيف حالك؟", "العَرَبِيَّة العربية", "ש״ס צה\"ל ג'ירפה", "हिन्दी भाषा क्षत्रिय", "বাংলা ভাষা", "தமிழ் மொழி", "བོད་ཡིག་གི", "አማርኛ ቋንቋ",
    "Tiếng Việt có dấu", "ქართული ენა Ქ", "Հայերեն լեզու", "ᏣᎳᎩ ꮳꮃꭹ", "𐐀𐐨 Deseret", "𞤀𞤁 𞤢𞤣",
    # pictures and signs
    "emoji 😀 between 👩‍👩‍👧‍👦 words", "flags 🇩🇪🇫🇷 here", "1️⃣ keycap", "a😀b", "math 𝒜𝓑 𝟙𝟚 x", "C++ C# .NET a+b=c", "€5 $6 5€ a€b",
    "\ufffd replaced \ufffd", "\ue000 private use",
    # length
    "x" * 16384 + "y end", "é" * 8192 + "a", "日" * 6000, "a" + "é" * 8192 + " z", "x" * 16383 + "é.b", LONG, "la " * 5000,
    "many\n\n  kinds\tof\x0bwhite\x0cspace\r\n",
]


def vector(text):
    fingerprint = doc1.fingerprint(text)
    written = (None, None) if fingerprint is None else (f"{fingerprint:016x}", doc1.encode(fingerprint))
    return {"text": text, "fingerprint": written[0], "letters": written[1]}


json.dump([vector(text) for text in TEXTS], sys.stdout, indent=1)
print()
