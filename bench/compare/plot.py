"""Drawings on scales of powers of ten: a bar for each peer of the comparison, and a curve of time by rows for each step."""

import math
from html import escape

STYLE = """.paper { fill: #ffffff; stroke: #d0d7de; } .line { stroke: #d0d7de; } .peer { fill: #8c959f; } .ours { fill: #2da44e; }
    text { fill: #1f2328; } .small { font-size: 12px; fill: #59636e; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #0d1117; stroke: #3d444d; } .line { stroke: #3d444d; } .ours { fill: #3fb950; }
      text { fill: #f0f6fc; } .small { fill: #9198a1; }
    }"""
LEFT = 380
WIDTH = 250
HEIGHT = 26
COLORS = ["#cf222e", "#bf8700", "#8250df", "#2da44e", "#8c959f", "#0969da", "#1b7c83", "#bf3989", "#57606a", "#9a6700"]


def opening(title, height):
    return [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {height}" font-family="system-ui, sans-serif" font-size="14" '
            'role="img" aria-labelledby="title">', f'  <title id="title">{escape(title)}</title>', f"  <style>\n    {STYLE}\n  </style>",
            f'  <rect class="paper" width="859" height="{height - 1}" rx="6"/>', f'  <text x="16" y="26">{escape(title)}</text>']


def bars(title, rows):
    """An SVG of the rows: name, value, and what is written beside the bar."""
    low = math.floor(math.log10(min(value for _, value, _ in rows)))
    high = math.ceil(math.log10(max(value for _, value, _ in rows)))
    place = lambda value: LEFT + WIDTH * (math.log10(value) - low) / (high - low)
    bottom = 50 + HEIGHT * len(rows)
    lines = opening(title, bottom + 28)
    lines += [f'  <path class="line" d="M{place(10 ** power):.0f} 38V{bottom}"/>' for power in range(low, high + 1)]
    for number, (name, value, beside) in enumerate(rows):
        top = 44 + HEIGHT * number
        lines += [f'  <text class="small" x="{LEFT - 8}" y="{top + 14}" text-anchor="end">{escape(name)}</text>',
                  f'  <rect class="{"ours" if name.startswith("simhash_pg") else "peer"}" x="{LEFT}" y="{top}" '
                  f'width="{max(2, place(value) - LEFT):.0f}" height="18"/>',
                  f'  <text class="small" x="{max(LEFT + 2, place(value)) + 8:.0f}" y="{top + 14}">{escape(beside)}</text>']
    lines.append(f'  <text class="small" x="{LEFT}" y="{bottom + 18}">logarithmic axis, one line for each power of ten</text>')
    return "\n".join([*lines, "</svg>", ""])


def curves(title, steps):
    """An SVG of the steps: name, pairs of rows and seconds, and whether a line that grows as the rows is drawn beside them."""
    rows = [math.log10(x) for _, points, _ in steps for x, _ in points]
    straight = lambda points: [points[0], (points[-1][0], points[0][1] * points[-1][0] / points[0][0])]
    seconds = [math.log10(y) for _, points, grows in steps for _, y in points + straight(points) * grows]
    left = 70
    right = 610
    top = 44
    bottom = 484
    low = math.floor(min(seconds))
    high = math.ceil(max(seconds))
    x_of = lambda x: left + (right - left) * (math.log10(x) - min(rows)) / ((max(rows) - min(rows)) or 1)
    y_of = lambda y: bottom - (bottom - top) * (math.log10(y) - low) / (high - low)
    lines = opening(title, bottom + 36)
    for power in range(low, high + 1):
        unit = f"{10 ** power:g} s" if power >= 0 else f"{10 ** (power + 3):g} ms"
        lines += [f'  <path class="line" d="M{left} {y_of(10.0 ** power):.0f}H{right}"/>',
                  f'  <text class="small" x="{left - 8}" y="{y_of(10.0 ** power) + 4:.0f}" text-anchor="end">{unit}</text>']
    for x in sorted({x for _, points, _ in steps for x, _ in points}):
        lines += [f'  <path class="line" d="M{x_of(x):.0f} {top}V{bottom}"/>',
                  f'  <text class="small" x="{x_of(x):.0f}" y="{bottom + 20}" text-anchor="middle">{x / 1e6:g}</text>']
    lines.append(f'  <text class="small" x="{right + 26}" y="{bottom + 20}">million rows</text>')
    path = lambda points: "M" + "L".join(f"{x_of(x):.1f} {y_of(y):.1f}" for x, y in points)
    beside = -math.inf
    for color, (name, points, grows) in sorted(zip(COLORS, steps), key=lambda step: y_of(step[1][1][-1][1])):
        if grows:
            lines.append(f'  <path d="{path(straight(points))}" fill="none" stroke="{color}" stroke-dasharray="2 4"/>')
        lines.append(f'  <path d="{path(points)}" fill="none" stroke="{color}" stroke-width="2"/>')
        lines += [f'  <circle cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="3" fill="{color}"/>' for x, y in points]
        beside = max(y_of(points[-1][1]) + 4, beside + 15)
        lines += [f'  <circle cx="{right + 17}" cy="{beside - 4:.0f}" r="3" fill="{color}"/>',
                  f'  <text class="small" x="{right + 26}" y="{beside:.0f}">{escape(name)}</text>']
    return "\n".join([*lines, "</svg>", ""])
