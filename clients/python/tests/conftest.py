"""Databases on the server of PGHOST. `make test-python` starts one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest


@contextmanager
def new_database(name: str) -> Iterator[str]:
    """A database that has the extension."""
    if "PGHOST" not in os.environ:
        pytest.skip("needs a server with the extension: make test-python")
    with psycopg.connect(dbname="postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        with psycopg.connect(dbname=name, autocommit=True) as inside:
            inside.execute("CREATE EXTENSION simhash_pg")
        yield name
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a database of its own for each file of tests."""
    with new_database(request.module.__name__) as name:
        yield name


@pytest.fixture
def connection(database: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(dbname=database, autocommit=True) as connection:
        yield connection
