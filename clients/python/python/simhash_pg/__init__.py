"""The fingerprints of the PostgreSQL extension simhash_pg, made without a database.

Each function gives what the SQL function gives. `simhash_pg.django`, `simhash_pg.sqlalchemy` and `simhash_pg.alembic`
search for fingerprints in PostgreSQL.
"""

from simhash_pg._native import hamming, hamming_similarity, minhash, simhash, winnow_sketch
from simhash_pg.codes import code_decode, code_encode

__all__ = [
    "code_decode",
    "code_encode",
    "hamming",
    "hamming_similarity",
    "minhash",
    "signed",
    "simhash",
    "unsigned",
    "winnow_sketch",
]


def signed(fingerprint: int) -> int:
    """The number from 0 to 2**64 - 1 as a `bigint`, with the same 64 bits."""
    if not 0 <= fingerprint < 1 << 64:
        raise ValueError(f"{fingerprint} is not an unsigned number of 64 bits")
    return fingerprint - (1 << 64) if fingerprint >= 1 << 63 else fingerprint


def unsigned(fingerprint: int) -> int:
    """The `bigint` as a number from 0 to 2**64 - 1, with the same 64 bits."""
    if not -(1 << 63) <= fingerprint < 1 << 63:
        raise ValueError(f"{fingerprint} is not a bigint")
    return fingerprint % (1 << 64)
