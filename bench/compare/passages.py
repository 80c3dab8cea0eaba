"""Text of 100 characters that has occurred before: `passages.py RESULTS SOCKETS TEXTS MEGABYTES`.

The text files of this machine, without what is not ASCII. Both peers are exact, and must count the same characters.
"""

import csv
import sys

import numpy as np
import psycopg
from documents import load_texts
from measure import COLUMNS, Server, in_child, report

LENGTH = 100


def with_suffix_array(texts):
    import pydivsufsort

    joined = b"".join(text.encode() + b"\0" for text in texts)
    order = pydivsufsort.divsufsort(joined)
    common = np.asarray(pydivsufsort.kasai(joined, order))
    # Runs of suffixes with the same first characters: all but the earliest are repeated.
    run = np.concatenate([[0], np.cumsum(common[: len(order) - 1] < LENGTH)])
    first = np.minimum.reduceat(order, np.flatnonzero(np.diff(run, prepend=-1)))
    repeated = order[order != first[run]]
    # What goes beyond the end of a text is no repetition.
    ends = np.pad(np.cumsum(np.frombuffer(joined, np.uint8) == 0), (1, LENGTH), "edge")
    repeated = repeated[ends[repeated] == ends[repeated + LENGTH]]
    steps = np.bincount(repeated, minlength=len(joined) + LENGTH) - np.bincount(repeated + LENGTH, minlength=len(joined) + LENGTH)
    return int(np.count_nonzero(np.cumsum(steps)))


def main(results, sockets, files, megabytes):
    texts = []
    size = 0
    with open(files) as names:
        for name in names.read().splitlines():
            with open(name, encoding="ascii", errors="ignore") as file:
                texts.append(file.read().replace("\0", ""))
            size += len(texts[-1])
            if size > int(megabytes) * 1_000_000:
                break
    with psycopg.connect(host=sockets, user="postgres", dbname="postgres", autocommit=True) as connection:
        server = Server(connection)
        load_texts(connection, texts)
        ((ours,),), seconds = server.run(f"""SELECT sum(upper(r) - lower(r)) FROM (SELECT range_agg(int4range(pos, pos + length)) AS passages
            FROM repeated_passages('SELECT id, body FROM document ORDER BY id', {LENGTH}) GROUP BY document) AS d, unnest(passages) AS r""")
        peak = server.peak_mb()
    theirs, spent, their_peak = in_child(lambda: with_suffix_array(texts))
    assert ours == theirs, (ours, theirs)
    with open(results, "a", newline="") as file:
        for peer, settings, took, memory in (("simhash_pg", "repeated_passages", seconds, peak),
                                             ("pydivsufsort", "suffix array, kasai, NumPy", spent, their_peak)):
            report(csv.DictWriter(file, COLUMNS), question="passages", data=f"{len(texts):,} texts of {size // len(texts):,} characters",
                   peer=peer, settings=settings, found=1.0, false=0.0, query_ms=took * 1000, peak_mb=memory, bytes="")


if __name__ == "__main__":
    main(*sys.argv[1:])
