"""What the pages ask PostgreSQL. Every value is a parameter, and every name is quoted by the driver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg

from .table import Connection, Table

# Rows of a list.
SOME = 10
NEAREST = 20
CLUSTERS = 20
MEMBERS = 200
FRAGMENTS = 100

MARK = 'StartSel="<mark>", StopSel="</mark>", Escape=html'
GAP = f'{MARK}, MaxFragments={FRAGMENTS}, ContextLength=120, FragmentDelimiter="</span><hr><span>"'


@dataclass(frozen=True)
class Document:
    """A text to compare: a row of the table, or one that a visitor pasted, which has no key."""

    key: str | None
    title: str
    text: str
    fingerprint: int | None


class Queries:
    """The questions, on one connection."""

    def __init__(self, table: Table, connection: Connection) -> None:
        self.table, self.connection = table, connection

    def fingerprint(self, text: str) -> int | None:
        """NULL for a text without features."""
        row = self.connection.execute(
            "SELECT simhash(%s::text, %s) AS fingerprint", [text, self.table.scheme]
        ).fetchone()
        return row.fingerprint if row else None

    def nearest(self, fingerprint: int, plan: bool = False) -> tuple[list[Any], str, list[str]]:
        """The nearest rows, the statement as psql would have it, and its plan if it is wanted."""
        query = self.table.sql(
            """SELECT {key}::text AS key, {title} AS title, hamming({si}, %(si)s::bigint) AS distance,
       left({text}, 300) AS beginning, length({text}) AS length
FROM {table} AS d
ORDER BY hamming({si}, %(si)s::bigint)
LIMIT %(limit)s"""
        )
        values = {"si": fingerprint, "limit": NEAREST}
        rows = self.connection.execute(query, values).fetchall()
        lines = []
        if plan:
            explain = psycopg.sql.SQL("EXPLAIN (ANALYZE, COSTS OFF) ") + query
            lines = [row[0] for row in self.connection.execute(explain, values).fetchall()]
        statement = psycopg.ClientCursor(self.connection).mogrify(query, values)
        return [row for row in rows if row.distance is not None], statement, lines

    def some(self) -> list[Any]:
        """A few rows to begin with."""
        return self.connection.execute(
            self.table.sql(
                """SELECT {key}::text AS key, {title} AS title, NULL AS distance, left({text}, 300) AS beginning,
                          length({text}) AS length
                   FROM {table} AS d WHERE {si} IS NOT NULL ORDER BY {key} LIMIT %s"""
            ),
            [SOME],
        ).fetchall()

    def document(self, key: str) -> Document | None:
        query = self.table.sql(
            """SELECT {key}::text AS key, {title} AS title, coalesce({text}, '') AS text, {si} AS fingerprint
               FROM {table} AS d WHERE {key} = %s"""
        )
        try:
            row = self.connection.execute(query, [key]).fetchone()
        except psycopg.DataError:
            # Not a value of the key's type, so no row has it.
            return None
        return Document(row.key, row.title or "", row.text, row.fingerprint) if row else None

    def compare(self, a: Document, b: Document, min_length: int, whole: bool) -> Any:
        """What two documents have in common. The headlines are HTML that the server has escaped."""
        return self.connection.execute(
            """WITH pair AS MATERIALIZED (SELECT %(a)s::text AS a, %(b)s::text AS b),
                    -- The second text of shared_passages is covered completely.
                    passage AS (SELECT 1 AS side, b_pos AS pos, len FROM pair, shared_passages(b, a, %(min)s)
                                UNION ALL
                                SELECT 2, b_pos, len FROM pair, shared_passages(a, b, %(min)s)),
                    part AS (SELECT side, unnest(range_agg(int4range(pos, pos + len))) AS part
                             FROM passage GROUP BY side)
               SELECT passage_headline(a, b, %(min)s, %(options)s) AS headline_a,
                      passage_headline(b, a, %(min)s, %(options)s) AS headline_b,
                      (SELECT coalesce(sum(upper(part) - lower(part)), 0) FROM part WHERE side = 1) AS shared_a,
                      (SELECT coalesce(sum(upper(part) - lower(part)), 0) FROM part WHERE side = 2) AS shared_b,
                      hamming(%(fa)s::bigint, %(fb)s::bigint) AS distance
               FROM pair""",
            {
                "a": a.text, "b": b.text, "min": min_length, "options": MARK if whole else GAP,
                "fa": a.fingerprint, "fb": b.fingerprint,
            },
        ).fetchone()

    def explain(self, a: Document, b: Document) -> dict[str, Any] | None:
        """None for texts that have no features, or more of them than simhash_explain takes."""
        try:
            row = self.connection.execute(
                "SELECT simhash_explain(%s::text, %s::text, %s) AS why", [a.text, b.text, self.table.scheme]
            ).fetchone()
        except psycopg.errors.ProgramLimitExceeded:
            return None
        return row.why if row else None

    CLUSTERED = """SELECT {key} AS key, simhash_cluster({key}, {si}, %(radius)s) OVER (ORDER BY {key}) AS keeper
       FROM {table} AS d"""

    def clusters(self, radius: int, page: int) -> list[Any]:
        """The largest clusters first, each with its keeper; clusters and documents count those of all pages."""
        return self.connection.execute(
            self.table.sql(
                """SELECT {key}::text AS key, {title} AS title, members, left({text}, 300) AS beginning,
                          clusters, documents
                   FROM (SELECT keeper, count(*) AS members, count(*) OVER () AS clusters,
                                sum(count(*)) OVER () AS documents
                         FROM ("""
                + self.CLUSTERED
                + """) AS c GROUP BY keeper HAVING count(*) > 1) AS c JOIN {table} AS d ON {key} = keeper
                   ORDER BY members DESC, {key} LIMIT %(limit)s OFFSET %(offset)s"""
            ),
            {"radius": radius, "limit": CLUSTERS, "offset": CLUSTERS * (page - 1)},
        ).fetchall()

    def members(self, radius: int, keeper: str, fingerprint: int | None) -> list[Any]:
        """The other rows of a cluster, in the order of their keys."""
        return self.connection.execute(
            self.table.sql(
                "WITH c AS (" + self.CLUSTERED + """)
                   SELECT {key}::text AS key, {title} AS title, length({text}) AS length,
                          hamming({si}, %(si)s::bigint) AS distance
                   FROM c JOIN {table} AS d ON {key} = c.key
                   WHERE keeper::text = %(keeper)s AND c.key <> keeper ORDER BY c.key LIMIT %(limit)s"""
            ),
            {"radius": radius, "keeper": keeper, "si": fingerprint, "limit": MEMBERS},
        ).fetchall()

    def deletion(self, radius: int) -> str:
        """The statements that would keep the first of each cluster. They are shown, and never run."""
        query = self.table.sql(
            """BEGIN;
LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE;
DELETE FROM {table} AS d
USING ("""
            + self.CLUSTERED
            + """) AS c
WHERE {key} = c.key AND c.keeper <> c.key;
-- Look at what is left. Then COMMIT, or ROLLBACK if it is not what you wanted."""
        )
        return psycopg.ClientCursor(self.connection).mogrify(query, {"radius": radius})

    def histogram(self) -> list[Any]:
        query = self.table.sql("SELECT *, to_search AS recommended FROM hamming_histogram(%s::regclass, %s) ORDER BY distance")
        relation = psycopg.sql.Identifier(self.table.schema, self.table.name).as_string(self.connection)
        return self.connection.execute(query, [relation, self.table.fingerprint]).fetchall()
