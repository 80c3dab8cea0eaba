"""The table as a page of the documentation: `page.py RESULTS MADE`."""

import csv
import sys

from measure import COLUMNS

TITLES = {
    "within": ("Which codes are within a radius?", ["peer", "settings", "found", "query_ms", "build_s", "bytes"]),
    "nearest": ("Which ten codes are nearest?", ["peer", "settings", "found", "query_ms", "build_s", "bytes"]),
    "pairs": ("Which pairs of codes are near?", ["peer", "settings", "found", "query_ms", "peak_mb"]),
    "corpus": ("Which texts of a corpus are duplicates?", ["peer", "settings", "found", "false", "build_s", "peak_mb", "bytes"]),
}
HEADS = {"peer": "", "settings": "", "found": "found", "false": "false", "query_ms": "time", "build_s": "built in", "peak_mb": "memory", "bytes": "bytes a row"}
INTRODUCTION = """# Comparison

What do others find on the same data, in which time? `make compare` asks them in one run, in one thread each: {made}.
Times are of the processor, *memory* is what the peer took while it worked, *found* the share of what comparing all with
all finds, or of the copies that were made."""


def shown(name, value):
    if value == "":
        return ""
    number = float(value) if name not in ("peer", "settings") else 0
    significant = lambda number: f"{number:,.0f}" if number >= 100 else f"{number:.2g}"
    if name in ("found", "false"):
        return f"{100 * number:.4g} %" if number in (0, 1) else f"{100 * number:.3g} %"
    if name == "query_ms":
        return f"{significant(number / 1000)} s" if number >= 1000 else f"{significant(number)} ms"
    if name == "build_s":
        return f"{significant(number)} s" if number else ""
    if name == "peak_mb":
        return f"{significant(number)} MB"
    if name == "bytes":
        return f"{number:,.0f}" if number else ""
    return f"**{value}**" if value == "simhash_pg" else value


def main(results, made):
    with open(results, newline="") as file:
        rows = list(csv.DictReader(file, COLUMNS))
    print(INTRODUCTION.format(made=made))
    for question, (title, columns) in TITLES.items():
        lines = [row for row in rows if row["question"] == question]
        if not lines:
            continue
        print(f"\n## {title}")
        for data in dict.fromkeys(row["data"] for row in lines):
            print(f"\n{data}:\n\n| {' | '.join(HEADS[name] for name in columns)} |\n|{'---|' * len(columns)}")
            for row in lines:
                if row["data"] == data:
                    print("| " + " | ".join(shown(name, row[name]) for name in columns) + " |")


if __name__ == "__main__":
    main(*sys.argv[1:])
