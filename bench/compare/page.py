"""The answers that are kept as a page of the documentation and its drawings: `page.py FOLDER MADE DRAWINGS`."""

import csv
import pathlib
import sys
import textwrap

from measure import COLUMNS
from plot import bars

SEARCH = ["peer", "settings", "found", "query_ms", "build_s", "bytes"]
CORPUS = ["peer", "settings", "found", "false", "build_s", "rate", "peak_mb", "bytes"]
TITLES = {
    "within": ("Which codes are within a radius?", ["peer", "settings", "query_ms", "build_s", "bytes"],
               "All find the same codes. The libraries keep all codes in memory."),
    "nearest": ("Which ten codes are nearest?", SEARCH, "Ten codes are near each of the queries. *Found* counts the right distances of all ten."),
    "far": ("Which ten codes are nearest, if none is near?", SEARCH,
            "An index must look at many of the codes, and **ours loses** to FAISS, which compares all of them: "
            "of 256 bits always, of a million of 64 bits on some processors, of ten million not. [A radius](querying.md) next to "
            "the order ends such a search early. Graphs, which this table leaves out, find at most 2 % of the right ones."),
    "pairs": ("Which pairs of codes are near?", ["peer", "settings", "query_ms", "peak_mb"],
              "All count the same pairs."),
    "corpus": ("Which texts of a corpus are duplicates?", CORPUS,
               "Of ten texts one is a copy, and one a changed copy: 2, 5 or 10 % of the words are replaced, two sentences are exchanged, "
               "or others are put before and after. Two more share a third or half of their sentences with another, and are no "
               "duplicates. *A second* is texts a second and core, from the texts to the list of duplicates. MinHash finds more at a "
               "lower threshold, and more that is false. The index of simhash had not ended after nine minutes at a radius of 8."),
    "quotes": ("Who quotes whom?", ["peer", "settings", "found", "false", "query_ms", "build_s", "bytes"],
               "Half of the queries have 300 characters of a stored text in their middle. Others than ours have the limit that does best."),
    "licences": ("Which licence is in a file?", ["peer", "settings", "found", "false", "query_ms", "build_s", "bytes"],
                 "ScanCode's labelled files and the tests of SPDX's list, against the known texts of both. All peers read the same words. "
                 "Each names the licence of the text that it takes for the best. One file at a time, **ours loses**: an index reads all "
                 "texts that have a phrase of the file, and common phrases are in many."),
    "copies": ("What is a copy, and what an independent solution?", ["peer", "settings", "found", "query_ms"],
               "*Found* is how often a copy is more like the original than an independent solution of the same task is; by chance it is "
               "50 %. Times are of one pair."),
    "pictures": ("Which pictures are copies?", ["peer", "settings", "found", "query_ms"],
                 "Of 60 drawn pictures and 14 changes. The code, ImageHash's `phash`, decides what is found; nothing found is false. FAISS is faster "
                 "at this size."),
    "passages": ("What does a corpus repeat?", ["peer", "settings", "query_ms", "peak_mb"],
                 "Both find the same characters in repeats of 100."),
}
HEADS = {"peer": "", "settings": "", "found": "found", "false": "false", "query_ms": "time", "build_s": "built in", "rate": "a second",
         "peak_mb": "memory", "bytes": "bytes a row"}
INTRODUCTION = """# Comparison

What do other programs find on the same data, in which time? `make compare` asks them, each in one thread: {made}.

Where simhash_pg loses:

{losses}

Times are of the processor, the means of the first queries of a session, and may be a fifth higher or lower in another
run. *Memory* is what the peer took while it worked. *Found* is the share of what comparing all with all finds, or of what
was planted; *false* is the share of wrong answers, and of a corpus the share of the texts that are no copies. Bytes are next
to the code or the text. The lines of PostgreSQL and simhash_pg include the way from SQL to the answer; libraries only
compute. Above each table is its command; `bench/compare/results` has other sizes too. Thresholds are ones that users
choose; of a corpus, the best one of each MinHash, by F1, is among them.

{packages}
"""
PACKAGES = """Versions are those of `bench/compare/requirements.txt`; pgvector is Debian 13's 0.8.0, compiled for this processor."""
LOSSES = """- Nearest codes of 256 bits where none is near: FAISS compares all sooner than an index can leave some out.
- Up to some hundred thousand codes in a library's memory: comparing all takes no longer than our index, and a seventh
  of the bytes.
- Quotations: TF-IDF of four words finds the same, if its limit is guessed right.
- Licences of files asked for one by one: TF-IDF of four words is faster.
- Copies of short answers: copydetect finds a little more.
- Rewritten texts, which no table has: [a code of 64 bits misses many](which-tool.md)."""

# Data of which a question has answers that say nothing new; they are in the folder of the results alone.
LEFT_OUT = {
    "within": ["300,000 codes of 256 bits", "1,000,000 codes of 256 bits", "1,000,000 codes of 64 bits"],
    "nearest": ["10,000,000 codes of 256 bits", "10,000,000 codes of 64 bits", "1,000,000 codes of 64 bits", "1,000,000 codes of 256 bits"],
    "far": ["10,000,000 codes of 256 bits", "10,000,000 codes of 64 bits", "1,000,000 codes of 64 bits", "1,000,000 codes of 256 bits"],
    "pairs": ["10,000 codes of 64 bits", "100,000 codes of 64 bits"],
    "corpus": ["1,000,000 texts of 2,000 characters", "3,000,000 texts of 2,000 characters"],
    "licences": ["786 files, 786 known texts"],
    "copies": ["63 of these copies of level 6, whose logic was changed", "19 of these heavy revisions"],
}
# Peers whose answers to a question are wrong.
WRONG = {"far": "HNSW"}
# Of these questions, which data is drawn, by which column, and what is beside it.
DRAWN = {
    "within": ("10,000,000 codes of 64 bits", "query_ms", [], "Processor time of a search within 6 bits, among ten million codes of 64 bits"),
    "corpus": ("100,000 texts", "rate", ["found", "false"], "Texts a second on one core, from texts to the list of duplicates"),
}


def is_shown(row):
    question = row["question"]
    return row["data"] not in LEFT_OUT.get(question, []) and not (question in WRONG and WRONG[question] in row["peer"])


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


def main(kept, made, drawings):
    fill = lambda text: "\n\n".join(textwrap.fill(part, 120, break_long_words=False, break_on_hyphens=False) for part in text.split("\n\n"))
    print(fill(INTRODUCTION.rstrip().replace("{made}", made)).format(packages=fill(PACKAGES), losses=LOSSES))
    rows = []
    for path in sorted(pathlib.Path(kept).glob("*.csv")):
        with path.open(newline="") as file:
            command = next(file).removeprefix("# ").strip()
            rows += [row | {"command": command} for row in csv.DictReader(file, COLUMNS)]
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
            print(f"\n{data}, `{command}`:\n\n| {' | '.join(heads[name] for name in columns)} |\n|{'---|' * len(columns)}")
            for row in some:
                print("| " + " | ".join(shown(name, row) for name in columns) + " |")
            drawn, column, others, caption = DRAWN.get(question, (None, None, None, None))
            if drawn and data.startswith(drawn):
                name = f"compare-{question}.svg"
                draw(pathlib.Path(drawings) / name, some, column, others, caption)
                print(f"\n![{caption}](drawings/{name})")


if __name__ == "__main__":
    main(*sys.argv[1:])
