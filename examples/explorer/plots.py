"""Pictures as SVG, drawn by the server: a plot of bars, and the bits of two fingerprints that differ."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10

from .markup import Html, html

# Units of the picture; style.css scales it to the width of the window.
WIDTH = 640
HEIGHT = 260
LEFT = 76
RIGHT = 14
TOP = 34
BOTTOM = 30


def bars(id: str, title: str, unit: str, counts: Sequence[int], recommended: int | None) -> Html:
    """A bar for each distance, on a logarithmic scale: a few near pairs must show next to millions of others."""
    top = max([10, *counts])
    inner = WIDTH - LEFT - RIGHT
    base = HEIGHT - BOTTOM
    step = inner / len(counts)

    def height(count: int) -> float:
        return log10(1 + count) / log10(1 + top) * (base - TOP)

    drawn = [
        html(
            '<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}">'
            "<title>distance {distance}: {count:,} {unit}</title></rect>",
            kind="near" if recommended is not None and distance <= recommended else "far",
            x=LEFT + distance * step + step * 0.12, y=base - height(count), width=step * 0.76, height=height(count),
            distance=distance, count=count, unit=unit,
        )
        for distance, count in enumerate(counts)
        if count
    ]
    powers = [10**power for power in range(0, len(str(top)))]
    every = max(1, -(-len(powers) // 5))
    scale = [
        html(
            '<line class="grid" x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
            '<text class="scale" x="{label}" y="{y:.1f}" dy="0.35em" text-anchor="end">{count}</text>',
            left=LEFT, right=WIDTH - RIGHT, y=base - height(count), label=LEFT - 8,
            count=f"{count:,}" if count < 10**6 else f"{count // 10**6:,} M",
        )
        for count in powers[::every]
    ]
    ticks = [
        html('<text x="{x:.1f}" y="{y}" text-anchor="middle">{distance}</text>',
             x=LEFT + (distance + 0.5) * step, y=base + 20, distance=distance)
        for distance in range(0, len(counts), max(8, len(counts) // 64 * 8))
    ]
    return html(
        '<svg class="plot" viewBox="0 0 {width} {height}" role="img" aria-labelledby="{id}-title">'
        '<title id="{id}-title">{title}. The table below has the numbers.</title>{scale}{drawn}'
        '<text class="scale" x="4" y="14">{unit}, log scale</text>'
        '<line class="axis" x1="{left}" x2="{right}" y1="{base}" y2="{base}"/>{ticks}{mark}</svg>',
        width=WIDTH, height=HEIGHT, id=id, title=title, unit=unit, scale=scale, drawn=drawn, left=LEFT,
        right=WIDTH - RIGHT, base=base, ticks=ticks, mark=_radius(LEFT + (recommended + 1) * step, recommended, base)
        if recommended is not None else None,
    )


def _radius(x: float, radius: int, base: int) -> Html:
    return html(
        '<line class="radius" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{base}"/>'
        '<text class="radius" x="{label:.1f}" y="{y}">recommended radius {radius}</text>',
        x=x, top=TOP - 22, base=base, label=x + 7, y=TOP - 12, radius=radius,
    )


# A picture of more bits shows nothing.
MOST_DRAWN = 1024


def bits(a: str, b: str) -> Html:
    """The bits of two codes, row by row from bit 0 at the top left; those that differ are filled."""
    if len(a) > MOST_DRAWN:
        return html("")
    different = [bit for bit in range(len(a)) if a[bit] != b[bit]]
    columns = 8 if len(a) <= 64 else 16 if len(a) <= 256 else 32
    cells = [
        html('<rect class="{kind}" x="{x}" y="{y}" width="16" height="16" rx="3"/>',
             kind="differs" if a[bit] != b[bit] else "same", x=2 + bit % columns * 20, y=2 + bit // columns * 20)
        for bit in range(len(a))
    ]
    return html(
        '<svg class="bits" viewBox="0 0 {width} {height}" role="img" aria-labelledby="bits-title">'
        '<title id="bits-title">Bits that differ: {different}</title>{cells}</svg>',
        different=", ".join(map(str, different)) or "none", cells=cells, width=20 * columns,
        height=20 * -(-len(a) // columns),
    )
