"""The functions of the extension that the explorer calls: their names stand here, and nowhere else."""

from __future__ import annotations

from psycopg import sql

# By their names in the statements of queries.py and table.py.
FUNCTIONS = {
    "fingerprint_of": "simhash",
    "explain": "simhash_explain",
    "distance": "hamming",
    "cluster": "near_cluster",
    "passages": "shared_passages",
    "headline": "passage_headline",
    "histogram": "hamming_histogram",
    "differences": "near_differences",
    "weights": "feature_weights",
    "rare": "minhash_bits",
}


Functions = dict[str, sql.Composable]


def qualified(schema: str) -> Functions:
    """Each with the schema of the extension, for sql.SQL.format."""
    return {place: sql.Identifier(schema.replace("%", "%%"), name) for place, name in FUNCTIONS.items()}
