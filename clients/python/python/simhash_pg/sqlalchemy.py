"""Fingerprints in SQLAlchemy: a type of columns, functions, and an index.

class Document(Base):
    id: Mapped[int] = mapped_column(primary_key=True)
    si: Mapped[int | None] = mapped_column(Fingerprint)

hamming_index("document_si", Document.si)
select(Document).where(Document.si.hamming(value) <= 6)
select(Document).order_by(Document.si.hamming(value)).limit(10)
"""

from typing import Any

from sqlalchemy import BigInteger, Double, Function, Index, Integer, func, literal
from sqlalchemy.types import TypeDecorator

__all__ = ["Fingerprint", "hamming", "hamming_index", "hamming_similarity", "simhash"]


class Fingerprint(TypeDecorator[int]):
    """A fingerprint, in a column of type `bigint`. Columns have the methods `hamming` and `hamming_similarity`."""

    impl = BigInteger
    cache_ok = True

    class Comparator(TypeDecorator.Comparator[int]):
        """What a column of this type can do."""

        def hamming(self, other: Any) -> Function[int]:
            """The number of bits in which the fingerprints differ, 0 to 64."""
            return hamming(self.expr, other)

        def hamming_similarity(self, other: Any) -> Function[float]:
            """The share of equal bits of the fingerprints, 0 to 1."""
            return hamming_similarity(self.expr, other)

    comparator_factory = Comparator


def hamming(a: Any, b: Any) -> Function[int]:
    """The number of bits in which two fingerprints differ, 0 to 64. They are columns, expressions or numbers."""
    return func.hamming(fingerprint(a), fingerprint(b), type_=Integer)


def hamming_similarity(a: Any, b: Any) -> Function[float]:
    """The share of equal bits of two fingerprints, 0 to 1. They are columns, expressions or numbers."""
    return func.hamming_similarity(fingerprint(a), fingerprint(b), type_=Double)


def simhash(text: Any, scheme: str | None = None) -> Function[int]:
    """The fingerprint of a text, which is a column, an expression or a `str`."""
    arguments = [text] if scheme is None else [text, scheme]
    return func.simhash(*arguments, type_=Fingerprint)


def hamming_index(name: str, column: Any, **options: Any) -> Index:
    """An index of the access method `hamming`, which finds near fingerprints."""
    return Index(name, column, postgresql_using="hamming", **options)


def fingerprint(argument: Any) -> Any:
    """The argument of a function: a number becomes a parameter of type `bigint`."""
    return literal(argument, Fingerprint) if isinstance(argument, int) else argument
