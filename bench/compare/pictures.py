"""Copies of pictures: `pictures.py RESULTS SOCKETS DEMO CODES`.

DEMO, the program of `make demo-images`, draws pictures and changes them. Their codes of 256 bits, ImageHash's `phash`, are
stored among CODES invented ones. Who is asked for the copies finds the same as all others who compare codes exactly.
"""

import csv
import importlib.util
import sys

import faiss
import imagehash
import numpy as np
import psycopg
from measure import COLUMNS, Server, cpu_seconds, in_child, report

BITS = 256
RADII = (32, 64)
PICTURES = 60
# A tree in Python is asked for every so manieth copy; each picture has 14.
STEP = 41


def make_codes(demo, count):
    """The stored codes, of which the pictures' come first; for each changed copy its code and the picture's number."""
    spec = importlib.util.spec_from_file_location("demo", demo)
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    code = lambda image: np.packbits(imagehash.phash(image, 16).hash.flatten())
    stored = []
    copies = []
    for number in range(PICTURES):
        image = pictures.KINDS[number % len(pictures.KINDS)](np.random.default_rng(number))
        stored.append(code(image))
        copies += [(code(change(image)), number) for name, change in pictures.CHANGES.items() if "90" not in name and "mirrored" not in name]
    random = np.random.default_rng(1)
    # Half of the bits of such a code are set.
    others = np.argsort(random.random((count - PICTURES, BITS), np.float32), axis=1) < BITS // 2
    return np.concatenate([stored, np.packbits(others, axis=1)]), copies


def main(results, sockets, demo, count):
    stored, copies = make_codes(demo, int(count))
    queries = [code for code, _ in copies]
    with open(results, "a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)

        def line(peer, settings, answers, build, took, peak, size, step=1):
            asked = [number for _, number in copies[::step]]
            right = sum(number in answer for number, answer in zip(asked, answers))
            report(writer, question="pictures", data=f"{len(stored):,} codes of {BITS} bits", peer=peer, settings=settings + f", {len(answers)} queries" * (step > 1),
                   found=right / len(asked), false=(sum(map(len, answers)) - right) / max(sum(map(len, answers)), 1),
                   build_s=build, query_ms=1000 * took / len(answers), peak_mb=peak, bytes=size)
            file.flush()

        def library(peer, settings, build, search, size, step=1):
            def work():
                index, seconds = cpu_seconds(build)
                return (seconds, *cpu_seconds(lambda: [search(index, query) for query in queries[::step]]))

            (seconds, answers, took), _, peak = in_child(work)
            line(peer, settings, answers, seconds, took, peak, size, step)

        def flat():
            index = faiss.IndexBinaryFlat(BITS)
            index.add(stored)
            return index

        def tree():
            from pybktree import BKTree

            integer = lambda code: int.from_bytes(code.tobytes(), "big")
            return BKTree(lambda a, b: (a[0] ^ b[0]).bit_count(), ((integer(code), number) for number, code in enumerate(stored)))

        with psycopg.connect(host=sockets, user="postgres", dbname="postgres", autocommit=True) as connection:
            server = Server(connection)
            connection.execute(f"CREATE TABLE picture (id bigint, code bit({BITS}))")
            with connection.cursor().copy("COPY picture FROM STDIN") as copy:
                for number, code in enumerate(stored):
                    copy.write(f"{number}\tx{code.tobytes().hex()}\n")
            connection.execute("VACUUM ANALYZE picture")

            def ask(peer, index, *statements):
                _, build = server.run(f"CREATE INDEX codes ON picture USING {index}")
                ((size,),), _ = server.run(f"SELECT pg_relation_size('codes') / {len(stored)}")
                for settings, statement in statements:
                    answers = []
                    took = 0.0
                    for query in queries:
                        rows, seconds = server.run(statement, {"q": f"x{query.tobytes().hex()}"}, prepare=True)
                        answers.append([row[0] for row in rows if row[1] <= RADII[-1]])
                        took += seconds
                    line(peer, settings, answers, build, took, server.peak_mb(), size)
                connection.execute("DROP INDEX codes")

            distance = f"hamming(code, %(q)s::bit({BITS}))"
            ask("simhash_pg", "hamming (code)",
                *((f"radius {radius}", f"SELECT id, {distance} FROM picture WHERE {distance} <= {radius}") for radius in RADII))
            if connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone():
                connection.execute("CREATE EXTENSION vector")
                distance = f"code <~> %(q)s::bit({BITS})"
                ask("pgvector HNSW", "hnsw (code bit_hamming_ops)",
                    (f"nearest within {RADII[-1]}", f"SELECT id, {distance} FROM picture ORDER BY {distance} LIMIT 1"))
            else:
                print("left out: pgvector is not installed", file=sys.stderr)
        for radius in RADII:
            library("FAISS BinaryFlat", f"radius {radius}", flat,
                    lambda index, query: index.range_search(query[None], radius + 1)[2].tolist(), BITS // 8)
            library("ImageHash, pybktree", f"radius {radius}", tree,
                    lambda index, query: [found[1][1] for found in index.find((int.from_bytes(query.tobytes(), "big"), 0), radius)], 0, STEP)


if __name__ == "__main__":
    main(*sys.argv[1:])
