"""What Django and SQLAlchemy are given, checked before the server sees it."""

from typing import Any

__all__ = ["bigint", "digits"]


def bigint(value: Any) -> int:
    """A fingerprint: a signed number of 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"a fingerprint is an int, not {type(value)}")
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"fingerprint {value} is not a bigint\nsimhash_pg.signed() converts unsigned numbers.")
    return value


def digits(value: Any, bits: int | None = None) -> str:
    """A code of `bit(n)`: the digits 0 and 1, as many as are said."""
    hint = "simhash_pg.code_decode() makes it of hexadecimal digits, bytes and numbers."
    if not isinstance(value, str):
        raise TypeError(f"a code is a str of the digits 0 and 1, not {type(value)}\n{hint}")
    if value.strip("01"):
        raise ValueError(f'"{value}" has other digits than 0 and 1\n{hint}')
    if bits is not None and len(value) != bits:
        raise ValueError(f"a code of {bits} bits is needed, and this one has {len(value)}")
    return value
