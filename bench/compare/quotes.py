"""Who quotes whom: `quotes.py RESULTS SOCKETS TEXTS DOCUMENTS`.

Each stored text has some 2 KB of sentences that no other one has. Half of the queries are such a text in whose middle 300
characters of a stored one stand, half quote nothing. *Found* is the share of the quoted ones that are named, *false* the
share of the named ones that are not quoted.
"""

import csv
import random
import sys

import psycopg
from documents import load_texts, sentences_of, shingles
from measure import COLUMNS, Server, cpu_seconds, in_child, or_left_out, report

LENGTH = 2_000
QUOTED = 300
QUERIES = 1_000
# For what takes long, every so manieth query. Every second one quotes.
SCAN = 51
SLOW = 11


def make_texts(sentences, count):
    """The stored texts, the queries, and the number of the stored text that each quotes."""
    chance = random.Random(1)
    chance.shuffle(sentences)
    # Two long sentences may differ in a name alone, and would quote each other.
    left = (sentence for sentence in sentences if len(sentence) <= 120)

    def text():
        parts = []
        size = 0
        while size < LENGTH:
            parts.append(next(left))
            size += len(parts[-1])
        return " ".join(parts)

    stored = [text() for _ in range(count)]
    queries = []
    quoted = []
    for number in range(QUERIES):
        query = text()
        of = chance.randrange(count) if number % 2 else None
        if number % 2:
            start = chance.randrange(LENGTH - QUOTED)
            query = query[: LENGTH // 2] + stored[of][start : start + QUOTED] + query[LENGTH // 2 :]
        queries.append(query)
        quoted.append(of)
    return stored, queries, quoted


def judge(quoted, answers):
    """Found and false, where each answer has scores of numbers, at the least score that does best."""
    scores = sorted(((score, number == of) for of, answer in zip(quoted, answers) for number, score in answer), reverse=True)
    there = sum(of is not None for of in quoted)
    best = (0, 0, 0)
    right = 0
    for told, (score, is_right) in enumerate(scores, 1):
        right += is_right
        if told == len(scores) or scores[told][0] < score:
            best = max(best, (2 * right / (told + there), right / there, (told - right) / told))
    return best[1:]


# What the extension smlar does: the cosine of two arrays, whose elements a GIN index finds.
GRAMS = """CREATE FUNCTION grams(body text) RETURNS bigint[] LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT array_agg(DISTINCT hashtextextended(array_to_string(words[place:place + 3], ' '), 0))
    FROM regexp_split_to_array(lower(body), '\\W+') AS words, generate_series(1, cardinality(words) - 3) AS place $$"""
COSINE = """SELECT id, (SELECT count(*) FROM unnest(grams) AS gram WHERE gram = ANY (asked)) / sqrt(cardinality(grams) * cardinality(asked))
    FROM document, grams(%(q)s) AS asked WHERE grams && asked"""


def in_postgres(sockets, stored, queries, line):
    with psycopg.connect(host=sockets, user="postgres", dbname="postgres", autocommit=True) as connection:
        server = Server(connection)
        connection.execute("CREATE EXTENSION pg_trgm")
        load_texts(connection, stored)

        def ask(peer, settings, build, relation, statement, step=1):
            seconds = sum(server.run(part)[1] for part in build)
            connection.execute("VACUUM ANALYZE document")
            ((size,),), _ = server.run(relation)
            answers = []
            took = 0.0
            for query in queries[::step]:
                rows, spent = server.run(statement, {"q": query})
                answers.append(rows)
                took += spent
            line(peer, settings, answers, seconds, took, server.peak_mb(), size / len(stored), step)

        ask("pg_trgm", f"similarity, scan, {len(queries[::SCAN])} queries", [], "SELECT 0", "SELECT id, similarity(body, %(q)s) FROM document", SCAN)
        ask("simhash_pg", "excerpt_sketch, GIN, shared_passages of 200",
            ["ALTER TABLE document ADD sketch bigint[]", "UPDATE document SET sketch = excerpt_sketch(body, 200)",
             "CREATE INDEX sketches ON document USING gin (sketch sketch_ops)"],
            "SELECT sum(pg_column_size(sketch)) + pg_relation_size('sketches') FROM document",
            """SELECT id, 1 FROM document WHERE sketch_overlaps(sketch, excerpt_sketch(%(q)s, 200))
               AND EXISTS (SELECT FROM shared_passages(body, %(q)s, 200))""")
        ask("PostgreSQL", f"smlar's cosine of 4 words by hand, GIN, {len(queries[::SLOW])} queries",
            [GRAMS, "ALTER TABLE document ADD grams bigint[]", "UPDATE document SET grams = grams(body)",
             "CREATE INDEX grams ON document USING gin (grams)"],
            "SELECT sum(pg_column_size(grams)) + pg_relation_size('grams') FROM document", COSINE, SLOW)


def with_ensemble(stored, queries, threshold):
    from datasketch import MinHash, MinHashLSHEnsemble

    def signed(text):
        words = shingles(text)
        signature = MinHash(num_perm=256)
        signature.update_batch([shingle.encode() for shingle in words])
        return signature, len(words)

    def build():
        index = MinHashLSHEnsemble(threshold=threshold, num_perm=256, num_part=8)
        signatures = {number: signed(text) for number, text in enumerate(stored)}
        index.index((number, *signature) for number, signature in signatures.items())
        return index, signatures

    def ask(query):
        signature, size = signed(query)
        # What is near is estimated from the signature again.
        return [(number, signature.jaccard(signatures[number][0])) for number in index.query(signature, size)]

    (index, signatures), seconds = cpu_seconds(build)
    answers, took = cpu_seconds(lambda: [ask(query) for query in queries])
    return answers, seconds, took, 256 * 8


def with_tfidf(stored, queries, words):
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(ngram_range=(words, words))
    matrix, seconds = cpu_seconds(lambda: vectorizer.fit_transform(stored))

    def ask(query):
        cosines = (matrix @ vectorizer.transform([query]).T).toarray()[:, 0]
        return [(number, cosines[number]) for number in cosines.argsort()[-3:]]

    answers, took = cpu_seconds(lambda: [ask(query) for query in queries])
    return answers, seconds, took, (matrix.data.nbytes + matrix.indices.nbytes) / len(stored)


def main(results, sockets, files, count):
    with open(files) as names:
        stored, queries, quoted = make_texts(sentences_of(names.read().splitlines()), int(count))
    with open(results, "a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)

        def line(peer, settings, answers, build, took, peak, size, step=1):
            found, false = judge(quoted[::step], answers)
            report(writer, question="quotes", data=f"{len(stored):,} texts of {LENGTH:,} characters", peer=peer, settings=settings, found=found,
                   false=false, build_s=build, query_ms=1000 * took / len(answers), peak_mb=peak, bytes=int(size))
            file.flush()

        in_postgres(sockets, stored, queries, line)
        for peer, settings, work in (
            ("datasketch LSH Ensemble", "5 words, 256 values, containment 0.1", lambda: with_ensemble(stored, queries, 0.1)),
            ("scikit-learn TF-IDF", "words, cosine", lambda: with_tfidf(stored, queries, 1)),
            ("scikit-learn TF-IDF", "4 words, cosine", lambda: with_tfidf(stored, queries, 4)),
        ):
            with or_left_out(peer):
                (answers, build, took, size), _, peak = in_child(work)
                line(peer, settings, answers, build, took, peak, size)


if __name__ == "__main__":
    main(*sys.argv[1:])
