"""Fingerprints in Django: a field, functions, an index, a constraint, and the condition `near`.

class Document(models.Model):
    body = models.TextField()
    si = FingerprintField(null=True)

    class Meta:
        indexes = [HammingIndex(fields=["si"], name="document_si")]
        constraints = [NearExclusion(field="si", radius=3, name="no_near_document")]  # refuses near-duplicates

Document.objects.filter(si__near=(value, 6))
Document.objects.order_by(Hamming("si", value))[:10]
nearest_first(Document.objects.all(), "si", value, 12)  # for a Paginator

A `CodeField(256)` is a column of type `bit(256)`, such as for perceptual hashes. Its values are texts of the digits 0
and 1, which `simhash_pg.code_decode` makes; `near`, `Hamming` and `HammingIndex` are the same.
"""

from collections.abc import Sequence
from typing import Any

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.indexes import PostgresIndex
from django.db.models import BigIntegerField, Field, FloatField, Func, IntegerField, QuerySet, TextField, Value
from django.db.models.expressions import Expression
from django.db.models.lookups import PostgresOperatorLookup

from simhash_pg.arguments import bigint, digits

__all__ = [
    "CodeField",
    "FingerprintField",
    "Hamming",
    "HammingIndex",
    "HammingSimilarity",
    "Near",
    "NearExclusion",
    "Simhash",
    "code",
    "nearest_first",
]


class FingerprintField(BigIntegerField):  # type: ignore[type-arg] # Django's classes take no arguments when it runs
    """A fingerprint, in a column of type `bigint`."""

    description = "Fingerprint of 64 bits"

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        return bigint(value) if isinstance(value, int) else value


class CodeField(Field):  # type: ignore[type-arg]
    """A code of so many bits, in a column of type `bit(n)`: a text of the digits 0 and 1."""

    description = "Code of %(bits)s bits"

    def __init__(self, bits: int, *args: Any, **options: Any) -> None:
        self.bits = bits
        super().__init__(*args, **options)

    def deconstruct(self) -> Any:
        name, path, args, options = super().deconstruct()
        return name, path, [self.bits, *args], options

    def db_type(self, connection: Any) -> str:
        return f"bit({self.bits})"

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        return value if value is None or hasattr(value, "resolve_expression") else digits(value, self.bits)

    def get_placeholder(self, value: Any, compiler: Any, connection: Any) -> str:
        # A parameter that the server binds would be a text.
        return "%s" if hasattr(value, "as_sql") else f"%s::bit({self.bits})"


def fingerprint(argument: Expression | str | int) -> Expression | str:
    """The argument of a function: a number becomes a `bigint`.

    Django takes a number without a field for an `integer`. With parameters that are bound by the server, the upper 32
    bits would be lost without an error.
    """
    if isinstance(argument, Value) and isinstance(argument.value, int):
        argument = argument.value
    if isinstance(argument, int):
        return Value(bigint(argument), output_field=FingerprintField())
    return argument


def code(value: str) -> Value:
    """A code as an argument, with the bits that it has."""
    return Value(digits(value), output_field=CodeField(len(value)))


class Comparison(Func):
    """A function of two fingerprints."""

    arity = 2

    def __init__(self, a: Expression | str | int, b: Expression | str | int, **extra: Any) -> None:
        super().__init__(fingerprint(a), fingerprint(b), **extra)


class Hamming(Comparison):
    """The number of differing bits. A name is a field, a number is a fingerprint, `code("0110…")` is a code."""

    function = "hamming"
    output_field: "Field[Any, Any]" = IntegerField()


class HammingSimilarity(Comparison):
    """The share of equal bits of two fingerprints, 0 to 1. A name is a field, a number is a fingerprint."""

    function = "hamming_similarity"
    output_field: "Field[Any, Any]" = FloatField()


class Simhash(Func):
    """The fingerprint of a text. A name is a field; `Value("…")` is a text."""

    function = "simhash"
    output_field: "Field[Any, Any]" = FingerprintField()

    def __init__(self, text: Expression | str, scheme: str | None = None, **extra: Any) -> None:
        arguments = [text] if scheme is None else [text, Value(scheme, output_field=TextField())]
        super().__init__(*arguments, **extra)


class HammingBall(Func):
    """All fingerprints or codes within a radius of a center."""

    function = "hamming_ball"
    arity = 2


def pair(name: str, given: Any) -> tuple[Any, Any]:
    """The center and the radius of a condition `near`."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ValueError(f"near needs a pair, {name}__near=(value, 6), and not {given!r}")
    center, radius = given
    if isinstance(radius, bool) or not (isinstance(radius, int) or hasattr(radius, "resolve_expression")):
        raise TypeError(f"a radius is an int, not {type(radius)}")
    return center, radius


@FingerprintField.register_lookup
@CodeField.register_lookup
class Near(PostgresOperatorLookup):
    """`si__near=(value, 6)`: at most 6 bits differ. The value may be an expression, such as `OuterRef`."""

    lookup_name = "near"
    postgres_operator = "<@"
    prepare_rhs = False

    def __init__(self, lhs: Any, rhs: Any) -> None:
        field = lhs.output_field
        if not isinstance(rhs, HammingBall):
            center, radius = pair(getattr(field, "name", None) or "si", rhs)
            is_code = isinstance(field, CodeField)
            if isinstance(radius, int):
                # The same meaning, in 32 bits.
                radius = min(max(radius, -1), field.bits if is_code else 64)
            if not hasattr(center, "resolve_expression"):
                center = code(digits(center, field.bits)) if is_code else bigint(center)
            rhs = HammingBall(fingerprint(center), radius)
        super().__init__(lhs, rhs)


def nearest_first(rows: "QuerySet[Any]", field: str, value: Any, radius: int) -> "QuerySet[Any]":
    """The rows within the radius, ordered by distance and then by primary key, as a `Paginator` requires.

    Without the radius, PostgreSQL 15 and 16 would sort all rows of the table. A `str` is a code.
    """
    distance = Hamming(field, code(value) if isinstance(value, str) else value)
    return rows.filter(**{f"{field}__near": (value, radius)}).order_by(distance, "pk")


class HammingIndex(PostgresIndex):
    """An index of the access method `hamming`, which finds near fingerprints."""

    suffix = "hamming"


class NearExclusion(ExclusionConstraint):
    """Refuses a row whose fingerprint is within the radius of another's, of all rows or of those with equal fields.

    `NearExclusion(field="si", radius=3, equal=["tenant"], name="no_near_duplicate")` is
    `EXCLUDE USING hamming (hamming_ball(si, 3) WITH ~, tenant_id WITH =)`. `full_clean()` asks the database the same,
    with the fingerprint that a `GeneratedField` will have.
    """

    default_violation_error_message = "Constraint “%(name)s” is violated: there is a near-duplicate."

    def __init__(self, *, field: str, radius: int, name: str, equal: Sequence[str] = (), **options: Any) -> None:
        self.field = field
        self.radius = radius
        self.equal = list(equal)
        ball = HammingBall(field, Value(radius, output_field=IntegerField()))
        others = [(other, "=") for other in self.equal]
        super().__init__(name=name, expressions=[(ball, "~"), *others], **options)
        # Django allows two access methods.
        self.index_type = "hamming"

    def deconstruct(self) -> Any:
        path, args, options = super().deconstruct()
        del options["expressions"], options["index_type"]
        equal = {"equal": self.equal} if self.equal else {}
        return path, args, {**options, "field": self.field, "radius": self.radius, **equal}
