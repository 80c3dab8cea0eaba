"""The index for Meta's threatexchange answers as their signal type compares hashes one by one."""

import io
import random

import psycopg
import pytest
from test_examples import README, blocks, run
from threatexchange.signal_type.pdq.signal import PdqSignal

from simhash_pg.threatexchange import PDQIndexInPostgres

SEED = 3


@pytest.fixture
def index(database: str):
    index = PDQIndexInPostgres(conninfo=f"dbname={database}")
    yield index
    index.drop()
    index.dispose()


def plain(matches: list) -> list[tuple[int, object]]:
    return sorted((match.similarity_info.distance, match.metadata) for match in matches)


def found(index: PDQIndexInPostgres, query: str) -> list[tuple[int, object]]:
    return plain(index.query(query))


def near(rng: random.Random, hash_: str, bits: int) -> str:
    number = int(hash_, 16)
    for place in rng.sample(range(256), bits):
        number ^= 1 << place
    return f"{number:064x}"


def test_equals_their_comparison(index: PDQIndexInPostgres) -> None:
    rng = random.Random(SEED)
    examples = PdqSignal.get_examples()
    stored = examples + [near(rng, rng.choice(examples), rng.randint(0, 60)) for _ in range(3000)]
    index.add_all((hash_, place) for place, hash_ in enumerate(stored))
    assert len(index) == len(stored)
    queries = [near(rng, hash_, 10) for hash_ in rng.sample(stored, 40)] + examples
    total = 0
    for query, matches in zip(queries, index.query_all(queries), strict=True):
        compared = [(PdqSignal.compare_hash(hash_, query), place) for place, hash_ in enumerate(stored)]
        expected = sorted((result.distance.distance, place) for result, place in compared if result.match)
        assert found(index, query) == plain(matches) == expected, f"seed {SEED}"
        total += len(expected)
    assert total > len(queries)


def test_the_index_is_used(index: PDQIndexInPostgres, connection: psycopg.Connection) -> None:
    index.add_all((PdqSignal.get_random_signal(), i) for i in range(30000))
    connection.execute(f"ANALYZE {index.table}")
    query = index._query.as_string(connection).replace("%(code)s", f"B'{0:0256b}'")
    plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN {query}"))
    assert f"{index.table}_code" in plan


def test_another_process_sees_it_at_once(index: PDQIndexInPostgres) -> None:
    stream = io.BytesIO()
    index.serialize(stream)
    stream.seek(0)
    other = PDQIndexInPostgres.deserialize(stream)
    hash_ = PdqSignal.get_random_signal()
    assert found(other, hash_) == []
    index.add(hash_, {"list": "A", "tags": ["x"]})
    index.add(hash_, "again")
    assert [match.metadata for match in other.query(hash_)].count("again") == 1
    assert len(other) == 2
    other.dispose()


def test_all_or_none(index: PDQIndexInPostgres) -> None:
    with pytest.raises(ValueError, match="invalid PDQ hash"):
        index.add_all([(PdqSignal.get_random_signal(), 1), ("ff", 2)])
    assert len(index) == 0


def test_the_readme(database: str) -> None:
    index, signal = blocks(README, "Hash matching for moderation")
    names = run(index, conninfo=f"dbname={database}")
    names["index"].drop()
    for opened in names["index"], names["elsewhere"]:
        opened.dispose()
    assert run(signal)["StoredPdqSignal"].get_index_cls() is PDQIndexInPostgres
