"""Which stored codes are within a radius of a query's, and which ten are nearest: `search.py RESULTS SOCKETS ROWS BITS`.

Half of the codes are scattered, half lie in families of ten that differ in few bits. Half of the queries belong to a
family. All peers get the same codes and queries, 1,000 of each question or as many as they answer in 20 s, run in one thread,
and are held to what comparing with all codes gives, for every ninth query.
"""

import csv
import sqlite3
import sys

import faiss
import numpy as np
import psycopg
from measure import COLUMNS, Server, ask_each, cpu_seconds, in_child, report
from usearch.index import Index

SEED = 1
QUERIES = 1_000
JUDGED = 9
FAMILY = 10
RADIUS = {64: 6, 256: 31}
NEAREST = 10
# Graphs take minutes to be built for each 100,000 codes.
HNSW_ROWS = 300_000


def make_codes(rows, bits):
    """All codes as bytes, and the queries of each question: "far" asks for the nearest to those that have nothing near."""
    random = np.random.default_rng(SEED)
    scattered = random.integers(0, 256, (rows // 2, bits // 8), np.uint8)
    centers = random.integers(0, 256, (rows // 2 // FAMILY, bits // 8), np.uint8)
    flips = lambda count, share: np.packbits(random.random((count, bits)) < share, axis=1)
    share = RADIUS[bits] / bits / 3
    members = np.concatenate([centers ^ flips(len(centers), share) for _ in range(FAMILY)])
    codes = np.concatenate([scattered, members])
    near = centers[:QUERIES] ^ flips(QUERIES, share)
    far = random.integers(0, 256, (QUERIES, bits // 8), np.uint8)
    by_turns = np.stack([near, far], axis=1).reshape(-1, bits // 8)[:QUERIES]
    return random.permutation(codes), {"within": by_turns, "nearest": near, "far": far}


def all_distances(codes, query):
    words = lambda array: np.ascontiguousarray(array).view(np.uint64)
    return np.bitwise_count(words(codes) ^ words(query)).sum(axis=-1, dtype=np.int16)


class Truth:
    """What comparing some queries with all codes gives."""

    def __init__(self, codes, queries, radius):
        within = lambda distances: set(np.flatnonzero(distances <= radius).tolist())
        nearest = lambda distances: np.sort(np.partition(distances, NEAREST)[:NEAREST]).tolist()
        self.answers = {question: [(within if question == "within" else nearest)(all_distances(codes, query)) for query in asked[::JUDGED]]
                        for question, asked in queries.items()}

    def judge(self, question, answers):
        """The share found, and the share of what was answered that is wrong."""
        answers = answers[::JUDGED]
        truths = self.answers[question][:len(answers)]
        if question != "within":
            # Of equally near codes any may be named.
            return sum(sorted(answer) == truth for truth, answer in zip(truths, answers)) / len(answers), 0.0
        right = sum(len(truth & set(answer)) for truth, answer in zip(truths, answers))
        told = sum(len(set(answer)) for answer in answers)
        return right / sum(map(len, truths)), (told - right) / max(told, 1)


class Comparison:
    """Measures peers and writes their lines."""

    def __init__(self, writer, codes, queries, bits):
        self.writer = writer
        self.codes = codes
        self.queries = queries
        self.bits = bits
        self.radius = RADIUS[bits]
        self.truth = Truth(codes, queries, self.radius)

    def line(self, question, peer, settings, answers, build, took, peak, size):
        found, false = self.truth.judge(question, answers)
        if len(answers) < QUERIES:
            settings = f"{settings}, {len(answers)} queries".removeprefix(", ")
        report(self.writer, question=question, data=f"{len(self.codes):,} codes of {self.bits} bits", peer=peer, settings=settings,
               found=found, false=false, build_s=build, query_ms=took / len(answers) * 1000, peak_mb=peak, bytes=size)

    def library(self, peer, build, searches, size):
        """A peer that lives in a process: `searches` has (question, settings, search of one query)."""
        searches = [(question, *how) for name, *how in searches for question in ((name, "far") if name == "nearest" else (name,))]

        def work():
            index, seconds = cpu_seconds(build)
            answers = [ask_each(self.queries[question], lambda query: cpu_seconds(lambda: search(index, query))) for question, _, search in searches]
            return seconds, size(index), answers

        (seconds, bytes_kept, answers), _, peak = in_child(work)
        for (question, settings, _), (found, took) in zip(searches, answers):
            self.line(question, peer, settings, found, seconds, took, peak, bytes_kept)


def faiss_peers(comparison):
    bits = comparison.bits
    radius = comparison.radius
    codes = comparison.codes
    faiss.omp_set_num_threads(1)
    near = lambda index, query: index.search(query[None], NEAREST)[0][0].tolist()

    def within(index, query):
        # Its range search leaves out what is at the radius itself.
        return index.range_search(query[None], radius + 1)[2].tolist()

    def built(make):
        def build():
            index = make()
            index.add(codes)
            return index
        return build

    per_code = lambda extra: lambda index: bits // 8 + extra
    comparison.library("FAISS BinaryFlat", built(lambda: faiss.IndexBinaryFlat(bits)),
                       [("within", "", within), ("nearest", "", near)], per_code(0))
    hashes = radius // 2 + 1

    def multi_hash():
        index = faiss.IndexBinaryMultiHash(bits, hashes, bits // hashes)
        index.nflip = 1
        return index

    comparison.library("FAISS BinaryMultiHash", built(multi_hash), [("within", f"{hashes} hashes, nflip 1", within)],
                       per_code(8 * hashes))

    def at(ef_search):
        def search(index, query):
            index.hnsw.efSearch = ef_search
            return near(index, query)
        return search

    if len(codes) > HNSW_ROWS:
        return
    comparison.library("FAISS BinaryHNSW", built(lambda: faiss.IndexBinaryHNSW(bits, 16)),
                       [("nearest", f"M 16, efSearch {ef}", at(ef)) for ef in (40, 400)], per_code(16 * 2 * 4))


def usearch_peer(comparison):
    if len(comparison.codes) > HNSW_ROWS:
        return

    def build():
        index = Index(ndim=comparison.bits, metric="hamming", dtype="b1", expansion_add=64, expansion_search=400)
        index.add(np.arange(len(comparison.codes)), comparison.codes, threads=1)
        return index

    near = lambda index, query: index.search(query, NEAREST, threads=1).distances.astype(int).tolist()
    comparison.library("usearch HNSW", build, [("nearest", "expansion 400", near)],
                       lambda index: index.memory_usage // len(comparison.codes))


def scan_peers(comparison):
    """Databases that compare with all rows. They have no type for more than 64 bits whose bits they count."""
    if comparison.bits != 64:
        return
    signed = comparison.codes.view(np.int64)[:, 0]
    signed_of = lambda query: int(query.view(np.int64)[0])

    # These start threads when they are imported, which no child would have.
    def duck():
        import duckdb

        database = duckdb.connect()
        database.execute("SET threads TO 1")
        database.execute("CREATE TABLE code AS SELECT unnest($1) AS si", [signed])
        return database

    def duck_within(database, query):
        statement = "SELECT rowid FROM code WHERE bit_count(xor(si, $1::BIGINT)) <= $2"
        return [row for row, in database.execute(statement, [signed_of(query), comparison.radius]).fetchall()]

    def duck_near(database, query):
        statement = "SELECT bit_count(xor(si, $1::BIGINT)) AS d FROM code ORDER BY d LIMIT $2"
        return [row for row, in database.execute(statement, [signed_of(query), NEAREST]).fetchall()]

    comparison.library("DuckDB", duck, [("within", "bit_count, scan", duck_within), ("nearest", "bit_count, scan", duck_near)],
                       lambda _: 8)

    def click():
        from chdb import session

        database = session.Session()
        database.query("CREATE DATABASE IF NOT EXISTS peer")
        database.query("CREATE TABLE peer.code (id UInt32, si UInt64) ENGINE = MergeTree ORDER BY id")
        for start in range(0, len(signed), 100_000):
            rows = ",".join(f"({start + n},{int(code)})" for n, code in enumerate(signed[start:start + 100_000].view(np.uint64)))
            database.query(f"INSERT INTO peer.code VALUES {rows}")
        return database

    def click_within(database, query):
        statement = f"SELECT id FROM peer.code WHERE bitHammingDistance(si, toUInt64({int(query.view(np.uint64)[0])})) <= {comparison.radius}"
        return [int(line) for line in str(database.query(f"{statement} SETTINGS max_threads = 1")).split()]

    comparison.library("ClickHouse (chdb)", click, [("within", "bitHammingDistance, scan", click_within)], lambda _: 8)

    def sqlite():
        database = sqlite3.connect(":memory:")
        database.create_function("hamming", 2, lambda a, b: ((a ^ b) & 0xFFFFFFFFFFFFFFFF).bit_count(), deterministic=True)
        database.execute("CREATE TABLE code (id INTEGER PRIMARY KEY, si INTEGER)")
        database.executemany("INSERT INTO code VALUES (?, ?)", enumerate(signed.tolist()))
        return database

    def sqlite_within(database, query):
        return [row for row, in database.execute("SELECT id FROM code WHERE hamming(si, ?) <= ?", [signed_of(query), comparison.radius])]

    comparison.library("SQLite", sqlite, [("within", "a function in Python, scan", sqlite_within)], lambda _: 8)


def postgres_peers(comparison, sockets):
    bits = comparison.bits
    radius = comparison.radius
    codes = comparison.codes
    kind = "bigint" if bits == 64 else f"bit({bits})"
    # The bytes of a code as PostgreSQL has them: the first bit is the highest.
    text = lambda code: str(int.from_bytes(code.tobytes(), "big", signed=True)) if bits == 64 else f"x{code.tobytes().hex()}"
    with psycopg.connect(host=sockets, user="postgres", dbname="postgres", autocommit=True) as connection:
        server = Server(connection)
        connection.execute(f"CREATE TABLE code (id bigint, si {kind})")
        with connection.cursor().copy("COPY code FROM STDIN") as copy:
            for number, code in enumerate(codes):
                copy.write(f"{number}\t{text(code)}\n")
        connection.execute("VACUUM ANALYZE code")
        queries = {question: [text(query) for query in asked] for question, asked in comparison.queries.items()}

        def ask(question, peer, settings, statement, build, size):
            if question == "nearest":
                ask("far", peer, settings, statement, build, size)

            def answer(query):
                rows, seconds = server.run(statement, [query] * statement.count("%s"), prepare=True)
                return [row[0] for row in rows], seconds

            answers, took = ask_each(queries[question], answer)
            comparison.line(question, peer, settings, answers, build, took, server.peak_mb(), size)

        within = f"SELECT id FROM code WHERE hamming(si, %s::{kind}) <= {radius}"
        nearest = f"SELECT hamming(si, %s::{kind}) AS d FROM code ORDER BY d LIMIT {NEAREST}"
        counted = "bit_count((si # %s)::bit(64))" if bits == 64 else f"bit_count(si # %s::{kind})"
        ask("within", "PostgreSQL", "bit_count, scan", f"SELECT id FROM code WHERE {counted} <= {radius}", 0.0, 0)
        ask("nearest", "PostgreSQL", "bit_count, scan", f"SELECT {counted} AS d FROM code ORDER BY d LIMIT {NEAREST}", 0.0, 0)
        _, build = server.run("CREATE INDEX code_si ON code USING hamming (si)")
        ((size,),), _ = server.run("SELECT pg_relation_size('code_si') / count(*) FROM code")
        # The libraries have all codes in memory as well.
        connection.execute("CREATE EXTENSION pg_prewarm")
        connection.execute("SELECT pg_prewarm('code_si'), pg_prewarm('code')")
        ask("within", "simhash_pg", "USING hamming", within, build, size)
        ask("nearest", "simhash_pg", "USING hamming", nearest, build, size)
        if bits == 64:
            four_trees(server, ask, radius)
        if not connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone():
            print("left out: pgvector is not installed", file=sys.stderr)
        elif len(codes) <= HNSW_ROWS:
            connection.execute("CREATE EXTENSION vector")
            ((version,),), _ = server.run("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
            _, build = server.run(f"CREATE INDEX code_hnsw ON code USING hnsw ((si::bit({bits})) bit_hamming_ops)")
            ((size,),), _ = server.run("SELECT pg_relation_size('code_hnsw') / count(*) FROM code")
            for ef in (40, 400):
                connection.execute(f"SET hnsw.ef_search = {ef}")
                statement = f"SELECT (si::bit({bits}) <~> %s::{kind}::bit({bits}))::integer FROM code ORDER BY si::bit({bits}) <~> %s::{kind}::bit({bits}) LIMIT {NEAREST}"
                ask("nearest", f"pgvector {version} HNSW", f"ef_search {ef}", statement, build, size)


def four_trees(server, ask, radius):
    """What one writes by hand: within 7 bits of 64, a quarter differs in at most one bit, and four B-trees find it."""
    build = 0.0
    for quarter in range(4):
        build += server.run(f"CREATE INDEX quarter_{quarter} ON code ((si >> {16 * quarter} & 65535))")[1]
    server.connection.execute("ANALYZE code")
    ((size,),), _ = server.run("SELECT sum(pg_relation_size('quarter_' || n)) / (SELECT count(*) FROM code) FROM generate_series(0, 3) AS n")
    flips = "SELECT ARRAY(SELECT part # flip FROM unnest('{0,1,2,4,8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768}'::bigint[]) AS flip)"
    quarters = " OR ".join(f"(si >> {16 * n} & 65535) = ANY ((SELECT flips[{17 * n + 1}:{17 * n + 17}] FROM q)::bigint[])" for n in range(4))
    parts = " || ".join(f"({flips} FROM (SELECT si >> {16 * n} & 65535 AS part) AS p)" for n in range(4))
    statement = f"""WITH q AS MATERIALIZED (SELECT si, {parts} AS flips FROM (SELECT %s::bigint AS si) AS given)
        SELECT id FROM code WHERE ({quarters}) AND bit_count((si # (SELECT si FROM q))::bit(64)) <= {radius}"""
    ask("within", "PostgreSQL", "four B-trees by hand", statement, build, int(size))


def main(results, sockets, rows, bits):
    rows = int(rows)
    bits = int(bits)
    codes, queries = make_codes(rows, bits)
    with open(results, "a", newline="") as file:
        comparison = Comparison(csv.DictWriter(file, COLUMNS), codes, queries, bits)
        for peer in (lambda: postgres_peers(comparison, sockets), lambda: faiss_peers(comparison),
                     lambda: usearch_peer(comparison), lambda: scan_peers(comparison)):
            try:
                peer()
            except Exception as error:
                print(f"left out: {error}", file=sys.stderr)
            file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
