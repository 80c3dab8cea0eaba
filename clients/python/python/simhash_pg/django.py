"""Fingerprints in Django: a field, functions, an index, and the condition `near`.

class Document(models.Model):
    body = models.TextField()
    si = FingerprintField(null=True)

    class Meta:
        indexes = [HammingIndex(fields=["si"], name="document_si")]

Document.objects.filter(si__near=(value, 6))
Document.objects.order_by(Hamming("si", value))[:10]
"""

from typing import Any

from django.contrib.postgres.indexes import PostgresIndex
from django.db.models import BigIntegerField, Field, FloatField, Func, IntegerField, TextField, Value
from django.db.models.expressions import Expression
from django.db.models.lookups import PostgresOperatorLookup

__all__ = ["FingerprintField", "Hamming", "HammingIndex", "HammingSimilarity", "Near", "Simhash"]


class FingerprintField(BigIntegerField):  # type: ignore[type-arg] # Django's classes take no arguments when it runs
    """A fingerprint, in a column of type `bigint`."""

    description = "Fingerprint of 64 bits"


def fingerprint(argument: Expression | str | int) -> Expression | str:
    """The argument of a function: a number becomes a `bigint`.

    Django takes a number without a field for an `integer`. With parameters that are bound by the server, the upper 32
    bits would be lost without an error.
    """
    if isinstance(argument, Value) and isinstance(argument.value, int):
        argument = argument.value
    if isinstance(argument, int):
        return Value(argument, output_field=FingerprintField())
    return argument


class Comparison(Func):
    """A function of two fingerprints."""

    arity = 2

    def __init__(self, a: Expression | str | int, b: Expression | str | int, **extra: Any) -> None:
        super().__init__(fingerprint(a), fingerprint(b), **extra)


class Hamming(Comparison):
    """The number of bits in which two fingerprints differ. A name is a field, a number is a fingerprint."""

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
    """All fingerprints within a radius of a center."""

    function = "hamming_ball"
    arity = 2


@FingerprintField.register_lookup
class Near(PostgresOperatorLookup):
    """`si__near=(value, 6)`: at most 6 bits differ. The value may be a number, or an expression such as `OuterRef`."""

    lookup_name = "near"
    postgres_operator = "<@"
    prepare_rhs = False

    def __init__(self, lhs: Any, rhs: Any) -> None:
        if isinstance(rhs, (tuple, list)):
            center, radius = rhs
            if isinstance(radius, int):
                # The same meaning, in 32 bits.
                radius = min(max(radius, -1), 64)
            rhs = HammingBall(fingerprint(center), radius)
        super().__init__(lhs, rhs)


class HammingIndex(PostgresIndex):
    """An index of the access method `hamming`, which finds near fingerprints."""

    suffix = "hamming"
