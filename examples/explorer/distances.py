"""The page about what distances mean in a table."""

from __future__ import annotations

from typing import Any

from .layout import Fields, Page, Refused, frame, grid
from .markup import Html, address, html
from .plots import bars
from .queries import Queries


def distances(queries: Queries, fields: Fields) -> Page:
    """What distances mean in this table."""
    rows, sample = queries.histogram()
    if not rows:
        raise Refused(404, "No distance can be shown", "The table has no codes.")
    search = next((row.distance for row in rows if row.to_search), None)
    delete = next((row.distance for row in rows if row.to_delete), None)
    advice = html(
        '<p class="lead">The recommended radius is <strong>{search}</strong>: <a href="{clusters}">clusters</a>,'
        ' <a href="{found}">search</a>. To delete what is found, it is <strong>{delete}</strong>:'
        ' <a href="{deleted}">clusters</a>.</p><ul>{reasons}</ul>',
        search=search, clusters=address("/clusters", radius=search), found=address("/", radius=search),
        delete=delete, deleted=address("/clusters", radius=delete),
        reasons=[html("<li>{reason}</li>", reason=row.reason) for row in rows if row.reason],
    )
    content = html(
        "<h1>Which radius suits this table</h1>{advice}<p>Versions are on the left, unrelated documents around"
        " {half} bits.</p>"
        "<figure>{pairs}<figcaption>Pairs of a sample, by distance: at most {sample:,} rows, each with all others"
        "</figcaption></figure>"
        "<figure>{nearest}<figcaption>Rows, by the distance of the nearest other row</figcaption></figure>{table}",
        advice=advice, sample=sample, half=(len(rows) - 1) // 2,
        pairs=bars("pairs", "Pairs by distance", "pairs", [row.pairs for row in rows], search),
        nearest=bars("nearest", "Rows by the distance of the nearest other", "rows", [row.nearest for row in rows],
                     search),
        table=numbers(rows, search),
    )
    return frame(queries.table, "/distances", "Distances", content)


def numbers(rows: list[Any], recommended: int | None) -> Html:
    cells = [
        (
            f"recommended: {row.distance}" if row.distance == recommended else row.distance,
            f"{row.pairs:,}", f"{row.nearest:,}",
            "" if row.found is None else f"{row.found:,.2f}", "" if row.unrelated is None else f"{row.unrelated:,.4f}",
        )
        for row in rows
    ]
    marked = next((place for place, row in enumerate(rows) if row.distance == recommended), -1)
    return html(
        "<h2>The same in numbers</h2><p><i>Found</i> is how many rows a search with this radius finds on average, and"
        " <i>unrelated</i> how many of these are expected to be unrelated.</p>"
        '<div class="wide" tabindex="0" role="region" aria-label="Distances">{table}</div>',
        table=grid(None, ["#distance", "#pairs", "#nearest", "#found", "#unrelated"], cells, marked),
    )
