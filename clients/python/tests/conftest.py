"""Databases on the server of PGHOST. `make test-python` starts one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import django
import psycopg
import pytest
from django.conf import settings

DJANGO_DATABASE = "django"
SERVER = {"ENGINE": "django.db.backends.postgresql", "NAME": DJANGO_DATABASE}
settings.configure(
    INSTALLED_APPS=["django_app", "examples"],
    DATABASES={"default": SERVER, "server": {**SERVER, "OPTIONS": {"server_side_binding": True}}},
    # A package that the test of migrations makes.
    MIGRATION_MODULES={"django_app": "written"},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()


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


@pytest.fixture(scope="session")
def django_database() -> Iterator[str]:
    """The name of the database that Django's settings have."""
    with new_database(DJANGO_DATABASE) as name:
        yield name


@pytest.fixture
def connection(database: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(dbname=database, autocommit=True) as connection:
        yield connection
