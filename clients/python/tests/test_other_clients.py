"""What docs/clients.md says of pandas and peewee."""

import pandas
import peewee
import psycopg
import pytest
from sqlalchemy import create_engine

from simhash_pg import simhash

# An odd number, which has more bits than a floating-point number.
VALUE = 7678682431537739961
ONE_MISSING = f"SELECT {VALUE} AS si UNION ALL SELECT NULL"


@pytest.mark.parametrize(
    "settings, kept",
    [
        ({}, False),
        ({"dtype": {"si": "Int64"}}, False),
        ({"dtype_backend": "numpy_nullable"}, True),
    ],
)
def test_pandas(database: str, settings: dict[str, object], kept: bool) -> None:
    engine = create_engine(f"postgresql+psycopg:///{database}")
    frame = pandas.read_sql(ONE_MISSING, engine, **settings)
    assert (int(frame.si.dropna()[0]) == VALUE) is kept
    engine.dispose()


@pytest.mark.parametrize("only_save_dirty", [False, True])
def test_peewee(connection: psycopg.Connection, database: str, only_save_dirty: bool) -> None:
    server = peewee.PostgresqlDatabase(database)

    class Page(peewee.Model):
        body = peewee.TextField()
        si = peewee.BigIntegerField(null=True)

    Page._meta.set_database(server)
    Page._meta.only_save_dirty = only_save_dirty
    connection.execute("CREATE TABLE page (id serial, body text, si bigint GENERATED ALWAYS AS (simhash(body)) STORED)")
    Page.create(body="one two three")
    page = Page.get()
    page.body = "four five six"
    if only_save_dirty:
        page.save()
        assert Page.get().si == simhash("four five six")
    else:
        with pytest.raises(peewee.ProgrammingError):
            page.save()
    server.close()
    connection.execute("DROP TABLE page")
