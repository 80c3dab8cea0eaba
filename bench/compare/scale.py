"""Draws how time grows with the rows, from what `make bench ONLY=scale` has printed: `scale.py RESULTS… DRAWING`."""

import pathlib
import sys

from plot import curves

TITLE = "Time by rows; broken lines grow as the rows do"
# Which steps are drawn, and whether a line that grows as the rows do is drawn beside them.
DRAWN = {
    "near_cluster within 3": True,
    "joined with itself within 3": True,
    "VACUUM, a tenth dead": True,
    "index built": True,
    "a sequential scan, again": True,
    "10,000 new rows joined within 3": False,
    "nearest 10, none near": False,
    "within 6, rows near": False,
    "within 6, none near": False,
    "within 3, none near": False,
}


def main(*paths):
    *results, drawing = map(pathlib.Path, paths)
    spent = {name: {} for name in DRAWN}
    for path in results:
        for line in path.read_text().splitlines():
            cells = [cell.strip() for cell in line.split("|")]
            # rows, what, spent, unit, peak and temporary MB
            if len(cells) == 6 and cells[1] in DRAWN and float(cells[2]) > 0:
                spent[cells[1]][int(cells[0])] = float(cells[2]) * (0.001 if cells[3] == "ms" else 1)
    drawing.write_text(curves(TITLE, [(name, sorted(points.items()), DRAWN[name]) for name, points in spent.items() if points]))


if __name__ == "__main__":
    main(*sys.argv[1:])
