"""Searches of FAISS's binary indexes, in one thread: bits_faiss.py CODES QUERIES KIND…

CODES and QUERIES are strings of 256 bits as COPY … (FORMAT binary) writes them. IndexBinaryMultiHash has 16 hashes of 16 bits
here and looks at those that differ in one bit. So it misses nothing within 31 bits.
"""

import sys
import time

import faiss
import numpy

RADIUS = 31
BYTES = 32
QUERIES = 1000


def codes(path):
    """The bits of all rows. A file begins with 19 bytes and ends with 2."""
    row = numpy.dtype([("columns", ">i2"), ("size", ">i4"), ("bits", ">i4"), ("code", "u1", BYTES)])
    content = numpy.fromfile(path, dtype="u1")[19:-2].view(row)
    return numpy.ascontiguousarray(content["code"])


def seconds(work):
    """The processor time of a piece of work, and its result."""
    start = time.thread_time()
    result = work()
    return time.thread_time() - start, result


def searches(kind, index):
    """Names of searches, each with a function that returns the distance of the nearest code that it finds."""
    nearest = lambda query: index.search(query, 1)[0][0, 0]
    if kind != "HNSW":
        return {f"{kind}, nearest 1": nearest}

    def at(ef_search):
        def search(query):
            index.hnsw.efSearch = ef_search
            return nearest(query)

        return search

    return {f"{kind}, nearest 1, efSearch {ef_search}": at(ef_search) for ef_search in (40, 400)}


def main():
    faiss.omp_set_num_threads(1)
    stored = codes(sys.argv[1])
    queries = codes(sys.argv[2])[:QUERIES]
    flat = faiss.IndexBinaryFlat(BYTES * 8)
    flat.add(stored)
    exact = [flat.search(query[None], 1)[0][0, 0] for query in queries]
    for kind in sys.argv[3:]:
        index = {
            "Flat": lambda: faiss.IndexBinaryFlat(BYTES * 8),
            "MultiHash": lambda: faiss.IndexBinaryMultiHash(BYTES * 8, 16, 16),
            "HNSW": lambda: faiss.IndexBinaryHNSW(BYTES * 8, 16),
        }[kind]()
        if kind == "MultiHash":
            index.nflip = 1
        if kind == "HNSW":
            index.hnsw.efConstruction = 64
        build, _ = seconds(lambda: index.add(stored))
        for name, search in searches(kind, index).items():
            found = [seconds(lambda: search(query[None])) for query in queries]
            right = sum(distance == least for (_, distance), least in zip(found, exact))
            median = numpy.median([taken for taken, _ in found])
            print(f"FAISS {name}: built in {build:.1f} s, {median * 1000:.3f} ms, {100 * right / len(found):.0f} % right")


main()
