#!/usr/bin/env python3
"""Writes the vectors of folded:doc2, perm:letters:k and folded:perm:letters:k to standard output.

    make_folded.py > folded.json
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs/developers"))
from folded import fingerprint  # noqa: E402
from make_doc2 import TEXTS  # noqa: E402

MARKED = [
    "Ἐν ἀρχῇ ἦν ὁ λόγος", "Εν αρχη ην ο λογος", "ΰ Ὧ ά ϊ Ϋ", "α\u0301 α\u0308\u0301 x\u0301α\u05b0\u0301",
    "בְּרֵאשִׁית בָּרָא אֱלֹהִים", "בראשית ברא אלהים", "\ufb2a\ufb2b\ufb4b \ufb1d \ufb4f א\u05bdב\u05beג",
    "بِسْمِ اللَّهِ الرَّحْمَـٰنِ", "بسم الله الرحمن", "ا\u064e\u0654 أ إ آ ئ \ufe76\ufe7f",
    "ٱلصِّرَٰطَ ٱلَّذِىٓ إِلَىٰ بِهِۦ", "مسؤولة مدرسه", "\ufb50\ufe81\ufe85\ufe8c\ufe94\ufef0\ufef7 ۀ ۂ ۓ ی ک ء",
    "हिन्दी ไม่มี été ệ ё й İı", "ἀβ\u0301γ", "e\u0301\u0301 ж\u0301", "\u0301a", "\u05b0",
]
SCHEMES = ["folded:doc2", "perm:letters:4", "folded:perm:letters:4"]


def vector(text, scheme):
    """Returns the vector of a text."""
    value = fingerprint(text, scheme)
    return {"text": text, "scheme": scheme, "fingerprint": None if value is None else f"{value:016x}"}


if __name__ == "__main__":
    vectors = [vector(text, scheme) for text in MARKED for scheme in SCHEMES]
    vectors += [vector(text, SCHEMES[2]) for text in TEXTS if len(text) < 2000]
    vectors += [vector(MARKED[0] + TEXTS[-60], f"perm:letters:{k}") for k in (1, 2, 3, 5, 32)]
    json.dump(vectors, sys.stdout, indent=1)
    print()
