"""The table that is shown: its columns, found in the catalog, and connections that only read it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import namedtuple_row

if TYPE_CHECKING:
    from typing import LiteralString

Connection = psycopg.Connection[Any]

# Longer than any page takes on some thousand rows; shorter than a visitor waits.
STATEMENT_TIMEOUT = "20s"
# Tried in this order, if the user names none.
SCHEMES = ["doc2", "doc1", "commoncrawl", "simhash-doc"]
SCHEMES += [f"{unit}:{size}" for unit in ("word", "char") for size in range(1, 13)]
# The first of these that exists is shown as the name of a document.
TITLES = ["title", "name", "headline", "subject", "path", "url"]


class Unsuitable(Exception):
    """The table cannot be shown. The message says what to do."""


@dataclass(frozen=True)
class Wanted:
    """What the user has said about the table. Columns that are None are looked for."""

    database: str
    table: str
    text: str | None = None
    fingerprint: str | None = None
    key: str | None = None
    title: str | None = None
    scheme: str | None = None

    def connect(self) -> Connection:
        """A connection in which every transaction is read only."""
        database = self.database
        conninfo = database if "=" in database or "://" in database else make_conninfo(dbname=database)
        return psycopg.connect(
            conninfo,
            autocommit=True,
            row_factory=namedtuple_row,
            client_encoding="utf8",
            application_name="simhash_pg explorer",
            options=f"-c default_transaction_read_only=on -c statement_timeout={STATEMENT_TIMEOUT}",
        )


@dataclass(frozen=True)
class Table:
    """A table that can be shown."""

    wanted: Wanted
    schema: str
    name: str
    key: str
    text: str
    fingerprint: str
    title: str | None
    scheme: str

    def connect(self) -> Connection:
        """A connection in which the functions of the extension are found, and no others but PostgreSQL's."""
        connection = self.wanted.connect()
        try:
            find_extension(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def sql(self, template: LiteralString) -> sql.Composed:
        """A statement with parameters, in which {table}, {key}, {text}, {si} and {title} are names. The table is d."""
        text, title = identifier("d", self.text), identifier("d", self.title or self.text)
        return sql.SQL(template).format(
            table=identifier(self.schema, self.name),
            key=identifier("d", self.key),
            text=text,
            si=identifier("d", self.fingerprint),
            title=sql.SQL("{}::text" if self.title else "left({}, 80)").format(title),
        )


def identifier(*names: str) -> sql.Identifier:
    """A quoted name. A percent sign in it would be read as a parameter, so it is doubled as in the rest of a query."""
    return sql.Identifier(*(name.replace("%", "%%") for name in names))


def find_extension(connection: Connection) -> None:
    found = connection.execute(
        """SELECT set_config('search_path', quote_ident(nspname), false)
           FROM pg_extension JOIN pg_namespace AS n ON n.oid = extnamespace WHERE extname = 'simhash_pg'"""
    ).fetchone()
    if not found:
        raise Unsuitable("The extension is not in this database. Its owner says: CREATE EXTENSION simhash_pg;")


def find_table(wanted: Wanted) -> Table:
    """Looks up what the user has not said. Raises Unsuitable, or an error of psycopg."""
    with closing(wanted.connect()) as connection:
        relation = connection.execute(
            """SELECT c.oid, nspname AS schema, relname AS name
               FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace WHERE c.oid = to_regclass(%s)""",
            [wanted.table],
        ).fetchone()
        if not relation:
            raise Unsuitable(f"There is no table {wanted.table} in this database. TABLE=schema.name names it.")
        find_extension(connection)
        columns = Columns(connection, relation.oid, wanted.table)
        key = columns.key(wanted.key)
        fingerprint = columns.fingerprint(wanted.fingerprint)
        title = columns.title(wanted.title)
        draft = Table(wanted, relation.schema, relation.name, key, "", fingerprint, title, "")
        text, scheme = columns.text_and_scheme(draft)
        return replace(draft, text=text, scheme=scheme)


class Columns:
    """The columns of a table, by what they are for."""

    def __init__(self, connection: Connection, oid: int, table: str) -> None:
        self.connection, self.oid, self.table = connection, oid, table
        self.types: dict[str, str] = dict(
            connection.execute(
                """SELECT attname, format_type(atttypid, NULL) FROM pg_attribute
                   WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped ORDER BY attnum""",
                [oid],
            ).fetchall()
        )

    def checked(self, column: str, variable: str) -> str:
        if column not in self.types:
            raise Unsuitable(f"{self.table} has no column {column}. {variable}= names one of: {', '.join(self.types)}.")
        return column

    def key(self, wanted: str | None) -> str:
        if wanted:
            return self.checked(wanted, "KEY")
        found = self.connection.execute(
            """SELECT attname FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
               WHERE indrelid = %s AND indisprimary AND indnkeyatts = 1""",
            [self.oid],
        ).fetchone()
        if not found:
            raise Unsuitable(f"{self.table} has no primary key of one column. KEY= names a column that is unique.")
        return str(found.attname)

    def fingerprint(self, wanted: str | None) -> str:
        if wanted:
            return self.checked(wanted, "FINGERPRINT")
        found = self.connection.execute(
            """SELECT DISTINCT attname
               FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
                   JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0] AND atttypid = 'bigint'::regtype
               WHERE indrelid = %s AND amname = 'hamming' ORDER BY attname""",
            [self.oid],
        ).fetchall()
        if not found:
            raise Unsuitable(
                f"{self.table} has no bigint column with an index of type hamming. Make one by"
                f" CREATE INDEX ON {self.table} USING hamming (your_column), or name the column by FINGERPRINT=."
            )
        if len(found) > 1:
            names = ", ".join(row.attname for row in found)
            raise Unsuitable(f"{self.table} has several columns of fingerprints. FINGERPRINT= names one of: {names}.")
        return str(found[0].attname)

    def title(self, wanted: str | None) -> str | None:
        if wanted:
            return self.checked(wanted, "TITLE")
        return next((name for name in TITLES if name in self.types), None)

    def text_and_scheme(self, table: Table) -> tuple[str, str]:
        """The first column of text, and the first scheme, that give the fingerprints of five rows."""
        wanted = table.wanted
        if wanted.text and wanted.scheme:
            return self.checked(wanted.text, "TEXT"), wanted.scheme
        texts = [name for name, type in self.types.items() if type in ("text", "character varying", "character")]
        schemes = [wanted.scheme] if wanted.scheme else SCHEMES
        for text in [self.checked(wanted.text, "TEXT")] if wanted.text else texts:
            candidate = replace(table, text=text)
            found = self.connection.execute(
                candidate.sql(
                    """SELECT scheme FROM unnest(%s::text[]) WITH ORDINALITY AS s (scheme, place)
                       WHERE (SELECT bool_and(simhash(body, scheme) = si)
                              FROM (SELECT {text}::text AS body, {si} AS si FROM {table} AS d
                                    WHERE {si} IS NOT NULL LIMIT 5) AS five)
                       ORDER BY place LIMIT 1"""
                ),
                [schemes],
            ).fetchone()
            if found:
                return text, found.scheme
        tried = "this scheme" if wanted.scheme else "a scheme that the explorer knows"
        raise Unsuitable(
            f"No row of {self.table} has a fingerprint {table.fingerprint} that is simhash(text, scheme) of"
            f" {wanted.text or 'a column of text'} with {tried}. Name both: TEXT=column SCHEME=word:2."
        )
