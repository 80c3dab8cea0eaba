"""Duplicates of a large corpus, file by file: `million.py RESULTS SOCKETS TEXTS DOCUMENTS FOLDER`.

FOLDER gets files of 100,000 documents of some 2 KB, of sentences of TEXTS. A document follows from its number alone. Five
files at a time are loaded, fingerprinted, and compared with all before them in one transaction, so a run that was ended
goes on after the last one. Then larger and smaller radii are tried by a join of all, whose rows must be the same.
"""

import collections
import csv
import os
import sys

import psycopg
from documents import LENGTH, Corpus, sentences_of
from measure import COLUMNS, Server, report

IN_FILE = 100_000
FILES = 5
RADIUS = 10
RARE_RADIUS = 50
RADII = (10, 12, 14)


def write_files(corpus, folder, count):
    """Those that are not there yet."""
    for first in range(0, count, IN_FILE):
        path = f"{folder}/{first:09}"
        if not os.path.exists(path):
            with open(path + ".new", "w", encoding="utf-8") as file:
                file.writelines(f"{number}\t{corpus.text(number)}\n" for number in range(first, first + IN_FILE))
            os.rename(path + ".new", path)
        yield path


TABLES = """
    CREATE TABLE IF NOT EXISTS document (id bigint, body text COMPRESSION lz4);
    CREATE TABLE IF NOT EXISTS code (id bigint, si bigint, rare bit(256));
    CREATE TABLE IF NOT EXISTS duplicate (id bigint, first bigint);
    CREATE TABLE IF NOT EXISTS loaded (path text PRIMARY KEY)"""
# Of the first files, since stored codes keep the weights that they were made with.
WEIGHTS = "SELECT create_rare_code('rare', 'document', 'body')"
CODES = """INSERT INTO code SELECT id, simhash(body), rare(body)
    FROM document WHERE ctid >= '(%s,0)'"""
# Which earlier one each of the new rows repeats. Which rows go does not depend on the order or size of the batches.
DUPLICATES = """SELECT new.id, min(earlier.id) AS first FROM code AS new JOIN code AS earlier
    ON hamming(new.si, earlier.si) <= %s AND hamming(new.rare, earlier.rare) <= %s AND earlier.id < new.id
    WHERE new.id >= %s GROUP BY new.id"""


def load(server, paths):
    """Some files, in one transaction. Returns the seconds that each step takes."""
    connection = server.connection
    spent = {"COPY": 0.0}
    with connection.transaction():
        ((pages,),), _ = server.run("SELECT pg_relation_size('document') / current_setting('block_size')::integer")
        for path in paths:
            connection.execute("INSERT INTO loaded VALUES (%s)", [path])
            start = server.seconds()
            with open(path, "rb") as file, connection.cursor().copy("COPY document FROM STDIN") as copy:
                while block := file.read(1 << 20):
                    copy.write(block)
            spent["COPY"] += server.seconds() - start
        if not pages:
            _, spent["weights"] = server.run(WEIGHTS)
        _, spent["codes"] = server.run(CODES % pages)
        duplicates = DUPLICATES % (RADIUS, RARE_RADIUS, int(os.path.basename(paths[0])))
        _, spent["near join"] = server.run(f"INSERT INTO duplicate {duplicates}")
    return spent


def main(results, sockets, files, count, folder):
    with open(files) as names:
        corpus = Corpus(sentences_of(names.read().splitlines()))
    os.makedirs(folder, exist_ok=True)
    paths = list(write_files(corpus, folder, int(count)))
    count = len(paths) * IN_FILE
    with psycopg.connect(host=sockets, user="postgres", dbname="postgres", autocommit=True) as connection:
        server = Server(connection)
        connection.execute(TABLES)
        done = {path for path, in connection.execute("SELECT path FROM loaded")}
        spent = collections.Counter()
        for first in range(len(done), len(paths), FILES):
            steps = load(server, paths[first : first + FILES])
            print(f"  after {(first + FILES) * IN_FILE:,}:", *(f"{step} {seconds:.1f} s" for step, seconds in steps.items()), file=sys.stderr)
            spent.update(steps)
        ((size,),), _ = server.run("SELECT pg_total_relation_size('code') + pg_total_relation_size('duplicate')")
        kept = connection.execute("SELECT id, first FROM duplicate ORDER BY id").fetchall()
        with open(results, "a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)

            def line(settings, rows, seconds):
                found, false, kinds = corpus.judge([row for row, _ in rows], count)
                print(f"  {settings}: {seconds:.1f} s; {kinds}", file=sys.stderr)
                report(writer, question="corpus", data=f"{count:,} texts of {LENGTH:,} characters", peer="simhash_pg", settings=settings,
                       found=found, false=false, build_s=seconds, peak_mb=server.peak_mb(), bytes=size / count)

            line(f"radius {RADIUS}, rare words, {FILES * IN_FILE:,} at a time", kept, sum(spent.values()))
            for radius in RADII:
                rows, seconds = server.run(f"{DUPLICATES % (radius, RARE_RADIUS, 0)} ORDER BY id")
                assert radius != RADIUS or rows == kept, "a join of all finds others"
                line(f"radius {radius}, rare words, all at once", rows, seconds + sum(spent.values()) - spent["near join"])


if __name__ == "__main__":
    main(*sys.argv[1:])
