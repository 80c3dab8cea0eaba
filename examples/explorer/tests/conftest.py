"""A database with the corpus, the explorer on it, and a headless Chromium. tools/tests/test-web starts the server."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg
import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService

from explorer.server import Server
from explorer.table import Table, Wanted, find_table

from .corpus import HOSTILE, documents

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-quic", "--no-first-run",
    "--disable-sync", "--disable-background-networking", "--disable-component-update", "--force-device-scale-factor=1",
]
# A role that can read the table document and nothing else, and one that can read the other tables.
READER = f"host={os.environ['PGHOST']} user=explorer dbname=postgres"
VIEWER = READER.replace("explorer", "viewer")


@pytest.fixture(scope="session")
def owner() -> Iterator[psycopg.Connection]:
    """The owner of the tables."""
    with psycopg.connect(user="postgres", dbname="postgres", autocommit=True) as connection:
        connection.execute("CREATE EXTENSION simhash_pg")
        connection.execute(
            """CREATE TABLE document (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text, body text,
                                      si bigint GENERATED ALWAYS AS (simhash(body)) STORED)"""
        )
        connection.cursor().executemany("INSERT INTO document (title, body) VALUES (%s, %s)", documents())
        connection.execute("CREATE INDEX ON document USING hamming (si)")
        connection.execute("VACUUM ANALYZE document")
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        connection.execute("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
        make_role("-v", "schema=public", "-v", "table=document", "postgres")
        connection.execute("CREATE ROLE viewer LOGIN")
        # Names and keys that need quotes, of the kind that breaks out of them.
        connection.execute(
            """CREATE SCHEMA "an ""odd"" one";
               CREATE TABLE "an ""odd"" one"."%s{table}" (
                   "key""s" text PRIMARY KEY, "te%xt" text,
                   "si{}" bigint GENERATED ALWAYS AS (simhash("te%xt", 'word:2')) STORED);
               CREATE INDEX ON "an ""odd"" one"."%s{table}" USING hamming ("si{}");
               GRANT USAGE ON SCHEMA "an ""odd"" one" TO viewer;
               GRANT SELECT ON "an ""odd"" one"."%s{table}" TO viewer"""
        )
        connection.cursor().executemany(
            """INSERT INTO "an ""odd"" one"."%%s{table}" VALUES (%s, %s)""",
            [(title + "?&a=1#b/..", text) for title, text in HOSTILE] + [("copy", HOSTILE[0][1])],
        )
        # Codes of pictures, the first two of which are alike; two are equal.
        connection.execute(
            """CREATE TABLE picture (id integer PRIMARY KEY, name text, code bit(256));
               INSERT INTO picture VALUES (1, 'picture 1', ~ B'0'::bit(256)), (2, 'picture 2', (~ B'0'::bit(256)) << 1);
               INSERT INTO picture
                   SELECT n, 'picture ' || n, (('x' || md5(n::text) || md5('x' || n))::bit(256))
                   FROM generate_series(3, 300) AS n;
               INSERT INTO picture SELECT 1000, 'copy of 3', code FROM picture WHERE id = 3;
               CREATE INDEX ON picture USING hamming (code);
               ANALYZE picture;
               GRANT SELECT ON picture TO viewer"""
        )
        yield connection


def make_role(*arguments: str) -> None:
    """Runs the script as its users do."""
    pg_config = os.environ.get("PG_CONFIG", "pg_config")
    folder = subprocess.run([pg_config, "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
    script = Path(__file__).parent.with_name("role.sql")
    subprocess.run(
        [f"{folder}/psql", "-XqU", "postgres", "-v", "ON_ERROR_STOP=1", "-f", str(script), *arguments], check=True)


@contextmanager
def serving(table: Table) -> Iterator[str]:
    """The explorer's address."""
    server = Server(table, 0)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def served_as(wanted: Wanted) -> AbstractContextManager[str]:
    return serving(find_table(wanted))


def viewed(table: str, **columns: str) -> Wanted:
    """A table of postgres, whom the role that can read several tables has to trust."""
    return Wanted(VIEWER, table, trust=("postgres",), **columns)


def served(table: str) -> AbstractContextManager[str]:
    return served_as(viewed(table))


@pytest.fixture(scope="session")
def site(owner: psycopg.Connection) -> Iterator[str]:
    with served_as(Wanted(READER, "document")) as address:
        yield address


@pytest.fixture(scope="session")
def odd_site(owner: psycopg.Connection) -> Iterator[str]:
    with served('"an ""odd"" one"."%s{table}"') as address:
        yield address


@pytest.fixture(scope="session")
def codes_site(owner: psycopg.Connection) -> Iterator[str]:
    with served("picture") as address:
        yield address


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chrome]:
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    # A page is drawn to the end, and an alert, which would be an attack that worked, fails the test.
    options.unhandled_prompt_behavior = "ignore"
    with tempfile.TemporaryDirectory() as profile:
        for flag in [*FLAGS, f"--user-data-dir={profile}"]:
            options.add_argument(flag)
        browser = Chrome(options, ChromeService(shutil.which("chromedriver")))
        yield browser
        browser.quit()


@pytest.fixture
def browser(chromium: Chrome) -> Chrome:
    """With a window as on a desk, and light."""
    window(chromium, 1100, 800)
    media(chromium, "light")
    return chromium


def window(browser: Chrome, width: int, height: int) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
    )


def media(browser: Chrome, scheme: str) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
