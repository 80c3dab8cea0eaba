"""The table that is shown: its columns, found in the catalog, and transactions that only read it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import namedtuple_row

from .functions import Functions, qualified
from .safety import Unsuitable, check, restrict

if TYPE_CHECKING:
    from typing import LiteralString

Connection = psycopg.Connection[Any]

# Longer than any page takes whose limits fit; shorter than a visitor waits.
STATEMENT_TIMEOUT = "20s"
# Tried in this order, if the user names none.
SCHEMES = ["doc2", "doc1", "commoncrawl", "simhash-doc"]
SCHEMES += [f"{unit}:{size}" for unit in ("word", "char", "letters") for size in range(1, 13)]
# The first of these that exists is shown as the name of a document.
TITLES = ["title", "name", "headline", "subject", "path", "url"]
# The first of these that has bytes is shown as the picture of a row.
PICTURES = ["picture", "image", "photo", "thumbnail", "data"]
# The radius to begin with, of tables of up to that many rows.
RADII = [(30_000, 12), (300_000, 10), (3_000_000, 8), (30_000_000, 7)]


@dataclass(frozen=True)
class Wanted:
    """What the user has said about the table. Columns that are None are looked for."""

    database: str
    table: str
    text: str | None = None
    fingerprint: str | None = None
    key: str | None = None
    title: str | None = None
    picture: str | None = None
    scheme: str | None = None
    # The roles whose code may run with the privileges of the role that connects.
    trust: tuple[str, ...] = ()

    def connect(self) -> Connection:
        """A connection in a transaction that is read only, and stays so."""
        database = self.database
        conninfo = database if "=" in database or "://" in database else make_conninfo(dbname=database)
        connection = psycopg.connect(
            conninfo, row_factory=namedtuple_row, client_encoding="utf8", application_name="simhash_pg explorer"
        )
        connection.read_only = True
        return connection


@dataclass(frozen=True)
class Table:
    """A table that can be shown."""

    wanted: Wanted
    schema: str
    name: str
    key: str
    # Codes that are not of texts, such as those of images, may come without texts.
    text: str | None
    fingerprint: str
    title: str | None
    # Of fingerprints of texts; None for codes of anything else.
    scheme: str | None
    # Whether the column has strings of bits, and how many bits each has, if the type says it.
    is_bits: bool = False
    width: int | None = 64
    # Bytes of pictures, or their addresses elsewhere.
    picture: str | None = None
    has_addresses: bool = False
    # By the last ANALYZE; 0 if there was none.
    rows: int = 0

    @property
    def first_radius(self) -> int:
        """Where docs/choosing-a-threshold.md says to start: for documents by the size of the table, and for pictures."""
        if self.is_bits:
            return self.most_bits * 31 // 256
        return next((radius for rows, radius in RADII if self.rows <= rows), 6)

    @property
    def most_bits(self) -> int:
        """The largest distance that can be asked for."""
        return self.width or 65_535

    @property
    def columns(self) -> str:
        """What each column is for."""
        code = f"code {self.fingerprint}" if self.is_bits else f"fingerprint {self.fingerprint} ({self.scheme})"
        picture = f", picture {self.picture}" if self.picture else ""
        return f"key {self.key}, text {self.text or 'none'}, title {self.title or 'none'}, {code}{picture}"

    def connect(self) -> Connection:
        """A connection in a transaction in which nothing is found but what is PostgreSQL's or named by its schema."""
        connection = self.wanted.connect()
        try:
            self.check(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for one page, in a transaction that is checked again after its last statement.

        The lock that check() takes keeps the owner from dropping an index, but not from creating one. Statistics can
        even be dropped again before the second check. Then only the role's lack of other privileges protects.
        """
        with closing(self.connect()) as connection:
            yield connection
            try:
                self.check(connection)
            except Unsuitable as problem:
                raise Unsuitable("The table or the role was changed while the page was made, so what had been read was"
                                 f" discarded. {problem}") from problem

    def check(self, connection: Connection) -> None:
        """Holds the definition of the table as it is, and looks whether it may be read."""
        # Each time: code that has run meanwhile may have set a path to catalogs of its own.
        restrict(connection, STATEMENT_TIMEOUT)
        names = [column for column in (self.key, self.text, self.title, self.fingerprint, self.picture) if column]
        found = self.relation(connection)
        name = sql.Identifier(self.schema, self.name)
        if found.relkind in ("r", "p"):
            connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(name))
        else:
            # LOCK TABLE refuses a materialized view. This locks it, and neither plans nor runs anything.
            connection.execute(sql.SQL("PREPARE held AS SELECT FROM {}; DEALLOCATE held").format(name))
        # Looked up again: before the lock, the name could still be given to another one.
        if self.relation(connection) != found:
            raise Unsuitable(f"The table {self.schema}.{self.name} was replaced just now. Load the page again.")
        check(connection, found.oid, names, self.wanted.trust)

    def relation(self, connection: Connection) -> Any:
        found = connection.execute(
            """SELECT c.oid, relkind FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
               WHERE nspname = %s AND relname = %s""",
            [self.schema, self.name],
        ).fetchone()
        if not found:
            raise Unsuitable(f"The table {self.schema}.{self.name} is gone. Start the explorer again.")
        return found

    def sql(self, functions: Functions, template: LiteralString) -> sql.Composed:
        """A statement with parameters, in which the table is d, and these are names or expressions:

        {table}, {key}, {title}; {text} and {content}, by which copies are known; {picture}, the address of a picture, or
        '' if the row has its bytes, which are {bytes}; {si}, of exactly the type {code} that our functions take; and the functions of functions.py.
        """
        column = sql.SQL("{}::text").format(identifier("d", self.text)) if self.text else sql.SQL("NULL::text")
        code = sql.SQL('"bit"' if self.is_bits else "bigint")
        si = sql.SQL("{}::{}").format(identifier("d", self.fingerprint), code)
        key = identifier("d", self.key)
        title = sql.SQL("{}::text").format(identifier("d", self.title)) if self.title else (
            sql.SQL("left({}, 80)").format(column) if self.text else sql.SQL("{}::text").format(key))
        shown: LiteralString = "NULL::text" if not self.picture else (
            "CASE WHEN {0} ~ '^https?://' THEN {0}::text END" if self.has_addresses else "CASE WHEN {0} IS NOT NULL THEN '' END")
        stored: LiteralString = "NULL::bytea" if not self.picture or self.has_addresses else (
            "CASE WHEN octet_length({0}) < 20000000 THEN {0} END")
        name = identifier("d", self.picture or self.key)
        picture = sql.SQL(shown).format(name)
        pictured = sql.SQL(stored).format(name)
        return sql.SQL(template).format(
            table=identifier(self.schema, self.name), key=key, text=column, si=si, code=code, title=title, picture=picture, bytes=pictured,
            content=column if self.text else sql.SQL("{}::text").format(si),
            **functions,
        )


def identifier(*names: str) -> sql.Identifier:
    """A quoted name. A percent sign in it would be read as a parameter, so it is doubled as in the rest of a query."""
    return sql.Identifier(*(name.replace("%", "%%") for name in names))


def find_functions(connection: Connection) -> Functions:
    found = connection.execute(
        """SELECT nspname FROM pg_extension JOIN pg_namespace AS n ON n.oid = extnamespace
           WHERE extname = 'simhash_pg'"""
    ).fetchone()
    if not found:
        raise Unsuitable("The extension is not in this database. Its owner says: CREATE EXTENSION simhash_pg;")
    return qualified(found.nspname)


def find_table(wanted: Wanted) -> Table:
    """Looks up what the user has not said. Raises Unsuitable, or an error of psycopg."""
    with closing(wanted.connect()) as connection:
        # The one statement with the search path of the user, who may name the table without its schema.
        named = connection.execute(
            "SELECT pg_catalog.to_regclass(%s::pg_catalog.text)::pg_catalog.oid AS oid", [wanted.table]
        ).fetchone()
        restrict(connection, STATEMENT_TIMEOUT)
        relation = connection.execute(
            """SELECT c.oid, nspname AS schema, relname AS name, greatest(reltuples, 0)::bigint AS rows
               FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace WHERE c.oid = %s""",
            [named.oid if named else None],
        ).fetchone()
        if not relation:
            raise Unsuitable(f"There is no table {wanted.table} in this database. TABLE=schema.name names it.")
        columns = Columns(connection, relation.oid, wanted.table, find_functions(connection))
        key = columns.key(wanted.key)
        fingerprint = columns.fingerprint(wanted.fingerprint)
        title = columns.title(wanted.title)
        is_bits, width = columns.kind(fingerprint)
        picture, has_addresses = columns.picture(wanted.picture)
        draft = Table(wanted, relation.schema, relation.name, key, None, fingerprint, title, None, is_bits, width,
                      picture, has_addresses, relation.rows)
        # No row is read before this.
        draft.check(connection)
        if is_bits:
            found = replace(draft, text=columns.checked(wanted.text, "TEXT") if wanted.text else None)
        else:
            text, scheme = columns.text_and_scheme(draft)
            found = replace(draft, text=text, scheme=scheme)
        found.check(connection)
        return found


class Columns:
    """The columns of a table, by what they are for."""

    def __init__(self, connection: Connection, oid: int, table: str, functions: Functions) -> None:
        self.connection = connection
        self.oid = oid
        self.table = table
        self.functions = functions
        # By the names of the columns: the type behind any domains, and what it says beyond its name, such as a width.
        self.types: dict[str, tuple[str, int]] = {
            row.attname: (row.type, row.modifier)
            for row in connection.execute(
                """WITH RECURSIVE c AS (
                       SELECT attname, attnum, atttypid AS id, atttypmod AS modifier FROM pg_attribute
                       WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped
                       UNION ALL
                       SELECT attname, attnum, typbasetype, typtypmod FROM c JOIN pg_type ON oid = id
                       WHERE typtype = 'd')
                   SELECT attname, format_type(id, NULL) AS type, modifier
                   FROM c JOIN pg_type ON oid = id WHERE typtype <> 'd' ORDER BY attnum""",
                [oid],
            )
        }

    def checked(self, column: str, variable: str) -> str:
        if column not in self.types:
            raise Unsuitable(f"{self.table} has no column {column}. {variable}= names one of: {', '.join(self.types)}.")
        return column

    def key(self, wanted: str | None) -> str:
        if wanted:
            return self.checked(wanted, "KEY")
        found = self.connection.execute(
            """SELECT array_agg(attname ORDER BY n) AS names
               FROM pg_index, unnest(indkey) WITH ORDINALITY AS k (number, n)
                   JOIN pg_attribute ON attnum = number
               WHERE indrelid = %s AND attrelid = indrelid AND indisprimary AND n <= indnkeyatts""",
            [self.oid],
        ).fetchone()
        names = (found.names if found else None) or []
        if len(names) == 1:
            return str(names[0])
        reason = f"a primary key of several columns ({', '.join(names)})" if names else "no primary key"
        raise Unsuitable(
            f"{self.table} has {reason}, and the explorer calls a row by one column. KEY= names a column that is"
            f" unique. If there is none, this makes one: ALTER TABLE {self.table} ADD COLUMN row_number bigint"
            " GENERATED ALWAYS AS IDENTITY UNIQUE;"
        )

    def kind(self, fingerprint: str) -> tuple[bool, int | None]:
        """Whether a column has strings of bits, and their width, if there is one for all."""
        type, modifier = self.types[fingerprint]
        if type == "bit":
            return True, modifier if modifier > 0 else None
        if type == "bit varying":
            return True, None
        if type == "bigint":
            return False, 64
        raise Unsuitable(f"The column {fingerprint} of {self.table} is of type {type}. Codes are bigint or bit(n).")

    def fingerprint(self, wanted: str | None) -> str:
        if wanted:
            return self.checked(wanted, "FINGERPRINT")
        found = self.connection.execute(
            """SELECT DISTINCT attname
               FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
                   JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
               WHERE indrelid = %s AND amname = 'hamming' ORDER BY attname""",
            [self.oid],
        ).fetchall()
        names = [row.attname for row in found]
        # Codes of that many bits are found without an index too.
        names = names or [name for name, (type, width) in self.types.items() if type == "bit" and width >= 32]
        if not names:
            raise Unsuitable(
                f"{self.table} has no column of type bigint or bit(n) with an index of type hamming. Make one by"
                f" CREATE INDEX ON {self.table} USING hamming (your_column), or name the column by FINGERPRINT=."
            )
        if len(names) > 1:
            listed = ", ".join(names)
            raise Unsuitable(f"{self.table} has several columns of codes. FINGERPRINT= names one of: {listed}.")
        return str(names[0])

    def title(self, wanted: str | None) -> str | None:
        if wanted:
            return self.checked(wanted, "TITLE")
        return next((name for name in TITLES if name in self.types), None)

    def picture(self, wanted: str | None) -> tuple[str | None, bool]:
        """A column of pictures, and whether it has addresses. These a browser asks for elsewhere, so they are named."""
        if wanted:
            type = self.types[self.checked(wanted, "PICTURE")][0]
            if type not in ("bytea", "text", "character varying"):
                raise Unsuitable(f"The column {wanted} of {self.table} is of type {type}. Pictures are bytea or addresses.")
            return wanted, type != "bytea"
        return next((name for name in PICTURES if self.types.get(name, ("", 0))[0] == "bytea"), None), False

    def text_and_scheme(self, table: Table) -> tuple[str, str]:
        """The first column of text, and the first scheme, that give the fingerprints of five rows."""
        wanted = table.wanted
        if wanted.text and wanted.scheme:
            return self.checked(wanted.text, "TEXT"), wanted.scheme
        texts = [name for name, (type, _) in self.types.items() if type in ("text", "character varying", "character")]
        schemes = [wanted.scheme] if wanted.scheme else SCHEMES
        for text in [self.checked(wanted.text, "TEXT")] if wanted.text else texts:
            candidate = replace(table, text=text)
            candidate.check(self.connection)
            found = self.connection.execute(
                candidate.sql(
                    self.functions,
                    """SELECT scheme FROM unnest(%s::text[]) WITH ORDINALITY AS s (scheme, place)
                       WHERE (SELECT bool_and({fingerprint_of}(body, scheme) = si)
                              FROM (SELECT {text} AS body, {si} AS si FROM {table} AS d
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
