"""Ten thousand texts in many scripts: Python's results are those of SQL."""

from typing import Any

import psycopg
import pytest

from simhash_pg import hamming, hamming_similarity, minhash, minhash_bins, simhash, winnow
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
    "scheme", ["doc2", "doc1", "simhash-doc", "commoncrawl", "char:1", "char:5", "word:1", "word:3"]
)
def test_simhash(connection: psycopg.Connection, scheme: str) -> None:
    assert [simhash(text, scheme) for text in TEXTS] == by_sql(connection, f"simhash(doc, '{scheme}')", TEXTS)


def test_the_default_scheme(connection: psycopg.Connection) -> None:
    assert [simhash(text) for text in TEXTS] == by_sql(connection, "simhash(doc)", TEXTS)


def test_sketches(connection: psycopg.Connection) -> None:
    for expression, function in [
        ("minhash(doc)", minhash),
        ("minhash(doc, 7, 'char:3')", lambda text: minhash(text, 7, "char:3")),
        ("minhash_bins(doc)", minhash_bins),
        ("minhash_bins(doc, 256, 'doc2')", lambda text: minhash_bins(text, 256, "doc2")),
        ("winnow_sketch(doc)", winnow),
        ("winnow_sketch(doc, 3, 4)", lambda text: winnow(text, 3, 4)),
    ]:
        # Each has up to 256 numbers, so a tenth of the texts will do.
        assert [function(text) for text in TEXTS[::10]] == by_sql(connection, expression, TEXTS[::10]), expression


def test_distances(connection: psycopg.Connection) -> None:
    pairs = [pair for pair in zip(map(simhash, TEXTS), map(simhash, TEXTS[1:])) if None not in pair]
    pairs += [(-(2**63), 2**63 - 1), (0, -1), (-(2**63), -(2**63))]
    query = "SELECT hamming(a, b), hamming_similarity(a, b) FROM unnest(%s::bigint[], %s::bigint[]) AS t (a, b)"
    rows = connection.execute(query, ([a for a, _ in pairs], [b for _, b in pairs])).fetchall()
    assert rows == [(hamming(a, b), hamming_similarity(a, b)) for a, b in pairs]
