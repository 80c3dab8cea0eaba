"""Fingerprints in SQLAlchemy: a type of columns, functions, and an index.

class Document(Base):
    id: Mapped[int] = mapped_column(primary_key=True)
    si: Mapped[int | None] = mapped_column(Fingerprint)

hamming_index("document_si", Document.si)
select(Document).where(Document.si.hamming(value) <= 6)
select(Document).order_by(Document.si.hamming(value)).limit(10)
nearest_first(select(Document), Document.si, value, 12).limit(10).offset(20)

`Code(256)` is a column of type `bit(256)`, such as for perceptual hashes. Its values are texts of the digits 0 and 1,
which `simhash_pg.code_decode` makes; the methods and the index are the same.
"""

from typing import Any

from sqlalchemy import BigInteger, Double, Function, Index, Integer, Select, TableValuedAlias, Text, cast, column, func, literal
from sqlalchemy.dialects.postgresql import REGCLASS
from sqlalchemy.types import TypeDecorator, TypeEngine, UserDefinedType

from simhash_pg.arguments import bigint, digits

__all__ = [
    "Code",
    "Fingerprint",
    "hamming",
    "hamming_index",
    "hamming_similarity",
    "near_differences",
    "nearest_first",
    "simhash",
]


class Distances(TypeEngine.Comparator[Any]):
    """What columns of both types can do."""

    def hamming(self, other: Any) -> Function[int]:
        """The number of bits in which the fingerprints differ."""
        return hamming(self.expr, other)

    def hamming_similarity(self, other: Any) -> Function[float]:
        """The share of equal bits of the fingerprints, 0 to 1."""
        return hamming_similarity(self.expr, other)


class Fingerprint(TypeDecorator[int]):
    """A fingerprint, in a column of type `bigint`. Columns have the methods `hamming` and `hamming_similarity`."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> int | None:
        return None if value is None else bigint(value)

    class Comparator(Distances, TypeDecorator.Comparator[int]):
        """What a column of this type can do."""

    comparator_factory = Comparator


class Bits(UserDefinedType[str]):
    """PostgreSQL's `bit(n)`, sent and read as text, because drivers have types of their own for it."""

    cache_ok = True

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def get_col_spec(self, **_: Any) -> str:
        return f"bit({self.bits})"

    def bind_expression(self, bindvalue: Any) -> Any:
        return cast(cast(bindvalue, Text), self)

    def column_expression(self, column: Any) -> Any:
        return cast(column, Text)


class Code(TypeDecorator[str]):
    """A code of so many bits, in a column of type `bit(n)`: a text of the digits 0 and 1."""

    impl = Bits
    cache_ok = True

    def __init__(self, bits: int) -> None:
        super().__init__(bits)
        self.bits = bits

    def process_bind_param(self, value: Any, dialect: Any) -> str | None:
        return None if value is None else digits(value, self.bits)

    class Comparator(Distances, TypeDecorator.Comparator[str]):
        """What a column of this type can do."""

    comparator_factory = Comparator


def hamming(a: Any, b: Any) -> Function[int]:
    """The number of bits in which two fingerprints differ, 0 to 64. They are columns, expressions or numbers."""
    return func.hamming(parameter(a, b), parameter(b, a), type_=Integer)


def hamming_similarity(a: Any, b: Any) -> Function[float]:
    """The share of equal bits of two fingerprints, 0 to 1. They are columns, expressions or numbers."""
    return func.hamming_similarity(parameter(a, b), parameter(b, a), type_=Double)


def simhash(text: Any, scheme: str | None = None) -> Function[int]:
    """The fingerprint of a text, which is a column, an expression or a `str`."""
    arguments = [text] if scheme is None else [text, scheme]
    return func.simhash(*arguments, type_=Fingerprint)


def nearest_first(statement: Select[Any], code: Any, other: Any, radius: int) -> Select[Any]:
    """The statement with only the rows within the radius, ordered by distance and then by primary key, as pages require.

    Without the radius, PostgreSQL 15 and 16 would sort all rows of the table.
    """
    distance = hamming(code, other)
    return statement.where(distance <= radius).order_by(distance, *code.expression.table.primary_key)


def hamming_index(name: str, column: Any, *further: Any, **options: Any) -> Index:
    """An index of the access method `hamming`, which finds near fingerprints, also with further columns equal."""
    return Index(name, column, *further, postgresql_using="hamming", **options)


def near_differences(code: Any, body: Any, radius: int, *, key: str = "id", sample: int = 1000) -> TableValuedAlias:
    """In which words near texts differ, the most frequent first: to be read before anything is deleted.

    Code and body are columns of a table. The result is one to select from, with columns feature, pairs, share, of_all,
    and a and b, the keys of a pair.
    """
    table = code.expression.table
    relation = ".".join('"' + name.replace('"', '""') + '"' for name in (table.schema, table.name) if name)
    names = code.expression.name, body.expression.name
    columns = column("feature", Text), column("pairs", BigInteger), column("share", Double), column("of_all", Double)
    differences = func.near_differences(cast(literal(relation), REGCLASS), *names, radius, key, sample)
    return differences.table_valued(*columns, column("a", Text), column("b", Text))


def parameter(value: Any, other: Any) -> Any:
    """An argument of a function: a number is sent as `bigint`, and digits as `bit(n)`, if the other's type allows it."""
    if not isinstance(value, int | str):
        return value
    kind = getattr(other, "type", None)
    if isinstance(kind, Fingerprint) or (isinstance(value, int) and not isinstance(kind, Code)):
        return literal(bigint(value), Fingerprint)
    code = digits(value)
    return literal(code, Code(len(code)))
