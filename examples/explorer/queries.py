"""What the pages ask PostgreSQL. Every value is a parameter, and every name is quoted by the driver.

Arguments of our functions are cast to exactly the types they take: then no other function of the name fits better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg

from .codes import Code
from .table import Connection, Table, find_functions
if TYPE_CHECKING:
    from typing import LiteralString

# Rows of a list.
SOME = 10
NEAREST = 20
CLUSTERS = 20
MEMBERS = 200
FRAGMENTS = 100
# Rows that are compared with all others, as hamming_histogram does by itself; and pairs of 64 bits, which take seconds.
SAMPLE = 1_000
LEAST_SAMPLE = 100
COMPARED = 10**10
# Of a large table: rows, and others of 64 bits with which each is compared.
ASKED = 300
SAMPLED = 30_000
START: LiteralString = " AND {key} > %(after)s"

MARK = 'StartSel="<mark>", StopSel="</mark>", Escape=html'
GAP = f'{MARK}, MaxFragments={FRAGMENTS}, ContextLength=120, FragmentDelimiter="</span><hr><span>"'


@dataclass(frozen=True)
class Document:
    """A text or a code to compare: a row of the table, or what a visitor pasted, which has no key."""

    key: str | None
    title: str
    # None if the table has no texts.
    text: str | None
    fingerprint: Code | None
    # As {picture} in statements.
    picture: str | None = None


@dataclass(frozen=True)
class Level:
    """What is known of a distance without texts, as a row of hamming_histogram says it."""

    distance: int
    rows: float
    pairs: int
    duplicates: float | None = None
    at_most: float | None = None
    compared: int | None = None
    to_search: bool = False


@dataclass(frozen=True)
class Sample:
    """What distances mean, by so many rows that were compared with all others, or with so many others."""

    levels: list[Any]
    asked: int
    others: int | None = None


class Queries:
    """The questions, in one transaction."""

    # Clusters are looked for among so many rows at a time: in a few seconds, however many the table has.
    ROWS = 100_000
    # Of tables with more rows, hamming_histogram takes longer than a visitor waits.
    LARGE = 200_000

    def __init__(self, table: Table, connection: Connection) -> None:
        self.table = table
        self.connection = connection
        self.functions = find_functions(connection)

    def sql(self, template: LiteralString) -> psycopg.sql.Composed:
        return self.table.sql(self.functions, template)

    def fingerprint(self, text: str) -> int | None:
        """NULL for a text without features."""
        row = self.connection.execute(
            self.sql("SELECT {fingerprint_of}(%s::text, %s::text) AS fingerprint"), [text, self.table.scheme]
        ).fetchone()
        return row.fingerprint if row else None

    def nearest(self, fingerprint: Code, plan: bool = False) -> tuple[list[Any], str, list[str]]:
        """The nearest rows, the statement as psql would have it, and its plan if it is wanted."""
        query = self.sql(
            """SELECT {key}::text AS key, {title} AS title, {distance}({si}, %(si)s::{code}) AS distance,
       left({text}, 300) AS beginning, length({text}) AS length, {si} AS code, {picture} AS picture
FROM {table} AS d
ORDER BY {distance}({si}, %(si)s::{code})
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
            self.sql(
                """SELECT {key}::text AS key, {title} AS title, NULL AS distance, left({text}, 300) AS beginning,
                          length({text}) AS length, {si} AS code, {picture} AS picture
                   FROM {table} AS d WHERE {si} IS NOT NULL ORDER BY {key} LIMIT %s"""
            ),
            [SOME],
        ).fetchall()

    def document(self, key: str) -> Document | None:
        query = self.sql(
            """SELECT {key}::text AS key, {title} AS title, {text} AS text, {si} AS fingerprint, {picture} AS picture
               FROM {table} AS d WHERE {key} = %s"""
        )
        row = self.of_key(query, key)
        if not row:
            return None
        text = (row.text or "") if self.table.text else None
        return Document(row.key, row.title or "", text, row.fingerprint, row.picture)

    def of_key(self, query: psycopg.sql.Composed, key: str) -> Any:
        """The row that has the key, if there is one."""
        try:
            with self.connection.transaction():
                return self.connection.execute(query, [key]).fetchone()
        except psycopg.DataError:
            # Not a value of the key's type, so no row has it.
            return None

    def picture(self, key: str) -> bytes | None:
        """The bytes of a row's picture."""
        row = self.of_key(self.sql("SELECT {bytes} AS bytes FROM {table} AS d WHERE {key} = %s"), key)
        return row.bytes if row else None

    def compare(self, a: str, b: str, min_length: int, whole: bool) -> Any:
        """What two texts that differ have in common. The headlines are HTML that the server has escaped."""
        return self.connection.execute(
            self.sql(
                """WITH pair AS MATERIALIZED (SELECT %(a)s::text AS a, %(b)s::text AS b, %(min)s::integer AS min),
                    -- The second text of shared_passages is covered completely.
                    passage AS (SELECT 1 AS side, b_pos AS pos, length FROM pair, {passages}(b, a, min)
                                UNION ALL
                                SELECT 2, b_pos, length FROM pair, {passages}(a, b, min)),
                    part AS (SELECT side, unnest(range_agg(int4range(pos, pos + length))) AS part
                             FROM passage GROUP BY side)
               SELECT {headline}(a, b, min, %(options)s::text) AS headline_a,
                      {headline}(b, a, min, %(options)s::text) AS headline_b,
                      (SELECT coalesce(sum(upper(part) - lower(part)), 0) FROM part WHERE side = 1) AS shared_a,
                      (SELECT coalesce(sum(upper(part) - lower(part)), 0) FROM part WHERE side = 2) AS shared_b
               FROM pair"""
            ),
            {"a": a, "b": b, "min": min_length, "options": MARK if whole else GAP},
        ).fetchone()

    def explain(self, a: str, b: str) -> dict[str, Any] | None:
        """None for texts that have no features, or more of them than simhash_explain takes."""
        query = self.sql("SELECT {explain}(%s::text, %s::text, %s::text) AS why")
        try:
            with self.connection.transaction():
                row = self.connection.execute(query, [a, b, self.table.scheme]).fetchone()
        except psycopg.errors.ProgramLimitExceeded:
            return None
        return row.why if row else None

    # Numbers of rows take the place of keys, which are of any type. Each cluster has the number of its keeper, the
    # first one.
    CLUSTERED: LiteralString = """
        row AS MATERIALIZED (
            SELECT key, si, row_number() OVER (ORDER BY key) AS n
            FROM (SELECT {key} AS key, {si} AS si FROM {table} AS d
                  WHERE {si} IS NOT NULL{start}
                  ORDER BY {key} LIMIT %(rows)s) AS d),
        clustered AS MATERIALIZED (
            SELECT n, {cluster}(n, si, %(radius)s::integer, 'leader'::text) OVER (ORDER BY n) AS cluster FROM row)"""

    def clusters(self, radius: int, page: int, after: str) -> list[Any]:
        """Clusters with the most different texts first, each with its keeper. Clusters of mere copies come last.

        Clusters and documents are counted over all pages.
        """
        return self.connection.execute(
            self.clustered(
                """, cluster AS MATERIALIZED (
                    SELECT cluster, count(*) AS members FROM clustered GROUP BY cluster HAVING count(*) > 1),
                content AS (
                    SELECT cluster, members, hashtextextended({content}, 0) AS hash, row.n
                    FROM cluster JOIN clustered USING (cluster) JOIN row USING (n)
                        JOIN {table} AS d ON {key} = row.key),
                counted AS MATERIALIZED (
                    SELECT cluster AS n, members, count(DISTINCT hash) AS texts,
                           count(*) OVER () AS clusters, sum(members) OVER () AS documents
                    FROM content GROUP BY cluster, members)
                SELECT {key}::text AS key, {title} AS title, members, texts, left({text}, 300) AS beginning,
                       clusters, documents, {picture} AS picture
                FROM counted JOIN row USING (n) JOIN {table} AS d ON {key} = row.key
                ORDER BY texts DESC, members DESC, n LIMIT %(limit)s OFFSET %(offset)s""",
                after,
            ),
            self.values(after, radius=radius, limit=CLUSTERS, offset=CLUSTERS * (page - 1)),
        ).fetchall()

    def clustered(self, rest: LiteralString, after: str) -> psycopg.sql.Composed:
        """A statement about the clusters of some rows."""
        return self.sql("WITH " + self.CLUSTERED.replace("{start}", START if after else "") + rest)

    def values(self, after: str, **values: object) -> dict[str, object]:
        return {"rows": self.ROWS, "after": after, **values} if after else {"rows": self.ROWS, **values}

    def end_of_rows(self, after: str) -> str | None:
        """The key of the last of the rows among which clusters are looked for, or None if these are all."""
        template: LiteralString = (
            "SELECT {key}::text AS key FROM {table} AS d WHERE {si} IS NOT NULL" + (START if after else "")
            + " ORDER BY {key} LIMIT 2 OFFSET %(rows)s - 1"
        )
        rows = self.connection.execute(self.sql(template), self.values(after)).fetchall()
        return str(rows[0].key) if len(rows) == 2 else None

    def members(self, radius: int, after: str, keeper: Document) -> list[Any]:
        """The other texts of a cluster, in the order of their keys, and how many rows have each.

        Copies of the keeper come last.
        """
        return self.connection.execute(
            self.clustered(
                """, member AS MATERIALIZED (
                    SELECT row.n, row.key, row.si FROM clustered JOIN row USING (n)
                    WHERE cluster = (SELECT n FROM row WHERE key::text = %(keeper)s)
                      AND key::text <> %(keeper)s),
                content AS (
                    SELECT member.n, hashtextextended({content}, 0) AS hash,
                           {content} = %(content)s::text AS is_copy
                    FROM member JOIN {table} AS d ON {key} = member.key),
                folded AS MATERIALIZED (
                    SELECT min(n) AS n, count(*) AS rows, is_copy FROM content GROUP BY hash, is_copy)
                SELECT {key}::text AS key, {title} AS title, length({text}) AS length, rows, is_copy,
                       {distance}(member.si, %(si)s::{code}) AS distance
                FROM folded JOIN member USING (n) JOIN {table} AS d ON {key} = member.key
                ORDER BY is_copy, n LIMIT %(limit)s""",
                after,
            ),
            self.values(
                after, radius=radius, keeper=keeper.key, si=keeper.fingerprint, limit=MEMBERS,
                content=keeper.fingerprint if keeper.text is None else keeper.text,
            ),
        ).fetchall()

    def differences(self, radius: int) -> list[Any]:
        """In which words near texts differ, by a sample: of pairs that a statement of deletion() might take."""
        query = self.sql(
            """SELECT feature, pairs, share, of_all, a, b
               FROM {differences}(%s::regclass, %s::name, %s::name, %s::integer, %s::name, %s::integer) LIMIT %s"""
        )
        values = [self.relation, self.table.fingerprint, self.table.text, radius, self.table.key, self.sample(), SOME]
        return self.connection.execute(query, values).fetchall()

    def deletion(self, radius: int) -> str:
        """The statements that would keep the first of each cluster. They are shown, and never run.

        Of texts, words that are rare in the table decide which near rows go.
        """
        cluster: LiteralString = "{cluster}({key}, {si}, %(radius)s"
        source: LiteralString = "{table} AS d"
        if self.table.text:
            # Of 256 bits, made of pairs of words that weigh the more, the rarer they are.
            cluster += ", {rare}({text}, 256, w.weights)::bit(256)"
            source += ", (SELECT {weights}({text}, 'word:2') AS weights FROM {table} AS d) AS w"
        query = self.sql(
            """BEGIN;
LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE;
DELETE FROM {table} AS d
USING (SELECT {key} AS key, """ + cluster + """) OVER (ORDER BY {key}) AS keeper
       FROM """ + source + """) AS c
WHERE {key} = c.key AND c.keeper <> c.key;
-- Look at what is left. Then COMMIT, or ROLLBACK if it is not what you wanted."""
        )
        return psycopg.ClientCursor(self.connection).mogrify(query, {"radius": radius})

    @property
    def relation(self) -> str:
        return psycopg.sql.Identifier(self.table.schema, self.table.name).as_string(self.connection)

    def sample(self) -> int:
        """How many rows are compared with all others: fewer of a large table."""
        size = self.connection.execute(
            """SELECT greatest(reltuples, 1)::bigint AS rows FROM pg_class WHERE oid = %s::regclass""", [self.relation]
        ).fetchone()
        compared = COMPARED * 64 // (self.table.width or 64) // (size.rows if size else 1)
        return max(LEAST_SAMPLE, min(SAMPLE, compared))

    def histogram(self) -> Sample:
        """What distances mean. Of a large table, some rows are compared with some others, and texts are not."""
        if self.table.rows > self.LARGE:
            return self.estimate()
        sample = self.sample()
        query = self.sql("SELECT * FROM {histogram}(%s::regclass, %s::name, %s::integer, %s::name) ORDER BY distance")
        values = [self.relation, self.table.fingerprint, sample, self.table.text]
        return Sample(self.connection.execute(query, values).fetchall(), sample)

    def estimate(self) -> Sample:
        """Of blocks that are drawn at random, so in a few seconds whatever the size of the table."""
        others = SAMPLED * 64 // max(self.table.width or 64, 64)
        query = self.sql(
            """WITH asked AS MATERIALIZED (
                   SELECT {key} AS key, {si} AS si FROM {table} AS d TABLESAMPLE SYSTEM (%(percent)s)
                   WHERE {si} IS NOT NULL ORDER BY random() LIMIT %(asked)s),
               other AS MATERIALIZED (
                   SELECT {key} AS key, {si} AS si FROM {table} AS d TABLESAMPLE SYSTEM (%(percent)s)
                   WHERE {si} IS NOT NULL ORDER BY random() LIMIT %(others)s)
               SELECT distance, count(*) AS pairs, (SELECT count(*) FROM asked) AS asked, (SELECT count(*) FROM other) AS others
               FROM (SELECT {distance}(asked.si, other.si) AS distance FROM asked JOIN other ON asked.key <> other.key) AS d
               GROUP BY distance ORDER BY distance"""
        )
        percent = min(100.0, 200.0 * others / self.table.rows)
        found = self.connection.execute(query, {"percent": percent, "asked": ASKED, "others": others}).fetchall()
        if not found:
            return Sample([], 0)
        pairs = {row.distance: row.pairs for row in found}
        so_far = 0
        levels = []
        for distance in range(max(self.table.width or 0, max(pairs)) + 1):
            so_far += pairs.get(distance, 0)
            rows = so_far / found[0].asked * self.table.rows / found[0].others
            levels.append(Level(distance, rows, pairs.get(distance, 0)))
        return Sample(levels, found[0].asked, found[0].others)
