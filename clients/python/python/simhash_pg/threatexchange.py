"""Hash matching for moderation: an index of Meta's package `threatexchange` over a table of PostgreSQL.

index = PDQIndexInPostgres(table="blocked")
index.add("f8f8…9b22", {"list": "A"})    # every process that asks finds it from now on
index.query("f8f8…9b23")                  # all within 31 bits, the nearest first

Its own indexes are in the memory of each process: what one adds, others see when they get a new copy. This one is a
table that all processes share.
"""

import json
from collections.abc import Iterable
from typing import Any, TypeVar
from uuid import uuid4

import psycopg
from psycopg.sql import SQL, Identifier
from threatexchange.signal_type.index import IndexMatchUntyped, SignalSimilarityInfoWithIntDistance, SignalTypeIndex
from threatexchange.signal_type.pdq.pdq_utils import BITS_IN_PDQ, PDQ_CONFIDENT_MATCH_THRESHOLD
from threatexchange.signal_type.pdq.signal import PdqSignal

from simhash_pg.codes import code_decode

__all__ = ["PDQIndexInPostgres"]

T = TypeVar("T")
Match = IndexMatchUntyped[SignalSimilarityInfoWithIntDistance, T]


class PDQIndexInPostgres(SignalTypeIndex[T]):
    """PDQ hashes in a table, with metadata that JSON can hold.

    Without a name the table is a new one. `conninfo` is libpq's, whose variables such as PGHOST and PGDATABASE apply.
    What pickle keeps is where the table is, and not its rows.
    """

    def __init__(
        self,
        entries: Iterable[tuple[str, T]] = (),
        *,
        conninfo: str = "",
        table: str | None = None,
        threshold: int = PDQ_CONFIDENT_MATCH_THRESHOLD,
    ) -> None:
        super().__init__()
        self.conninfo = conninfo
        self.table = table or f"pdq_{uuid4().hex}"
        self.threshold = threshold
        self._connect()
        names = {"table": Identifier(self.table), "index": Identifier(f"{self.table}_code"), "bits": BITS_IN_PDQ}
        with self._connection.transaction():
            for statement in (
                "CREATE TABLE IF NOT EXISTS {table} (code bit({bits}) NOT NULL, metadata jsonb)",
                "CREATE INDEX IF NOT EXISTS {index} ON {table} USING hamming (code)",
            ):
                self._connection.execute(SQL(statement).format(**names))
        self.add_all(entries)

    def _connect(self) -> None:
        self._connection = psycopg.connect(self.conninfo, autocommit=True)
        self._query = SQL("""SELECT hamming(code, %(code)s), metadata FROM {table}
            WHERE hamming(code, %(code)s) <= {threshold}""").format(
            table=Identifier(self.table), threshold=self.threshold
        )
        self._query_all = SQL("""SELECT place, hamming(t.code, q.code), metadata
            FROM unnest(%s::bit({bits})[]) WITH ORDINALITY AS q (code, place)
            JOIN {table} AS t ON hamming(t.code, q.code) <= {threshold} ORDER BY 1, 2""").format(
            table=Identifier(self.table), threshold=self.threshold, bits=BITS_IN_PDQ
        )

    def __len__(self) -> int:
        counted = self._connection.execute(SQL("SELECT count(*) FROM {}").format(Identifier(self.table))).fetchone()
        return int(counted[0]) if counted else 0

    def query(self, query: str) -> list[Match[T]]:
        """What is within the threshold of a hash, the nearest first."""
        found = self._connection.execute(self._query, {"code": pdq(query)}, prepare=True)
        return [match_of(*row) for row in sorted(found, key=lambda row: row[0])]

    def query_all(self, queries: Iterable[str]) -> list[list[Match[T]]]:
        """What `query` returns for each of some hashes, found by one statement."""
        codes = [pdq(query) for query in queries]
        found: list[list[Match[T]]] = [[] for _ in codes]
        for place, bits, data in self._connection.execute(self._query_all, [codes], prepare=True):
            found[place - 1].append(match_of(bits, data))
        return found

    def add(self, signal_str: str, entry: T) -> None:
        """Adds a hash, which every process finds as soon as this returns."""
        self.add_all([(signal_str, entry)])

    def add_all(self, entries: Iterable[tuple[str, T]]) -> None:
        """Adds all of them, or none if one is wrong."""
        into = SQL("COPY {} (code, metadata) FROM STDIN").format(Identifier(self.table))
        with self._connection.transaction(), self._connection.cursor().copy(into) as copy:
            for hash_, entry in entries:
                copy.write_row((pdq(hash_), json.dumps(entry)))

    def dispose(self) -> None:
        """Ends the connection. The table stays."""
        self._connection.close()

    def drop(self) -> None:
        """Removes the table."""
        self._connection.execute(SQL("DROP TABLE {}").format(Identifier(self.table)))

    def __getstate__(self) -> dict[str, Any]:
        return {"conninfo": self.conninfo, "table": self.table, "threshold": self.threshold}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._connect()


def match_of(bits: int, metadata: Any) -> Match[Any]:
    return IndexMatchUntyped(SignalSimilarityInfoWithIntDistance(bits), metadata)


def pdq(signal_str: str) -> str:
    """A hash as `bit(256)` has it."""
    return code_decode(PdqSignal.validate_signal_str(signal_str), bits=BITS_IN_PDQ)
