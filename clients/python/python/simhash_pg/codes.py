"""Codes of any width in the ways that programs write them, and as `bit(n)` has them: a text of the digits 0 and 1."""

import re
from typing import Literal, overload

__all__ = ["code_decode", "code_encode"]


def code_decode(code: str | bytes | int, bits: int | None = None) -> str:
    """The digits 0 and 1 of a code, which drivers take for `bit(n)`: of a text as the SQL function `code_decode` reads it.

    Bytes are read as they are; with a number, say how many bits it has. `bits` is how many a code has to have.
    """
    if isinstance(code, bool) or not isinstance(code, (str, bytes, int)):
        raise TypeError(f"a code is a str, bytes or an int, not {type(code)}")
    if isinstance(code, int):
        if bits is None:
            raise TypeError("a code that is an int needs bits=, the number of its bits")
        # As `signed` and `unsigned` do, so that fingerprints are codes of 64 bits.
        if not -(1 << (bits - 1)) <= code < 1 << bits:
            raise ValueError(f"{code} has more than {bits} bits")
        return f"{code % (1 << bits):0{bits}b}"
    digits = "".join(f"{byte:08b}" for byte in code) if isinstance(code, bytes) else from_text(code)
    if bits is not None and len(digits) != bits:
        raise ValueError(f"a code of {bits} bits is needed, and this one has {len(digits)}")
    return digits


def from_text(code: str) -> str:
    """The digits of a code in hexadecimal digits."""
    text = re.sub(r"[ \t\n\r\f]", "", code)
    if wrong := re.search("[^0-9a-fA-F]", text):
        hint = "Write the digits alone, without 0x before them. Bytes, as of base64.b64decode(code), are read as they are."
        raise ValueError(f'invalid code: "{code}"\n"{wrong[0]}" is not a hexadecimal digit.\n{hint}')
    return "".join(f"{int(digit, 16):04b}" for digit in text)


@overload
def code_encode(code: str, format: Literal["hex"] = "hex") -> str: ...
@overload
def code_encode(code: str, format: Literal["bytes"]) -> bytes: ...
@overload
def code_encode(code: str, format: Literal["int"]) -> int: ...
def code_encode(code: str, format: str = "hex") -> str | bytes | int:
    """The digits 0 and 1 of `bit(n)` as the SQL function `code_encode` writes them, or as bytes or an unsigned number."""
    if not isinstance(code, str) or code.strip("01"):
        raise ValueError(f"a code is a str of the digits 0 and 1, not {code!r}")
    if format == "int":
        return int(code or "0", 2)
    if format not in ("hex", "bytes"):
        raise ValueError(f'unknown format of codes "{format}"\nValid formats are hex, bytes and int.')
    width = 4 if format == "hex" else 8
    if len(code) % width:
        raise ValueError(f"cannot write a code of {len(code)} bits in {format}\nIt has to be a multiple of {width}.")
    if format == "hex":
        return "".join(f"{int(code[at : at + 4], 2):x}" for at in range(0, len(code), 4))
    return bytes(int(code[at : at + 8], 2) for at in range(0, len(code), 8))
