"""All pairs of codes within a radius: `pairs.py RESULTS SOCKETS ROWS`. All peers are exact, and count the same pairs."""

import csv
import resource
import sys

import hammingbird
import numpy as np
import psycopg
from measure import COLUMNS, Server, in_child, report
from search import make_codes

BITS = 64
RADII = (3, 6)
# What a peer may take, and ours at the default settings.
LIMIT = 4 << 30
WORK_MEM = "4MB"


def hammingbird_pairs(codes, radius):
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    return len(hammingbird.find_pairs_self_bit(np.ascontiguousarray(codes), radius))


def main(results, sockets, rows):
    codes, _ = make_codes(int(rows), BITS)
    connect = lambda: psycopg.connect(host=sockets, user="postgres", dbname="postgres", autocommit=True, options=f"-c work_mem={WORK_MEM}")
    with connect() as connection:
        connection.execute("CREATE TABLE code (id bigint, si bigint)")
        with connection.cursor().copy("COPY code FROM STDIN") as copy:
            for row in enumerate(codes.view(">i8")[:, 0]):
                copy.write_row(row)
        connection.execute("VACUUM ANALYZE code")
    for radius in RADII:

        def line(peer, settings, pairs, seconds, peak):
            print(f"  within {radius}, {peer}, {settings}: {pairs} pairs", file=sys.stderr)
            with open(results, "a", newline="") as file:
                report(csv.DictWriter(file, COLUMNS), question="pairs", data=f"{len(codes):,} codes of {BITS} bits within {radius}", peer=peer,
                       settings=settings, found=pairs and pairs / right, query_ms=seconds and seconds * 1000, peak_mb=peak)

        with connect() as connection:
            server = Server(connection)
            ((right,),), seconds = server.run(f"SELECT count(*) FROM code AS a JOIN code AS b ON hamming(a.si, b.si) <= {radius} AND a.id < b.id")
            line("simhash_pg", f"a join, work_mem {WORK_MEM}", right, seconds, server.peak_mb())
        try:
            line("hammingbird", "find_pairs_self_bit", *in_child(lambda: hammingbird_pairs(codes, radius)))
        except RuntimeError:
            line("hammingbird", f"find_pairs_self_bit, ended at {LIMIT >> 30} GB", None, None, LIMIT / 2**20)


if __name__ == "__main__":
    main(*sys.argv[1:])
