"""The page of living clusters: those that near_clusters_create has made for the table, as of the last refresh."""

from __future__ import annotations

from typing import Any

from .layout import Fields, Page, Refused, frame, grid, link_to, name_of, results
from .markup import address, html
from .pages import pager
from .queries import CLUSTERS, Queries
from .table import Living


def living(queries: Queries, fields: Fields) -> Page:
    """The largest living clusters, or the members of one."""
    found = queries.living()
    if not found:
        raise Refused(404, "There are no living clusters", "near_clusters_create makes them, and your role must have"
                                                           " the privilege to read their table.")
    keeper = fields.get("keeper")
    return of_all(queries, found, fields) if keeper is None else of_one(queries, found, keeper)


def of_all(queries: Queries, found: Living, fields: Fields) -> Page:
    page = fields.number("page", 1, 1, 1_000_000)
    rows = queries.living_clusters(found, page)

    def item(row: Any) -> tuple[object, ...]:
        link = html(
            '<a href="{href}">{name}</a><p class="beginning" dir="auto">{row.beginning}</p>',
            row=row, name=name_of(row), href=address("/living", keeper=row.key))
        return f"{row.members:,}", row.farthest, link

    if rows:
        shown = html(
            '<p role="status">{clusters:,} clusters have {documents:,} documents.</p>{table}{pages}',
            clusters=int(rows[0].clusters), documents=int(rows[0].documents),
            table=grid("Clusters, the largest first", ["#documents", "#farthest", "keeper"], [item(row) for row in rows]),
            pages=pager("More clusters", ("Before these", address("/living", page=page - 1) if page > 1 else None),
                        ("After these", address("/living", page=page + 1) if page * CLUSTERS < rows[0].clusters else None)),
        )
    else:
        shown = html('<p role="status" class="note">No cluster has two documents.</p>')
    content = html("<h1>Living clusters</h1><p>Table <b>{found.name}</b>: {found.comment}.</p>{shown}",
                   found=found, shown=shown)
    return frame(queries.table, "/clusters", "Living clusters", content)


def of_one(queries: Queries, found: Living, keeper: str) -> Page:
    rows = queries.living_members(found, keeper)
    if not rows:
        raise Refused(404, "This document keeps no living cluster", "The clusters may have been refreshed since.")
    content = html(
        '<p><a href="/living">All living clusters</a></p><h1>{name}</h1><p>This document keeps a cluster of {count}. The'
        ' farthest come last.</p><form><input type="hidden" name="a" value="{keeper:exact}">{rows}</form>',
        name=link_to(rows[0]), count=len(rows), keeper=rows[0].key, rows=results(rows[1:]))
    return frame(queries.table, "/clusters", "Living cluster", content)
