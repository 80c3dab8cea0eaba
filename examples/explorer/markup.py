"""HTML that cannot forget to escape.

Text becomes HTML through `html` alone, and `html` escapes every value that it fills in. Pages are made of `Html`, which
is no string: a string that found its way into a page would be escaped, and the type checker refuses it as a page.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

if TYPE_CHECKING:
    from typing import LiteralString

# Control characters are shown by their numbers: they have no shape, most are errors in HTML, and some turn the
# direction in which the text after them is read.
CONTROLS = [*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
VISIBLE = {code: f"‹U+{code:04X}›" for code in CONTROLS if chr(code) not in "\t\n\r"}


class Html:
    """A finished piece of HTML."""

    __slots__ = ("source",)

    def __init__(self, source: str) -> None:
        self.source = source


class _Escaping(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Html):
            return value.source
        if value is None:
            return ""
        if isinstance(value, Iterable) and not isinstance(value, str):
            return "".join(self.format_field(item, format_spec) for item in value)
        if format_spec == "exact":
            return escape(str(value))
        return escape(format(value, format_spec)).translate(VISIBLE)


def html(template: LiteralString, /, **values: object) -> Html:
    """Fills values into a template as str.format does. None is nothing; the items of a list are joined.

    {name:exact} leaves control characters as they are, in fields whose values come back to us.
    """
    return Html(_Escaping().vformat(template, (), values))


def html_of_server(source: str) -> Html:
    """What passage_headline made with Escape=html. PostgreSQL has escaped it, but for control characters."""
    return Html(source.translate(VISIBLE))


def with_anchor(headline: Html, id: str) -> tuple[Html, bool]:
    """Puts a target for links before the first text that is not marked. False if all is marked."""
    # All that is before it: marked text, blanks, and the ends of fragments.
    place = re.match(r"(?:<mark>.*?</mark>|<[^>]*>|\s+)*", headline.source, re.DOTALL)
    start = place.end() if place else 0
    if start == len(headline.source):
        return headline, False
    target = html('<span id="{id}" class="target" tabindex="-1"></span>', id=id)
    return Html(headline.source[:start] + target.source + headline.source[start:]), True


def address(path: LiteralString, **parameters: object) -> str:
    """The address of a page of ours."""
    return f"{path}?{urlencode(parameters)}" if parameters else path
