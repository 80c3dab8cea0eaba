"""The functions that are written in Rust, in `src/lib.rs`.

A text is a `str`, or `bytes` in UTF-8. Other threads run while it is read. A text that PostgreSQL cannot hold is a
ValueError: one with a NUL character, with a lone surrogate, or of 1 GB and more.
"""

__all__ = ["hamming", "hamming_similarity", "minhash", "simhash", "winnow_sketch"]

def simhash(text: str | bytes, scheme: str = "doc2") -> int | None:
    """The fingerprint of a text, as a signed number of 64 bits; None if the text has no features.

    Schemes are doc2, doc1, letters:1 to letters:32, simhash-doc, commoncrawl, char:1 to char:32, word:1 to word:32.
    Those whose features are hashed by XXH3 can have the prefix perm:, and any can have the prefix folded:.
    """

def minhash(text: str | bytes, bins: int = 128, scheme: str = "word:3") -> list[int] | None:
    """The MinHash signature that is made fast: of the features in each bin the least hash, -1 if there is none."""

def winnow_sketch(text: str | bytes, length: int = 50, span: int = 100) -> list[int]:
    """The SQL function `winnow_sketch`: of any `span` windows of `length` bytes in a row the least hash, sorted and distinct."""

def hamming(a: int, b: int) -> int:
    """The number of bits in which two fingerprints differ, 0 to 64."""

def hamming_similarity(a: int, b: int) -> float:
    """The share of equal bits of two fingerprints, 0 to 1."""
