"""The answers that are kept as a page of the documentation and its drawings: `page.py FOLDER DRAWINGS`."""

import csv
import pathlib
import sys
import textwrap

from measure import COLUMNS
from plot import bars

# Questions of which the page has no table, but the pages on their topics a sentence: pairs, licences, copies, pictures, passages, embeddings.
SEARCH = ["peer", "settings", "found", "query_ms"]
CORPUS = ["peer", "settings", "found", "false", "rate", "peak_mb"]
TITLES = {
    "within": ("Which codes are within a radius?", ["peer", "settings", "query_ms", "bytes"], "All find the same codes."),
    "nearest": ("Which ten codes are nearest?", SEARCH, "Ten codes are near each of the queries. *Found* counts the right distances of all ten."),
    "far": ("Which ten codes are nearest, if none is near?", ["peer", "query_ms"],
            "Ours compares all codes, as FAISS does. [A radius](querying.md) next to the order ends such a search early. Graphs, "
            "which this table leaves out, find at most 2 % of the right ones."),
    "corpus": ("Which texts of a corpus are duplicates?", CORPUS,
               "Of ten texts one is a copy, and one a changed copy: 2, 5 or 10 % of the words are replaced, two sentences are exchanged, "
               "or others are put before and after. Two more share a third or half of their sentences with another, and are no "
               "duplicates. *A second* is texts a second and core, from the texts to the list of duplicates; ours includes COPY. All "
               "are nearly twice as fast where nothing else runs."),
    "quotes": ("Who quotes whom?", ["peer", "settings", "found", "false", "query_ms"],
               "Half of the queries have 300 characters of a stored text in their middle. Others than ours have the limit that does best."),
}
HEADS = {"peer": "", "settings": "", "found": "found", "false": "false", "query_ms": "time", "build_s": "built in", "rate": "a second",
         "peak_mb": "memory", "bytes": "bytes a row"}
INTRODUCTION = """# Comparison

What do other programs find on the same data, in which time? simhash_pg is the fastest for all near codes, near pairs,
duplicates of a corpus and quotations, and loses here:

{losses}

`make compare` asks all, each in one thread of a machine with two, on PostgreSQL 15. Times are of the processor, the means of the first queries of a session,
and may be a fifth higher or lower in another run. *Found* is the share of what comparing all with all finds, or of what was
planted; *false* is the share of wrong answers, of a corpus of texts that are no copies. *Memory* is what the peer took, and
bytes a row are next to the code or the text. Thresholds are ones that users choose, or the best by F1. `bench/compare` has
more answers, in `results`, and the versions, in `requirements.txt`.
"""
LOSSES = """- Nearest codes of 256 bits where none is near: FAISS compares all in a quarter (300,000 codes) to two thirds (10
  million) of the time, and a seventh of the bytes.
- Licences of files asked for one by one (247 ms, TF-IDF of four words 26), and copies of short answers (97 % found,
  copydetect 98).
- Rewritten texts, which no table has: [a code of 64 bits misses many](choosing-a-threshold.md)."""

# Data of which a question has answers that say nothing new; they are in the folder of the results alone.
LEFT_OUT = {
    "within": ["300,000 codes of 256 bits", "1,000,000 codes of 256 bits", "1,000,000 codes of 64 bits"],
    "nearest": ["10,000,000 codes of 256 bits", "10,000,000 codes of 64 bits", "1,000,000 codes of 64 bits", "1,000,000 codes of 256 bits"],
    "far": ["10,000,000 codes of 256 bits", "10,000,000 codes of 64 bits", "1,000,000 codes of 64 bits", "1,000,000 codes of 256 bits"],
    "corpus": ["1,000,000 texts of 2,000 characters", "3,000,000 texts of 2,000 characters"],
}
# Peers, or settings of peers, that a question's table leaves out: their answers are wrong, or like another's.
PEERS_LEFT_OUT = {
    "far": {"pgvector 0.8.6 HNSW", "FAISS BinaryHNSW", "usearch HNSW"},
    "within": {"SQLite", "ClickHouse (chdb)", "DuckDB"},
    "nearest": {"usearch HNSW", "M 16, efSearch 40"},
    "corpus": {"5 words, radius 3 (text-dedup)"},
    "quotes": {"words, cosine"},
}
# Of these questions, which data is drawn, by which column, and what is beside it.
DRAWN = {
    "within": ("10,000,000 codes of 64 bits", "query_ms", [], "Processor time of a search within 6 bits, among ten million codes of 64 bits"),
    "corpus": ("100,000 texts", "rate", ["found", "false"], "Texts a second on one core, from texts to the list of duplicates"),
}


def is_shown(row):
    question = row["question"]
    return row["data"] not in LEFT_OUT.get(question, []) and not PEERS_LEFT_OUT.get(question, set()) & {row["peer"], row["settings"]}


def shown(name, row):
    value = row.get(name) or ""
    if name in ("peer", "settings") or value == "":
        return f"**{value}**" if value == "simhash_pg" else value
    number = float(value)
    significant = lambda number: f"{number:,.0f}" if number >= 100 else f"{number:.2g}"
    if name in ("found", "false"):
        return f"{100 * number:.3g} %"
    if name == "query_ms":
        return f"{significant(number / 1000)} s" if number >= 1000 else f"{significant(number)} ms"
    if name == "build_s":
        return f"{significant(number)} s" if number else ""
    if name == "peak_mb":
        return f"{significant(number)} MB"
    return f"{number:,.0f}" if number else ""


def draw(path, rows, column, others, title):
    beside = lambda row: ", ".join([shown(column, row), *(f"{name} {shown(name, row)}" for name in others)])
    drawn = [(f"{row['peer']}, {row['settings']}".removesuffix(", "), float(row[column]), beside(row)) for row in rows]
    path.write_text(bars(title, sorted(drawn, key=lambda row: row[1])))


def main(kept, drawings):
    fill = lambda text: "\n\n".join(textwrap.fill(part, 120, break_long_words=False, break_on_hyphens=False) for part in text.split("\n\n"))
    print(fill(INTRODUCTION.rstrip()).format(losses=LOSSES))
    rows = []
    for path in sorted(pathlib.Path(kept).glob("*.csv")):
        with path.open(newline="") as file:
            command, made = next(file).removeprefix("# ").strip().split("; ")
            rows += [row | {"command": f"`{command}`, {made}"} for row in csv.DictReader(file, COLUMNS)]
    for question, (title, columns, remark) in TITLES.items():
        lines = [row for row in rows if row["question"] == question and is_shown(row)]
        if not lines:
            continue
        heads = HEADS | ({"build_s": "time"} if "rate" in columns else {})
        print(f"\n## {title}" + f"\n\n{fill(remark)}" * bool(remark))
        for data, command in dict.fromkeys((row["data"], row["command"]) for row in lines):
            some = [row for row in lines if row["data"] == data]
            for row in some:
                row["rate"] = int(data.split()[0].replace(",", "")) / float(row["build_s"]) if "rate" in columns else ""
            print(f"\n{data}, {command}:\n\n| {' | '.join(heads[name] for name in columns)} |\n|{'---|' * len(columns)}")
            for row in some:
                print("| " + " | ".join(shown(name, row) for name in columns) + " |")
            drawn, column, others, caption = DRAWN.get(question, (None, None, None, None))
            if drawn and data.startswith(drawn):
                name = f"compare-{question}.svg"
                draw(pathlib.Path(drawings) / name, some, column, others, caption)
                print(f"\n![{caption}](drawings/{name})")


if __name__ == "__main__":
    main(*sys.argv[1:])
