"""SQLAlchemy's type, functions and index, by psycopg and asyncpg."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Computed, Select, String, bindparam, create_engine, event, func, select, text
from sqlalchemy.exc import StatementError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, aliased, mapped_column

import simhash_pg
from simhash_pg.sqlalchemy import (
    Code as Bits,
    Fingerprint,
    hamming,
    hamming_index,
    hamming_similarity,
    near_differences,
    nearest_first,
    simhash,
)
from texts import texts

LEAST = -(2**63)
MOST = 2**63 - 1
# Whatever is lost of 64 bits, one of them changes.
FINGERPRINTS = [LEAST, MOST, 0, -1, 1, 42, 2**31, -(2**31), 2**32, 2**32 + 7, 4565828753376763011, -9169608108452805018]
MANY = "SELECT '', hashint8extended(i, 1) FROM generate_series(1, 20000) AS i"

PDQ = simhash_pg.code_decode("f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22")
NEAR = "01" + PDQ[2:]
ALL_CODES = " || ".join(f"hashint8extended(i, {n})::bit(64)" for n in range(4))


class Base(DeclarativeBase):
    pass


class Code(Base):
    __tablename__ = "code"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String, default="")
    si: Mapped[int | None] = mapped_column(Fingerprint)


class Note(Base):
    __tablename__ = "note"
    id: Mapped[int] = mapped_column(primary_key=True)
    tenant: Mapped[int]
    si: Mapped[int | None] = mapped_column(Fingerprint)


class Picture(Base):
    __tablename__ = "picture"
    id: Mapped[int] = mapped_column(primary_key=True)
    code: Mapped[str | None] = mapped_column(Bits(256))


class Document(Base):
    __tablename__ = "document"
    id: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[str]
    si: Mapped[int | None] = mapped_column(Fingerprint, Computed("simhash(body)", persisted=True))
    by_words: Mapped[int | None] = mapped_column(Fingerprint, Computed("simhash(body, 'word:2')", persisted=True))


class Report(Base):
    __tablename__ = 'a "Report'
    id: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[str]
    si: Mapped[int | None] = mapped_column(Fingerprint, Computed("simhash(body)", persisted=True))


hamming_index("code_si", Code.si, postgresql_with={"fillfactor": 80})
hamming_index("document_si", Document.si)
hamming_index("note_si_tenant", Note.si, Note.tenant)
hamming_index("picture_code", Picture.code)


class Server:
    """Runs statements and looks whether their plans have the index, by a driver."""

    def __init__(self, database: str, driver: str) -> None:
        self.url = f"postgresql+{driver}:///{database}"
        self.asynchronous = driver == "asyncpg"

    def rows(self, statement: Select[Any], explain: bool = False) -> list[Any]:
        return (
            asyncio.run(self.rows_later(statement, explain)) if self.asynchronous else self.rows_now(statement, explain)
        )

    def rows_now(self, statement: Select[Any], explain: bool) -> list[Any]:
        engine = create_engine(self.url)
        if explain:
            event.listen(engine, "before_cursor_execute", explained, retval=True)
        with engine.connect() as connection:
            return list(connection.execute(statement, execution_options={"compiled_cache": None}))

    async def rows_later(self, statement: Select[Any], explain: bool) -> list[Any]:
        engine = create_async_engine(self.url)
        if explain:
            event.listen(engine.sync_engine, "before_cursor_execute", explained, retval=True)
        async with engine.connect() as connection:
            rows = list(await connection.execute(statement))
        await engine.dispose()
        return rows

    def assert_by_index(self, statement: Select[Any], index: str = "code_si") -> None:
        plan = str(self.rows(statement, explain=True))
        assert index in plan and "Seq Scan" not in plan, plan


def explained(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> tuple[str, Any]:
    return f"EXPLAIN {statement}", parameters


@pytest.fixture(scope="module")
def tables(database: str) -> Iterator[str]:
    engine = create_engine(f"postgresql+psycopg:///{database}")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add_all([Code(name=str(value), si=value) for value in FINGERPRINTS])
        session.add_all([Document(body=body) for body in texts(3000)])
        session.add_all([Report(body=f"the ferry terminal is closed {until}") for until in ("today", "until May")])
        session.execute(text(f"INSERT INTO code (name, si) {MANY}"))
        session.execute(text("INSERT INTO note (tenant, si) SELECT i % 50, hashint8extended(i, 1) FROM generate_series(1, 20000) AS i"))
        session.add_all([Picture(code=NEAR), Picture(code=None), Picture(code=PDQ)])
        session.execute(text(f"INSERT INTO picture (code) SELECT {ALL_CODES} FROM generate_series(1, 20000) AS i"))
        session.commit()
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE code, document, note, picture"))
    engine.dispose()
    yield database


@pytest.fixture(params=["psycopg", "asyncpg"])
def server(tables: str, request: pytest.FixtureRequest) -> Server:
    return Server(tables, request.param)


@pytest.mark.parametrize("value", FINGERPRINTS)
def test_all_64_bits_arrive(server: Server, value: int) -> None:
    named = select(Code.si, Code.si.hamming(value), hamming_similarity(value, Code.si)).where(Code.name > "")
    expected = [(si, simhash_pg.hamming(si, value), simhash_pg.hamming_similarity(si, value)) for si in FINGERPRINTS]
    assert server.rows(named.order_by(Code.id)) == expected
    assert server.rows(select(Code.name).where(Code.si == value)) == [(str(value),)]


@pytest.mark.parametrize("value", FINGERPRINTS)
def test_near_and_nearest(server: Server, value: int) -> None:
    near = select(Code.si).where(Code.si.hamming(value) <= 6)
    everything = [si for (si,) in server.rows(select(Code.si))]
    assert sorted(server.rows(near)) == sorted((si,) for si in everything if simhash_pg.hamming(si, value) <= 6)
    server.assert_by_index(near)

    nearest = select(Code.si).order_by(Code.si.hamming(value)).limit(10)
    expected = sorted(simhash_pg.hamming(si, value) for si in everything)[:10]
    assert [simhash_pg.hamming(si, value) for (si,) in server.rows(nearest)] == expected
    server.assert_by_index(nearest)


def test_pages_of_the_nearest_use_the_index(server: Server) -> None:
    everything = server.rows(select(Code.id, Code.si))
    for value in FINGERPRINTS:
        server.assert_by_index(nearest_first(select(Code.id), Code.si, value, 6).limit(10))
        rows = nearest_first(select(Code.id), Code.si, value, 18)
        distances = ((simhash_pg.hamming(si, value), key) for key, si in everything)
        near = [(key,) for distance, key in sorted(distances) if distance <= 18]
        assert server.rows(rows.limit(2)) + server.rows(rows.offset(2)) == near


def test_other_ways_to_the_index(server: Server) -> None:
    other = aliased(Code)
    for statement in [
        select(Code.id).where(Code.si.hamming_similarity(42) >= 0.9),
        select(Code.id).where(hamming(Code.si, 42) < 4).order_by(hamming(Code.si, 42)),
        select(Code.id).where(Code.si.hamming(func.simhash("a text")) <= 3),
        select(Code.id).where(Code.si.hamming(simhash("a text", "word:2")) <= 3),
        select(Code.id).join(other, Code.si.hamming(other.si) <= 3).where(other.id == 5),
    ]:
        server.assert_by_index(statement)


def test_parameters_by_name(server: Server) -> None:
    statement = select(func.count()).where(Code.si.hamming(bindparam("value", MOST, type_=Fingerprint)) <= 0)
    assert server.rows(statement) == [(1,)]


def test_generated_fingerprints(server: Server) -> None:
    rows = server.rows(select(Document.body, Document.si, Document.by_words, simhash(Document.body)))
    assert len(rows) == 3000
    for body, si, by_words, again in rows:
        assert si == again == simhash_pg.simhash(body)
        assert by_words == simhash_pg.simhash(body, "word:2")


def test_words_that_differ(server: Server) -> None:
    words = near_differences(Report.si, Report.body, 64, sample=10)
    rows = server.rows(select(words.c.feature, words.c.pairs, words.c.share, words.c.a, words.c.b))
    assert [row[:3] for row in rows] == [("may", 2, 1), ("today", 2, 1), ("until", 2, 1)]
    assert {row.a for row in rows} | {row.b for row in rows} == {"1", "2"}


def test_expressions_are_comparable(server: Server) -> None:
    """What `simhash` returns has the methods of a column."""
    distance = simhash("some text").hamming(simhash_pg.simhash("some text"))  # type: ignore[attr-defined]
    assert server.rows(select(distance)) == [(0,)]


def test_index_is_of_our_method(server: Server) -> None:
    query = "split_part(indexdef, ' USING ', 2) FROM pg_indexes WHERE indexname ~ '_si$' ORDER BY indexname"
    assert server.rows(select(text(query))) == [("hamming (si) WITH (fillfactor='80')",), ("hamming (si)",)]


def test_an_index_with_a_further_column(server: Server) -> None:
    (value,) = server.rows(select(Note.si).where(Note.id == 7))[0]
    near = select(Note.id).where(Note.si.hamming(value) <= 12, Note.tenant == 7)
    assert (7,) in server.rows(near)
    server.assert_by_index(near, "note_si_tenant")


def test_codes(server: Server) -> None:
    near = select(Picture.code).where(Picture.code.hamming(PDQ) <= 15)
    assert sorted(server.rows(near)) == sorted([(PDQ,), (NEAR,)])
    server.assert_by_index(near, "picture_code")
    nearest = select(Picture.code, hamming(PDQ, Picture.code)).order_by(Picture.code.hamming(PDQ)).limit(2)
    assert server.rows(nearest) == [(PDQ, 0), (NEAR, sum(a != b for a, b in zip(PDQ, NEAR)))]
    server.assert_by_index(nearest, "picture_code")
    assert server.rows(select(func.count()).where(Picture.code == PDQ)) == [(1,)]
    assert server.rows(select(Picture.code).where(Picture.id == 2)) == [(None,)]
    assert server.rows(nearest_first(select(Picture.code), Picture.code, PDQ, 15)) == [(PDQ,), (NEAR,)]
    other = aliased(Picture)
    pairs = select(Picture.id, other.id).join(other, Picture.code.hamming(other.code) <= 15).where(Picture.id < other.id)
    assert server.rows(pairs) == [(1, 3)]


def test_what_is_wrong_is_told(server: Server) -> None:
    for call, error, message in [
        (lambda: Code.si.hamming(2**63 + 5), ValueError, r"is not a bigint\nsimhash_pg.signed\(\) converts"),
        (lambda: Code.si.hamming(True), TypeError, "a fingerprint is an int, not <class 'bool'>"),
        (lambda: Code.si.hamming("ff"), TypeError, "a fingerprint is an int, not <class 'str'>"),
        (lambda: Picture.code.hamming(5), TypeError, "a code is a str of the digits 0 and 1, not <class 'int'>"),
        (lambda: Picture.code.hamming("ff"), ValueError, "has other digits than 0 and 1\nsimhash_pg.code_decode"),
    ]:
        with pytest.raises(error, match=message):
            call()
    for statement, message in [
        (select(Code.id).where(Code.si == 2**63 + 5), "is not a bigint"),
        (select(Picture.id).where(Picture.code == "01"), "a code of 256 bits is needed, and this one has 2"),
    ]:
        with pytest.raises(StatementError, match=message):
            server.rows(statement)
