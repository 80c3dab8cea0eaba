"""All pairs of codes within a radius: `pairs.py RESULTS SOCKETS ROWS`. All peers are exact, and count the same pairs."""

import csv
import sys

import faiss
import numpy as np
import psycopg
from measure import COLUMNS, Server, in_child, report
from search import RADIUS, make_codes

BITS = 64
# Comparing all with all grows with the square of the rows: as many rows are compared like this.
FAISS_ROWS, SCAN_ROWS = 100_000, 10_000


def faiss_pairs(codes, make):
    faiss.omp_set_num_threads(1)
    index = make()
    index.add(codes)
    found = 0
    for start in range(0, len(codes), 10_000):
        # Its range search leaves out what is at the radius itself; each pair is found from both sides, and each code by itself.
        found += int(index.range_search(codes[start : start + 10_000], RADIUS[BITS] + 1)[0][-1])
    return (found - len(codes)) // 2


def multi_hash():
    hashes = RADIUS[BITS] // 2 + 1
    index = faiss.IndexBinaryMultiHash(BITS, hashes, BITS // hashes)
    index.nflip = 1
    return index


def main(results, sockets, rows):
    codes, _ = make_codes(int(rows), BITS)
    signed = codes.view(">i8")[:, 0]
    lines = []
    with psycopg.connect(host=sockets, user="postgres", dbname="postgres", autocommit=True) as connection:
        server = Server(connection)
        connection.execute("CREATE TABLE code (id bigint, si bigint)")
        with connection.cursor().copy("COPY code FROM STDIN") as copy:
            for row in enumerate(signed):
                copy.write_row(row)
        connection.execute("CREATE INDEX code_si ON code USING hamming (si)")
        connection.execute("VACUUM ANALYZE code")

        def ask(settings, statement, rows=len(codes), before=()):
            for setting in before:
                connection.execute(setting)
            ((pairs,),), seconds = server.run(statement)
            connection.execute("RESET ALL")
            lines.append(("PostgreSQL" if "bit_count" in statement else "simhash_pg", settings, rows, pairs, seconds, server.peak_mb()))

        join = f"SELECT count(*) FROM code AS a JOIN code AS b ON hamming(a.si, b.si) <= {RADIUS[BITS]} AND a.id < b.id"
        ask("a join", join)
        ask("a join, by the index", join, before=["SET simhash_pg.enable_near_join = off"])
        few = f"(SELECT * FROM code WHERE id < {SCAN_ROWS})"
        ask("bit_count, all with all", f"""SELECT count(*) FROM {few} AS a, {few} AS b
            WHERE a.id < b.id AND bit_count((a.si # b.si)::bit(64)) <= {RADIUS[BITS]}""", SCAN_ROWS)
        for rows in (SCAN_ROWS, FAISS_ROWS):
            some = f"(SELECT * FROM code WHERE id < {rows})"
            ask("a join", f"SELECT count(*) FROM {some} AS a JOIN {some} AS b ON hamming(a.si, b.si) <= {RADIUS[BITS]} AND a.id < b.id", rows)
    for name, make, part in (("FAISS BinaryMultiHash", multi_hash, codes),
                             ("FAISS BinaryFlat", lambda: faiss.IndexBinaryFlat(BITS), codes[:FAISS_ROWS])):
        pairs, seconds, peak = in_child(lambda: faiss_pairs(part, make))
        lines.append((name, "range_search of all", len(part), pairs, seconds, peak))
    most = {rows: max(pairs for _, _, r, pairs, _, _ in lines if r == rows) for _, _, rows, *_ in lines}
    with open(results, "a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        for peer, settings, rows, pairs, seconds, peak in lines:
            report(writer, question="pairs", data=f"{rows:,} codes of {BITS} bits", peer=peer, settings=settings,
                   found=pairs / most[rows], false=0.0, query_ms=seconds * 1000, peak_mb=peak)


if __name__ == "__main__":
    main(*sys.argv[1:])
