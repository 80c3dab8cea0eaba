"""Which ten texts are nearest by meaning: `embeddings.py RESULTS SOCKETS`.

The texts are the descriptions of Debian's packages, which apt knows. The model is the one in the wheel of wordllama (MIT):
256 floats a text. Their signs are codes of 256 bits; signs in four random rotations make 1,024. Each peer finds the 100
texts that are nearest by code, and of these the ten that are nearest by floats. *Found* is the share of the ten that
comparing all floats gives. The second question is the same of one section of Debian, which 1 % of the texts belong to.
"""

import csv
import pathlib
import re
import subprocess
import sys

import faiss
import numpy as np
import psycopg
import wordllama
from measure import COLUMNS, Server, ask_each, cpu_seconds, in_child, or_left_out, report
from usearch.index import Index

SEED = 1
QUERIES = 1_000
NEAREST = 10
BY_CODE = 100
SECTION = "fonts"
FIELD = re.compile(r"^(\S+): (.*(?:\n .*)*)", re.MULTILINE)


def read_texts():
    """Each description once, with its section."""
    known = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    packages = (dict(FIELD.findall(package)) for package in known.split("\n\n"))
    return {package["Description"]: package.get("Section", "") for package in packages if "Description" in package}


def embed(texts):
    model = wordllama.WordLlama.load(cache_dir=pathlib.Path(wordllama.__file__).parent, disable_download=True)
    return model.embed(texts, norm=True)


def codes_of(floats, bits, random):
    """The signs, or those in several rotations of the floats."""
    width = floats.shape[1]
    turns = [np.linalg.qr(random.normal(size=(width, width)))[0] for _ in range(bits // width)] if bits > width else [np.eye(width)]
    return np.packbits(floats @ np.concatenate(turns, axis=1) > 0, axis=1)


class Data:
    """Stored floats and codes, and texts that are not stored, as queries."""

    def __init__(self, floats, sections, bits):
        random = np.random.default_rng(SEED)
        order = random.permutation(len(floats))
        codes = codes_of(floats, bits, random)
        self.bits = bits
        self.sections = np.array(sections)[order[QUERIES:]]
        self.floats = floats[order[QUERIES:]]
        self.codes = codes[order[QUERIES:]]
        self.queries = list(zip(floats[order[:QUERIES]], codes[order[:QUERIES]]))
        self.inside = self.sections == SECTION
        self.truth = {question: [self.nearest(query, np.flatnonzero(kept)) for query, _ in self.queries]
                      for question, kept in (("embeddings", np.ones(len(order) - QUERIES, bool)), ("section", self.inside))}

    def nearest(self, query, among):
        """Those of these rows that are nearest by the floats."""
        return among[np.argsort(-(self.floats[among] @ query), kind="stable")[:NEAREST]].tolist()

    def found(self, question, answers):
        truths = self.truth[question][:len(answers)]
        return sum(len(set(truth) & set(answer)) for truth, answer in zip(truths, answers)) / sum(map(len, truths))


class Comparison:
    def __init__(self, writer, data):
        self.writer = writer
        self.data = data

    def line(self, question, peer, settings, answers, build, took, peak, size):
        rows = f"{len(self.data.codes):,} descriptions, {self.data.bits} bits"
        if len(answers) < QUERIES:
            settings += f", {len(answers)} queries"
        report(self.writer, question=question, data=rows, peer=peer, settings=settings, found=self.data.found(question, answers),
               false=0.0, build_s=build, query_ms=took / len(answers) * 1000, peak_mb=peak, bytes=size)

    def library(self, peer, build, searches, size):
        """A peer that lives in a process; `searches` has (question, settings, rows of one query's code)."""
        data = self.data

        def work():
            index, seconds = cpu_seconds(build)
            ask = lambda search: lambda query: cpu_seconds(lambda: data.nearest(query[0], np.asarray(search(index, query[1]))))
            return seconds, size(index), [ask_each(data.queries, ask(search)) for _, _, search in searches]

        (seconds, bytes_kept, answers), _, peak = in_child(work)
        for (question, settings, _), (found, took) in zip(searches, answers):
            self.line(question, peer, settings, found, seconds, took, peak, bytes_kept)


def library_peers(comparison):
    data = comparison.data
    bits = comparison.data.bits
    faiss.omp_set_num_threads(1)

    def built(make):
        def build():
            index = make()
            index.add(data.codes)
            return index
        return build

    def rows(index, code, **options):
        found = index.search(code[None], BY_CODE, **options)[1][0]
        return found[found >= 0]

    def at(ef_search):
        def search(index, code):
            index.hnsw.efSearch = ef_search
            return rows(index, code)
        return search

    def section():
        """What users do who know the filter beforehand: an index of these rows alone."""
        index = faiss.IndexBinaryFlat(bits)
        index.add(data.codes[data.inside])
        return index

    inside = np.flatnonzero(data.inside)
    comparison.library("FAISS BinaryFlat", built(lambda: faiss.IndexBinaryFlat(bits)), [("embeddings", "", rows)], lambda _: bits // 8)
    comparison.library("FAISS BinaryFlat", section, [("section", "of the section alone", lambda index, code: inside[rows(index, code)])],
                       lambda _: bits // 8)
    comparison.library("FAISS BinaryHNSW", built(lambda: faiss.IndexBinaryHNSW(bits, 16)),
                       [("embeddings", f"M 16, efSearch {ef}", at(ef)) for ef in (100, 400)], lambda _: bits // 8 + 16 * 2 * 4)

    def graph():
        index = Index(ndim=bits, metric="hamming", dtype="b1", expansion_add=64, expansion_search=400)
        index.add(np.arange(len(data.codes)), data.codes, threads=1)
        return index

    by_graph = lambda index, code: index.search(code, BY_CODE, threads=1).keys
    comparison.library("usearch HNSW", graph, [("embeddings", "expansion 400", by_graph)], lambda index: index.memory_usage // len(data.codes))


BY_FLOATS = "SELECT id FROM item {where} ORDER BY embedding <=> %(floats)s::vector LIMIT {nearest}"
IN_ONE_STATEMENT = """SELECT id FROM (SELECT id, embedding FROM item {where} ORDER BY {order} LIMIT {by_code}) AS near
    ORDER BY embedding <=> %(floats)s::vector LIMIT {nearest}"""


class Tables:
    """Peers inside PostgreSQL."""

    def __init__(self, comparison, connection):
        self.comparison = comparison
        self.server = Server(connection)
        self.bits = comparison.data.bits
        data = comparison.data
        kind = f"bit({self.bits})"
        self.order = {"simhash_pg": f"hamming(code, %(code)s::{kind})", "pgvector": f"code <~> %(code)s::{kind}"}
        connection.execute(f"CREATE TABLE item (id bigint, section text, code {kind}, embedding vector({data.floats.shape[1]}))")
        with connection.cursor().copy("COPY item FROM STDIN") as copy:
            for number, (section, code, floats) in enumerate(zip(data.sections, data.codes, data.floats)):
                copy.write_row((number, section, f"x{code.tobytes().hex()}", str(floats.tolist())))
        connection.execute("VACUUM ANALYZE item")
        self.queries = [{"floats": str(floats.tolist()), "code": f"x{code.tobytes().hex()}"} for floats, code in data.queries]

    def ask(self, peer, settings, statement, build=(0.0, 0), order=None):
        for question, where in (("embeddings", ""), ("section", f"WHERE section = '{SECTION}'")):
            asked = statement.format(where=where, order=self.order.get(order), nearest=NEAREST, by_code=BY_CODE)
            answers, took = ask_each(self.queries, lambda query: self.server.run(asked, query, prepare=True))
            answers = [[row for row, in answer] for answer in answers]
            self.comparison.line(question, peer, settings, answers, build[0], took, self.server.peak_mb(), build[1])

    def index(self, definition):
        """Makes an index in the place of the one before; the seconds that it took and its bytes a row."""
        self.server.run("DROP INDEX IF EXISTS by")
        _, seconds = self.server.run(f"CREATE INDEX by ON item USING {definition}")
        ((size,),), _ = self.server.run("SELECT pg_relation_size('by') / count(*) FROM item")
        return seconds, size

    def settings(self, **values):
        for name, value in values.items():
            self.server.run(f"SET {name.replace('__', '.')} = {value}")


def postgres_peers(comparison, sockets):
    with psycopg.connect(host=sockets, user="postgres", dbname="postgres", autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS item")
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        tables = Tables(comparison, connection)
        (version,) = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
        tables.ask("PostgreSQL", "floats, scan", BY_FLOATS)
        tables.ask("PostgreSQL", "codes, scan", IN_ONE_STATEMENT, order="simhash_pg")
        tables.ask("simhash_pg", "USING hamming (code, section)", IN_ONE_STATEMENT, tables.index("hamming (code, section)"), "simhash_pg")
        made = tables.index("hnsw (code bit_hamming_ops)")
        for settings in ({"hnsw__ef_search": 100}, {"hnsw__ef_search": 400}, {"hnsw__iterative_scan": "strict_order"}):
            tables.settings(**settings)
            (name, value), = settings.items()
            tables.ask(f"pgvector {version} HNSW", f"bits, {name[6:]} {value}", IN_ONE_STATEMENT, made, "pgvector")
        made = tables.index("ivfflat (code bit_hamming_ops) WITH (lists = 250)")
        for probes in (16, 50):
            tables.settings(ivfflat__probes=probes)
            tables.ask(f"pgvector {version} IVFFlat", f"bits, 250 lists, probes {probes}", IN_ONE_STATEMENT, made, "pgvector")
        if comparison.data.bits != comparison.data.floats.shape[1]:
            return  # of floats once
        made = tables.index("hnsw (embedding vector_cosine_ops)")
        tables.settings(hnsw__iterative_scan="off", hnsw__ef_search=40)
        tables.ask(f"pgvector {version} HNSW", "floats, ef_search 40", BY_FLOATS, made)


def main(results, sockets):
    texts = read_texts()
    floats = embed(list(texts))
    with open(results, "a", newline="") as file:
        for bits in (256, 1024):
            comparison = Comparison(csv.DictWriter(file, COLUMNS), Data(floats, list(texts.values()), bits))
            with or_left_out("PostgreSQL"):
                postgres_peers(comparison, sockets)
            with or_left_out("libraries"):
                library_peers(comparison)
            file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
