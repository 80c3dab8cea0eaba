"""Reads the forms that the pages send, and nothing else.

Python's own parser accepts whatever a mail may contain, such as parts within parts, folded lines and any number of
parameters, and takes minutes for a few megabytes of them. A browser sends none of these. So a form is cut at its
boundary, and the header of each part has to be the one or two lines that a browser writes. Sizes and counts are
checked first, so that the time that a form takes grows with its length alone.
"""

from __future__ import annotations

import re

from .layout import Fields, Refused

LARGEST_UPLOAD = 5_000_000
# A form contains this much in addition to the text.
LARGEST_BODY = LARGEST_UPLOAD + 10_000
# No form of these pages has as many fields.
MOST_PARTS = 20
# The header of a part: the names of a field and of a file, which has at most 255 characters, and its type.
LARGEST_PART_HEADER = 2_000

# RFC 2046 limits a boundary to 70 of these characters.
KIND = re.compile(r"""multipart/form-data; *boundary=("?)([0-9A-Za-z'()+_,./:=?-]{1,70})\1""")
PART_HEADER = re.compile(
    rb'\r\nContent-Disposition: form-data; name="([^"\r\n]*)"(?:; filename="[^"\r\n]*")?'
    rb"(?:\r\nContent-Type: (?!multipart/)[^\r\n]*)?",
    re.IGNORECASE,
)


def too_large() -> Refused:
    return Refused(413, "This is too large", f"The limit for a text is {LARGEST_UPLOAD // 1_000_000} MB. Use a part of it.")


def unknown() -> Refused:
    return Refused(400, "This form does not belong to the explorer", "The links above lead to the explorer's pages.")


def boundary_of(kind: str) -> bytes | None:
    """The boundary that the Content-Type of a form names. None for a type that the pages do not send."""
    found = KIND.fullmatch(kind)
    return found[2].encode("ascii") if found else None


def read_form(boundary: bytes, body: bytes) -> Fields:
    """The fields of a form. A file that was chosen takes the place of the text."""
    # One piece more than there may be parts, which then does not look like the end of a form.
    before, *parts = (b"\r\n" + body).split(b"\r\n--" + boundary, MOST_PARTS + 1)
    if before or not parts or parts.pop() not in (b"--", b"--\r\n"):
        raise unknown()
    fields = Fields()
    for part in parts:
        end = part.find(b"\r\n\r\n", 0, LARGEST_PART_HEADER)
        header = PART_HEADER.fullmatch(part, 0, end) if end >= 0 else None
        if not header:
            raise unknown()
        name = header[1].decode("utf-8", "replace")
        content = part[end + 4:]
        if len(content) > LARGEST_UPLOAD:
            raise too_large()
        # Browsers write the ends of lines as CR LF. Stored texts have LF, and passages would end at each.
        text = decoded(content).replace("\r\n", "\n")
        if name != "file":
            fields[name] = text
        elif text:
            fields["text"] = text
    return fields


def decoded(content: bytes) -> str:
    """UTF-8, or what is most likely otherwise: a file in Latin-1, in which all bytes are characters."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
