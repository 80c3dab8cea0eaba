"""A drawing of one table of the comparison: a bar for each peer, on a scale of powers of ten."""

import math
from html import escape

STYLE = """.paper { fill: #ffffff; stroke: #d0d7de; } .line { stroke: #d0d7de; } .peer { fill: #8c959f; } .ours { fill: #2da44e; }
    text { fill: #1f2328; } .small { font-size: 12px; fill: #59636e; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #0d1117; stroke: #3d444d; } .line { stroke: #3d444d; } .ours { fill: #3fb950; }
      text { fill: #f0f6fc; } .small { fill: #9198a1; }
    }"""
LEFT, WIDTH, HEIGHT = 380, 250, 26


def bars(title, rows):
    """An SVG of the rows: name, value, and what is written beside the bar."""
    low = math.floor(math.log10(min(value for _, value, _ in rows)))
    high = math.ceil(math.log10(max(value for _, value, _ in rows)))
    place = lambda value: LEFT + WIDTH * (math.log10(value) - low) / (high - low)
    bottom = 50 + HEIGHT * len(rows)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {bottom + 28}" font-family="system-ui, sans-serif" font-size="14" '
             'role="img" aria-labelledby="title">', f'  <title id="title">{escape(title)}</title>', f"  <style>\n    {STYLE}\n  </style>",
             f'  <rect class="paper" width="859" height="{bottom + 27}" rx="6"/>', f'  <text x="16" y="26">{escape(title)}</text>']
    lines += [f'  <path class="line" d="M{place(10 ** power):.0f} 38V{bottom}"/>' for power in range(low, high + 1)]
    for number, (name, value, beside) in enumerate(rows):
        top = 44 + HEIGHT * number
        lines += [f'  <text class="small" x="{LEFT - 8}" y="{top + 14}" text-anchor="end">{escape(name)}</text>',
                  f'  <rect class="{"ours" if name.startswith("simhash_pg") else "peer"}" x="{LEFT}" y="{top}" '
                  f'width="{max(2, place(value) - LEFT):.0f}" height="18"/>',
                  f'  <text class="small" x="{max(LEFT + 2, place(value)) + 8:.0f}" y="{top + 14}">{escape(beside)}</text>']
    lines.append(f'  <text class="small" x="{LEFT}" y="{bottom + 18}">logarithmic axis, one line for each power of ten</text>')
    return "\n".join([*lines, "</svg>", ""])
