"""The page about what distances mean in a table."""

from __future__ import annotations

from typing import Any

from .layout import Fields, Page, Refused, frame, grid
from .markup import Html, address, html
from .plots import bars
from .queries import Queries


def distances(queries: Queries, fields: Fields) -> Page:
    """What distances mean in this table."""
    sample = queries.histogram()
    rows = sample.levels
    if not rows:
        raise Refused(404, "No distance can be shown", "The table has no codes.")
    search = next((row.distance for row in rows if row.to_search), None)
    advice = None if search is None else (
        html(
            '<p class="lead">The recommended radius is <strong>{search}</strong>: <a href="{clusters}">clusters</a>,'
            ' <a href="{found}">search</a>.</p>',
            search=search, clusters=address("/clusters", radius=search), found=address("/", radius=search))
    )
    compared = "all others of the table"
    if sample.others is not None:
        compared = f"{sample.others:,} others"
        first = queries.table.first_radius
        advice = html(
            '<p class="note part">The table has some {rows:,} documents. So {asked:,} of them were compared with {compared},'
            " and texts were not; <i>rows</i> is computed from that. For a table of this size, begin with radius"
            ' <a href="{found}">{first}</a>. In psql, <code>hamming_histogram</code> compares all.</p>',
            rows=queries.table.rows, asked=sample.asked, compared=compared, first=first, found=address("/", radius=first))
    content = html(
        "<h1>Which radius suits this table</h1>{advice}<p>Versions and siblings of templates are on the left, unrelated"
        " documents around {half} bits. No radius says what may be deleted: read some pairs.</p>"
        "<figure>{pairs}<figcaption>Pairs by distance: at most {asked:,} rows, each with {compared}"
        "</figcaption></figure>"
        "{table}",
        advice=advice, asked=sample.asked, compared=compared, half=(len(rows) - 1) // 2,
        pairs=bars("pairs", "Pairs by distance", "pairs", [row.pairs for row in rows], search),
        table=numbers(rows, search),
    )
    return frame(queries.table, "/distances", "Distances", content)


def numbers(rows: list[Any], recommended: int | None) -> Html:
    cells = [
        (
            f"recommended: {row.distance}" if row.distance == recommended else row.distance,
            f"{row.rows:,.2f}", f"{row.pairs:,}", "" if row.duplicates is None else f"{row.duplicates:,.2f}",
            "" if row.at_most is None else f"{row.at_most:,.2f}",
            "" if row.compared is None else f"{row.compared:,}",
        )
        for row in rows
    ]
    marked = next((place for place, row in enumerate(rows) if row.distance == recommended), -1)
    return html(
        "<h2>The same in numbers</h2><p><i>Rows</i> is how many others a search with this radius finds on average, and"
        " <i>duplicates</i> how many of these are duplicates, <i>at most</i> so many, by <i>compared</i> pairs.</p>"
        '<div class="wide" tabindex="0" role="region" aria-label="Distances">{table}</div>',
        table=grid(None, ["#distance", "#rows", "#pairs", "#duplicates", "#at most", "#compared"], cells, marked),
    )
