"""Ten thousand texts in many scripts: Python's results are those of SQL."""

import re
from typing import Any

import psycopg
import pytest

from simhash_pg import code_decode, code_encode, hamming, hamming_similarity, minhash, simhash, winnow_sketch
from texts import texts

TEXTS = texts(10_000)


def by_sql(connection: psycopg.Connection, expression: str, some: list[str]) -> list[Any]:
    query = f"SELECT {expression} FROM unnest(%s::text[]) WITH ORDINALITY AS t (doc, i) ORDER BY i"
    return [value for (value,) in connection.execute(query, (some,))]


def test_the_texts_are_worth_it() -> None:
    assert len(set(TEXTS)) == 10_000
    assert len({character for text in TEXTS for character in text}) > 5000
    assert len({simhash(text) for text in TEXTS}) > 8000


@pytest.mark.parametrize(
    "scheme",
    ["doc2", "doc1", "simhash-doc", "commoncrawl", "char:1", "char:5", "word:1", "word:3"]
    + ["letters:4", "perm:word:3", "folded:doc2"],
)
def test_simhash(connection: psycopg.Connection, scheme: str) -> None:
    assert [simhash(text, scheme) for text in TEXTS] == by_sql(connection, f"simhash(doc, '{scheme}')", TEXTS)


def test_the_default_scheme(connection: psycopg.Connection) -> None:
    assert [simhash(text) for text in TEXTS] == by_sql(connection, "simhash(doc)", TEXTS)


def test_sketches(connection: psycopg.Connection) -> None:
    for expression, function in [
        ("minhash(doc)", minhash),
        ("minhash(doc, 256, 'doc2')", lambda text: minhash(text, 256, "doc2")),
        ("winnow_sketch(doc)", winnow_sketch),
        ("winnow_sketch(doc, 3, 4)", lambda text: winnow_sketch(text, 3, 4)),
    ]:
        # Each has up to 256 numbers, so a tenth of the texts will do.
        assert [function(text) for text in TEXTS[::10]] == by_sql(connection, expression, TEXTS[::10]), expression


def test_distances(connection: psycopg.Connection) -> None:
    pairs = [pair for pair in zip(map(simhash, TEXTS), map(simhash, TEXTS[1:])) if None not in pair]
    pairs += [(-(2**63), 2**63 - 1), (0, -1), (-(2**63), -(2**63))]
    query = "SELECT hamming(a, b), hamming_similarity(a, b) FROM unnest(%s::bigint[], %s::bigint[]) AS t (a, b)"
    rows = connection.execute(query, ([a for a, _ in pairs], [b for _, b in pairs])).fetchall()
    assert rows == [(hamming(a, b), hamming_similarity(a, b)) for a, b in pairs]


def test_codes(connection: psycopg.Connection) -> None:
    numbers = range(400)
    codes = by_sql(connection, "left(repeat(md5(doc), 9), doc::int)", [str(number) for number in numbers])
    assert [code_decode(code) for code in codes] == by_sql(connection, "code_decode(doc)::text", codes)
    decoded = [code_decode(code) for code in codes]
    assert [code_encode(bits) for bits in decoded] == by_sql(connection, "code_encode(doc::varbit)", decoded) == codes


@pytest.mark.parametrize("code", ["", "8b1FcdE8", " 8b1\n f\tc", "8", "0xff", "8b1g", "ä", "\v8", "８"])
def test_codes_that_are_strange(connection: psycopg.Connection, code: str) -> None:
    try:
        (expected,) = connection.execute("SELECT code_decode(%s)::text", (code,)).fetchone() or ()
    except psycopg.Error as error:
        with pytest.raises(ValueError, match=re.escape(str(error.diag.message_primary))):
            code_decode(code)
    else:
        assert code_decode(code) == expected
