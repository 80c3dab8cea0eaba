"""Parts of all pages: the frame around them, lists of documents, and pages that report errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg

from . import codes
from .markup import Html, address, html
from .table import STATEMENT_TIMEOUT, Table

if TYPE_CHECKING:
    from typing import LiteralString

PAGES: list[tuple[LiteralString, str]] = [
    ("/", "Search"),
    ("/compare", "Compare"),
    ("/clusters", "Clusters"),
    ("/distances", "Distances"),
]


@dataclass(frozen=True)
class Page:
    """A finished answer."""

    body: Html
    status: int = 200


class Refused(Exception):
    """A requested page cannot be shown."""

    def __init__(self, status: int, title: str, advice: str) -> None:
        self.status = status
        self.title = title
        self.advice = advice
        super().__init__(title)


class Fields(dict[str, str]):
    """What a visitor has filled in, or what an address contains."""

    def number(self, name: str, default: int, least: int, most: int) -> int:
        value = self.get(name, "").strip() or str(default)
        if not (value.isascii() and value.isdigit() and len(value) < 10 and least <= int(value) <= most):
            raise Refused(400, f"{name} is not a number from {least} to {most}", "Go back and enter another one.")
        return int(value)

    def radius(self, table: Table) -> int:
        return self.number("radius", table.first_radius, 0, table.most_bits)


def frame(table: Table, here: str, title: str, content: Html, status: int = 200) -> Page:
    """A whole page. Its title has no text of documents, so that nothing in them reaches the window's frame."""
    links = [
        html(
            '<li><a href="{path}"{current}>{name}</a></li>',
            path=path, name=name, current=html(' aria-current="page"') if path == here else None,
        )
        for path, name in PAGES
    ]
    return Page(
        html(
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title} · simhash_pg explorer</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
            '<link rel="stylesheet" href="/style.css"></head>'
            '<body><a class="skip" href="#main">Skip to the content</a>'
            '<header><p class="brand">simhash_pg explorer</p><nav aria-label="Pages"><ul>{links}</ul></nav></header>'
            '<main id="main">{content}</main>'
            "<footer><p>Table <b>{table.schema}.{table.name}</b>: {columns}. This app only reads.</p></footer></body>"
            "</html>",
            title=title, links=links, content=content, table=table, columns=table.columns,
        ),
        status,
    )


def name_of(row: Any) -> Html:
    """How a document is called, in a frame of its own, so that right-to-left text stays inside of it."""
    return html("<bdi>{title}</bdi>", title=row.title) if (row.title or "").strip() else html("no title")


def link_to(row: Any) -> Html:
    return html('<a href="{href}">{name}</a>', href=address("/document", key=row.key), name=name_of(row))


def results(rows: Sequence[Any], radius: int = -1) -> Html:
    """A list of documents. Those with a distance are in a form, and can be compared with what it has."""
    return html('<ol class="results">{items}</ol>', items=[result(row, radius) for row in rows])


def picture_of(row: Any) -> Html | None:
    """The picture of a row: at an address elsewhere, or ours, where the row has bytes."""
    if row.picture is None:
        return None
    return html('<img class="picture" src="{src}" alt="Picture of {key}" loading="lazy">', key=row.key,
                src=row.picture or address("/picture", key=row.key))


def result(row: Any, radius: int) -> Html:
    distance = button = within = None
    if row.distance is not None:
        unit = "bit" if row.distance == 1 else "bits"
        distance = html('<p class="distance"><b>{d}</b> <span>{unit}</span></p>', d=row.distance, unit=unit)
        button = html(
            '<button formaction="/compare" name="b" value="{key:exact}">Compare<span class="hidden"> with {key}</span>'
            "</button>", key=row.key,
        )
        if row.distance <= radius:
            within = html(" · <strong>within {radius}</strong>", radius=radius)
    return html(
        '<li class="{kind}">{distance}{picture}<div class="found"><h3>{link}</h3>'
        '<p class="beginning" dir="auto">{row.beginning}</p>'
        '<p class="facts">key <bdi>{row.key}</bdi>{length}{code}{within}</p></div>{button}</li>',
        kind="near" if within else "far", distance=distance, picture=picture_of(row), link=link_to(row), row=row, within=within,
        # The number of a text's fingerprint says nothing.
        code=html(" · code {code}", code=codes.shown(row.code)) if isinstance(row.code, str) else None,
        length=None if row.length is None else f" · {row.length:,} characters", button=button,
    )


def grid(caption: str | None, heads: Sequence[str], rows: Sequence[tuple[object, ...]], marked: int = -1) -> Html:
    """A table of data. Heads of figures begin with #. One row may be marked by its place."""
    kinds = [html(' class="figure"') if head.startswith("#") else None for head in heads]
    return html(
        "<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>",
        caption=html("<caption>{caption}</caption>", caption=caption) if caption else None,
        heads=[
            html('<th scope="col"{kind}>{head}</th>', kind=kind, head=head.lstrip("#"))
            for head, kind in zip(heads, kinds)
        ],
        rows=[
            html(
                "<tr{mark}>{cells}</tr>", mark=html(' class="marked"') if place == marked else None,
                cells=[html("<td{kind}>{cell}</td>", kind=kind, cell=cell) for kind, cell in zip(kinds, row)],
            )
            for place, row in enumerate(rows)
        ],
    )


# A page that reports an error ends with it.
WAY_BACK = html(
    '<p class="back">The browser\'s button to go back leads to what you have entered. Or '
    '<a href="/">begin with a new search</a>.</p>'
)


def refusal(table: Table, refused: Refused) -> Page:
    content = html(
        '<section role="alert"><h1>{title}</h1><p>{advice}</p></section>{back}',
        title=refused.title, advice=refused.advice, back=WAY_BACK,
    )
    return frame(table, "", "Not shown", content, refused.status)


# What to do about an error of the server: the first line that fits.
ADVICE: list[tuple[type[psycopg.Error], int, str, str]] = [
    (psycopg.errors.QueryCanceled, 503, f"The query took longer than {STATEMENT_TIMEOUT}",
     "A smaller radius, shorter texts or an index of type hamming make it faster."),
    (psycopg.errors.InsufficientPrivilege, 403, "The role lacks a privilege",
     "The owner of the table can grant it: GRANT SELECT ON {table} TO the role of the explorer."),
    (psycopg.DataError, 400, "Invalid value", "PostgreSQL's message is shown below."),
    (psycopg.errors.UndefinedTable, 500, "The table no longer exists", "Start the explorer again."),
    (psycopg.errors.UndefinedColumn, 500, "The table has changed", "Start the explorer again."),
    (psycopg.errors.UndefinedFunction, 500, "A function is missing",
     "The extension in this database is older: ALTER EXTENSION simhash_pg UPDATE."),
    (psycopg.OperationalError, 503, "PostgreSQL is not available", "Check that the server is running, and load the page again."),
    (psycopg.Error, 500, "The query failed", "PostgreSQL's message is shown below."),
]


def server_error(table: Table, error: psycopg.Error) -> Page:
    """What the server said, and what to do."""
    status, title, advice = next(line[1:] for line in ADVICE if isinstance(error, line[0]))
    said = [error.diag.message_primary or str(error), error.diag.message_detail, error.diag.message_hint]
    content = html(
        '<section role="alert"><h1>{title}</h1><p>{advice}</p><pre dir="auto">{said}</pre></section>{back}',
        title=title, advice=advice.format(table=f"{table.schema}.{table.name}"),
        said="\n".join(line for line in said if line), back=WAY_BACK,
    )
    return frame(table, "", "Error", content, status)
