"""Runs the Python blocks of docs/clients.md and of README.md."""

import ast
import asyncio
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import asyncpg
import psycopg
import pytest
from django.core.exceptions import ValidationError
from django.db import connections, models
from sqlalchemy import Computed, Connection, Select, create_engine, select, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

import simhash_pg.alembic
from simhash_pg import signed, simhash, unsigned

README = Path(__file__).parents[1] / "README.md"
CLIENTS = Path(__file__).parents[3] / "docs" / "clients.md"
TEXT = "The harbour office closed the old ferry terminal on Friday, after divers found cracks."
VALUE = 4565828753376763011
# Texts of eight words without meaning, enough for an index to be worth it.
MANY = r"""SELECT regexp_replace(translate(md5(i::text), '0123456789', 'ghijklmnop'), '(....)', '\1 ', 'g')
    FROM generate_series(1, 20000) AS i"""


def blocks(page: Path, heading: str, language: str = "python") -> list[str]:
    """The blocks of a language under a heading."""
    parts = re.split(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    section = dict(zip(parts[1::2], parts[2::2]))[heading]
    return [
        textwrap.dedent(block) for block in re.findall(rf"^ *```{language}\n(.*?)^ *```", section, re.DOTALL | re.MULTILINE)
    ]


def run(block: str, **names: Any) -> dict[str, Any]:
    """Runs a block, and returns the names that it has made."""
    exec(block, names)
    return names


async def run_later(block: str, **names: Any) -> dict[str, Any]:
    """Runs a block in which `await` stands outside of functions."""
    await eval(compile(block, "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    return names


def values_of(block: str, names: dict[str, Any]) -> list[Any]:
    """Runs a block, and returns the values of its expressions."""
    values = []
    for statement in ast.parse(block).body:
        if isinstance(statement, ast.Expr):
            values.append(eval(ast.unparse(statement), names))
        else:
            exec(ast.unparse(statement), names)
    return values


def test_fingerprints() -> None:
    (block,) = blocks(README, "Fingerprints")
    assert run(block)["a"] is not None


def test_codes() -> None:
    (block,) = blocks(README, "Codes of any width")
    run(block)


def test_unsigned_numbers() -> None:
    row = re.search(r"^\| Python \| `(.*?)` \| `(.*?)` \|$", CLIENTS.read_text(encoding="utf-8"), re.MULTILINE)
    assert row
    for si in (0, 1, -1, 2**63 - 1, -(2**63)):
        number = eval(row[1], {"si": si})
        assert number == unsigned(si)
        assert eval(row[2], {"number": number}) == signed(number) == si


@pytest.fixture
def page(connection: psycopg.Connection) -> Iterator[None]:
    """The table that the examples for drivers are for."""
    connection.execute("CREATE TABLE page (id bigint GENERATED ALWAYS AS IDENTITY, body text)")
    connection.execute("INSERT INTO page (body) VALUES (%s)", (TEXT,))
    connection.execute(f"INSERT INTO page (body) {MANY}")
    (declare,) = blocks(CLIENTS, "Drivers", "postgresql")
    for statement in declare.split(";")[:-1]:
        connection.execute(statement)
    connection.execute("VACUUM ANALYZE page")
    yield
    connection.execute("DROP TABLE page")


def assert_right(names: dict[str, Any], connection: psycopg.Connection) -> None:
    """The variables of an example have what sequential scans find."""
    assert names["si"] == simhash(TEXT)
    connection.execute("SET enable_indexscan = off; SET enable_bitmapscan = off")
    rows = connection.execute("SELECT id, hamming(si, %s) FROM page ORDER BY 2", (simhash(TEXT),)).fetchall()
    distances = dict(rows)
    assert {row[0] for row in names["near"]} == {id for id, distance in rows if distance <= 6}
    assert [distances[row[0]] for row in names["nearest"]] == [distance for _, distance in rows[:10]]


def test_psycopg(connection: psycopg.Connection, page: None) -> None:
    (block,) = blocks(CLIENTS, "psycopg 3 (Python)")
    names = run(block, connection=connection, value=simhash(TEXT))
    queries = re.findall(r'"(SELECT id .*?)"', block)
    assert len(queries) == 2
    for query in queries:
        plan = connection.execute(f"EXPLAIN {query}".replace("%s", str(VALUE), 1).replace("%s", "6"))
        assert "page_si" in str(plan.fetchall())
    assert_right(names, connection)


def test_asyncpg(connection: psycopg.Connection, page: None) -> None:
    async def example() -> dict[str, Any]:
        own = await asyncpg.connect(database=connection.info.dbname)
        (block,) = blocks(CLIENTS, "asyncpg (Python)")
        names = await run_later(block, connection=own, value=simhash(TEXT))
        await own.close()
        return names

    assert_right(asyncio.run(example()), connection)


def declared_in_sqlalchemy(block: str, database: str) -> tuple[Connection, dict[str, Any]]:
    """Runs the block that declares a table, and makes the table with many rows."""

    class Base(DeclarativeBase):
        pass

    names = run(block, Base=Base, Mapped=Mapped, mapped_column=mapped_column, Computed=Computed, select=select)
    connection = create_engine(f"postgresql+psycopg:///{database}").connect()
    connection = connection.execution_options(isolation_level="AUTOCOMMIT")
    metadata = names["Base"].metadata
    metadata.create_all(connection)
    (table,) = metadata.tables
    connection.execute(text(f"INSERT INTO {table} (body) VALUES ('{TEXT}')"))
    connection.execute(text(f"INSERT INTO {table} (body) {MANY}"))
    connection.execute(text(f"VACUUM ANALYZE {table}"))
    return connection, names


def plan_in_sqlalchemy(connection: Connection, statement: Select[Any]) -> str:
    query = statement.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})
    return str(connection.execute(text(f"EXPLAIN {query}")).fetchall())


def test_sqlalchemy(database: str) -> None:
    declare, query = blocks(CLIENTS, "SQLAlchemy and Alembic (Python)")
    connection, names = declared_in_sqlalchemy(declare, database)
    with Session(connection) as session:
        names = run(query, **names, session=session, value=simhash(TEXT))
        assert names["si"] == simhash(TEXT)
        assert TEXT in [page.body for page in names["near"]]
        assert len(names["nearest"]) == 10
    connection.engine.dispose()


def test_sqlalchemy_in_the_readme(database: str) -> None:
    declare, queries, look, _ = blocks(README, "SQLAlchemy and Alembic")
    connection, names = declared_in_sqlalchemy(declare, database)
    statements = values_of(queries, {**names, "value": VALUE})
    assert len(statements) == 6
    for statement in statements:
        connection.execute(statement)
        plan = plan_in_sqlalchemy(connection, statement)
        assert "using article_si" in plan or "Near Join" in plan
    (words,) = values_of(look, names)
    assert connection.execute(words).keys() == ["feature", "pairs", "share", "a", "b"]
    connection.engine.dispose()


def test_the_constraint_of_sqlalchemy_in_the_readme(database: str) -> None:
    (block,) = blocks(README, "Refuse near-duplicates in SQLAlchemy")
    names = run(block)
    engine = create_engine(f"postgresql+psycopg:///{database}")
    names["Base"].metadata.create_all(engine)

    def insert(tenant: int, body: str) -> None:
        with Session(engine) as session:
            session.add(names["Ticket"](tenant=tenant, body=body))
            session.commit()

    insert(1, TEXT)
    insert(2, TEXT)
    insert(1, "Where is order 4711?")
    insert(1, "Where is order 4712?")
    with pytest.raises(IntegrityError, match="no_ticket_twice"):
        insert(1, TEXT.upper())
    engine.dispose()


def test_alembic_in_the_readme() -> None:
    block = blocks(README, "SQLAlchemy and Alembic")[3]
    context = Mock()
    run(block, context=context, connection=1, metadata=2)
    assert context.configure.call_args.kwargs["render_item"] is simhash_pg.alembic.render_item


def declared_in_django(block: str, name: str, many: bool = True) -> dict[str, Any]:
    """Runs the block that declares a model of this name, and makes the table, with many rows."""
    names = run(block, __name__="examples", models=models)
    with connections["default"].schema_editor() as editor:
        editor.create_model(names[name])
    if not many:
        return names
    with connections["default"].cursor() as cursor:
        table = names[name]._meta.db_table
        cursor.execute(f"INSERT INTO {table} (body) VALUES ('{TEXT}')")
        cursor.execute(f"INSERT INTO {table} (body) {MANY}")
        cursor.execute(f"VACUUM ANALYZE {table}")
    return names


def test_django(django_database: str) -> None:
    declare, query = blocks(CLIENTS, "Django (Python)")
    names = run(query, **declared_in_django(declare, "Page"), value=simhash(TEXT))
    assert names["si"] == simhash(TEXT)
    assert TEXT in [page.body for page in names["near"]]
    for rows in (names["near"], names["nearest"]):
        assert "page_si" in rows.explain()
    connections.close_all()


def test_django_in_the_readme(django_database: str) -> None:
    declare, queries = blocks(README, "Django")
    names = declared_in_django(declare, "Article")
    found = values_of(queries, {**names, "value": VALUE})
    assert len(found) == 7
    for rows in found:
        list(rows)
        assert "article_si" in rows.explain()
    connections.close_all()


def test_the_constraint_of_django_in_the_readme(django_database: str) -> None:
    (block,) = blocks(README, "Refuse near-duplicates in Django")
    note = declared_in_django(block, "Note", many=False)["Note"]
    note.objects.create(tenant=1, body=TEXT)
    note(tenant=2, body=TEXT).full_clean()
    with pytest.raises(ValidationError, match="no_note_twice"):
        note(tenant=1, body=TEXT + "!").full_clean()
    connections.close_all()
