"""The answers that are kept as a page of the documentation and its drawings: `page.py FOLDER DRAWINGS`."""

import csv
import pathlib
import sys
import textwrap

from measure import COLUMNS
from plot import bars

# Questions of which the page has no table, but the pages on their topics a sentence: licences, copies, pictures, passages, embeddings.
SEARCH = ["peer", "settings", "found", "query_ms"]
CORPUS = ["peer", "settings", "found", "false", "rate", "peak_mb"]
TITLES = {
    "within": ("Which codes are within a radius?", ["peer", "settings", "query_ms", "bytes"], "The radius is 6 for codes of 64 bits, and 31 for codes of 256 bits. All programs in these tables find the same codes."),
    "nearest": ("Which ten codes are nearest?", SEARCH, "There are ten codes near each of the queries. *Found* is the share of correct distances among all ten."),
    "far": ("Which ten codes are nearest, if none is near?", ["peer", "query_ms"],
            "simhash_pg then compares all codes, as FAISS does. [A radius](querying.md#find-the-nearest) in addition to the order ends "
            "such a search early. Graphs are not in this table, because they find at most 4 % of the correct codes."),
    "corpus": ("Which texts of a corpus are duplicates?", CORPUS,
               "Of every ten texts, one is a copy, and one is a changed copy, in which 2, 5 or 10 % of the words are replaced, two "
               "sentences are exchanged, or other sentences are added before and after. Two more texts share a third or half of their "
               "sentences with another text, and are not duplicates. *Texts per second* is for one core, from the texts to the list of "
               "duplicates; for simhash_pg, it includes COPY. All programs are nearly twice as fast on an otherwise idle machine. "
               "rensa is given sets of words that Python has made, which takes two fifths of its time for texts of 2,000 characters, and "
               "four fifths for 10,000. On longer texts, simhash_pg is therefore only 2.1 to 2.6 times as fast as rensa, instead of 4.9 "
               "times."),
    "templates": ("Which texts that were made from templates are duplicates?", ["peer", "settings", "found", "false", "rate", "peak_mb"],
                  "Half of the texts are made from thirty templates, with a name, a version, dependencies and up to three sentences of "
                  "their own, and a third of all texts are versions of another one. The letters are made from one template, and differ in two "
                  "names; one of a hundred is a version of another one. *Wrong* is the share "
                  "of the deleted texts that are not versions."),
    "documentation": ("Which texts of real documentation are duplicates?", ["peer", "settings", "found", "rate", "query_ms", "peak_mb", "bytes"],
                      "The texts are the pages and paragraphs, of at least 200 bytes, of 3,039 packages of documentation in Debian 11 to 13, "
                      "unstable and experimental, most of them in two or three releases, and some in several languages; a fifth of the texts are "
                      "that of Linux in 14 versions. "
                      "simhash_pg flags a text if an earlier one is near it by both codes of [Clean a corpus](corpus.md), without the score "
                      "of that page, and with radius 10, because there are so many texts; the time includes COPY. "
                      "[fastdedup](https://github.com/wapplewhite4/fastdedup) has its default settings: sets of three characters, 128 values, "
                      "similarity 0.8. *Of what the other flags* is the share of the texts flagged by the other program. *One percent more* is the "
                      "time for the last hundredth of the texts, for which fastdedup begins again. *Bytes per text* is what simhash_pg stores in "
                      "addition to the text (84 bytes of codes per text, and 36 per duplicate), and all memory of fastdedup. The machine had other "
                      "work at the time.\n\n"
                      "The time depends on the bytes of the texts: simhash_pg reads 26 MB per second here. The codes take a third of the time, and "
                      "the join of the codes, a quarter.\n\n"
                      "fastdedup reports 8,865,370 pairs above 0.8. simhash_pg flags the later text of 96.2 % of them; of 4.9 million texts, for "
                      "which the radius was 12, it flagged 99.7 %. Among 100 of the other pairs, 78 "
                      "describe different things in nearly the same words, for example two constants of a library, and 22 are versions of one text, "
                      "or one contains the other. Among 100 flagged texts of each program, each together with an earlier text that is not identical, "
                      "25 for simhash_pg and 33 for fastdedup describe different things, for example the same function for two types, so that "
                      "something is lost. All of these pairs were read, each by one reader. To lose nothing, delete a text only if its keeper "
                      "[contains it](deduplication.md#nothing-is-lost)."),
    "pairs": ("Which pairs of codes are near each other?", ["peer", "settings", "query_ms", "peak_mb"],
              "Half of the codes are in families of ten. Both programs find the same pairs. hammingbird, in one thread, keeps all pairs and "
              "candidates in memory, and was ended where it asked for more than 4 GB."),
    "quotes": ("Who quotes whom?", ["peer", "settings", "found", "false", "query_ms"],
               "Half of the queries contain 300 characters of a stored text in their middle. The other programs use the limit that gives "
               "their best result."),
}
HEADS = {"peer": "", "settings": "", "found": "found", "false": "false", "query_ms": "time", "build_s": "built in", "rate": "texts per second",
         "peak_mb": "memory", "bytes": "bytes per row"}
OTHER_HEADS = {
    "templates": {"false": "wrong"},
    "documentation": {"found": "of what the other flags", "query_ms": "one percent more", "bytes": "bytes per text"},
}
INTRODUCTION = """# Comparison

This page compares what other programs find on the same data, and how long they take. simhash_pg is the fastest at finding all
near codes, near pairs, the duplicates of a corpus, and quotations. It is not the best at the following:

{losses}

`make compare` runs all programs, each in one thread of a machine with two cores, on PostgreSQL 15; the AMD EPYC has 32 MB
of last-level cache. Times are processor times, and can vary by a fifth from run to run. The time of a search is the average
over 1,000 different queries, or over fewer where a table says so, of programs that take long. For PostgreSQL, it includes
parsing, planning and sending the answer; the median of the execution alone, which [other
pages](performance.md#how-cost-grows-with-the-rows) have, is shorter: 0.04 ms within 6 among ten million codes of 64 bits,
if none is near, on a machine that is twice as fast. *Found* is the share of what an exhaustive comparison finds, or of what was planted. *False* is the share of wrong answers, or for a corpus, the share of
texts that are not copies. *Memory* is what the other program used, and bytes per row are in addition to the code or the
text. Thresholds are those that users choose, or the best ones by F1. The directory `bench/compare` contains more results,
in `results`, and the versions of the programs, in `requirements.txt`.
"""
LOSSES = """- Finding the nearest codes of 256 bits if none is near: FAISS compares all codes in a sixth (300,000 codes) to a
  quarter (10 million) of the time, and in a ninth of the space.
- Recognizing the licenses of single files: 247 ms per file, whereas TF-IDF of four words takes 26 ms. Finding copies of
  short answers: 97 %, whereas copydetect finds 98 %.
- Finding rewritten texts, which are in none of these tables: [a code of 64 bits misses many of
  them](choosing-a-threshold.md)."""

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
    "quotes": {"words, cosine"},
}
# Of these questions, which data is drawn, by which column, and what is beside it.
DRAWN = {
    "within": ("10,000,000 codes of 64 bits", "query_ms", [], "Processor time of a search within 6 bits, among ten million codes of 64 bits"),
    "corpus": ("100,000 texts", "rate", ["found", "false"], "Texts per second on one core, from texts to the list of duplicates"),
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
        heads = HEADS | OTHER_HEADS.get(question, {})
        print(f"\n## {title}" + f"\n\n{fill(remark)}" * bool(remark))
        for data, command in dict.fromkeys((row["data"], row["command"]) for row in lines):
            some = [row for row in lines if row["data"] == data]
            for row in some:
                row["rate"] = int(data.split()[0].replace(",", "")) / float(row["build_s"]) if "rate" in columns else ""
            print("\n" + fill(f"{data}, {command}:") + f"\n\n| {' | '.join(heads[name] for name in columns)} |\n|{'---|' * len(columns)}")
            for row in some:
                print("| " + " | ".join(shown(name, row) for name in columns) + " |")
            drawn, column, others, caption = DRAWN.get(question, (None, None, None, None))
            if drawn and data.startswith(drawn):
                name = f"compare-{question}.svg"
                draw(pathlib.Path(drawings) / name, some, column, others, caption)
                print(f"\n![{caption}](drawings/{name})")


if __name__ == "__main__":
    main(*sys.argv[1:])
