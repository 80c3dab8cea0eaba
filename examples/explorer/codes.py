"""Fingerprints and other codes: numbers of 64 bits, or strings of bits of any width."""

from __future__ import annotations

# A bigint, or the bits of a bit(n) as PostgreSQL writes them.
Code = int | str


class NotACode(Exception):
    """What a visitor entered is no code. The message says what is."""


def bits_of(code: Code) -> str:
    """The bits in the order in which they are drawn and counted. Bit 0 of a number is the lowest one."""
    return f"{code & (1 << 64) - 1:064b}"[::-1] if isinstance(code, int) else code


def shown(code: Code | None) -> str:
    """As a visitor knows it: a number as PostgreSQL writes it, bits in hex."""
    if code is None or isinstance(code, int):
        return "none" if code is None else str(code)
    return f"{int(code, 2):0{len(code) // 4}x}" if code and len(code) % 4 == 0 else code


def read(text: str, width: int | None) -> Code:
    """A code of this width from hex digits, or from its bits. Without a width, these are hex digits."""
    digits = "".join(text.split()).lower()
    digits = digits.removeprefix("0x").removeprefix("x") if digits[:2] == "0x" or digits[:1] == "x" else digits
    if digits and width == len(digits) and set(digits) <= set("01"):
        return digits
    if digits and set(digits) <= set("0123456789abcdef") and width in (None, 4 * len(digits)):
        return "".join(f"{int(digit, 16):04b}" for digit in digits)
    wanted = "hex digits" if width is None else f"{width} bits" + (f", or {width // 4} hex digits" * (width % 4 == 0))
    raise NotACode(f"A code of this table has {wanted}.")
