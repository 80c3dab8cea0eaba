"""Which licence is in a file: `licences.py RESULTS SOCKETS FOLDER`.

FOLDER has known.tsv and file.tsv, as bench/licences.py writes them. Each peer names the licence of the
known text that it takes for the best: *found* is the share of files whose licence is named, *false* that of wrong names.
"""

import csv
import functools
import sys

import psycopg
from measure import COLUMNS, Server, cpu_seconds, in_child, or_left_out, report

# For what takes long, so many files.
FEW = 100
FEWER = 10
WORDS = "GENERATED ALWAYS AS (btrim(regexp_replace(lower(body), '[^a-z0-9]+', ' ', 'g'))) STORED"
TABLE = f"""CREATE TABLE {{0}} (id integer GENERATED ALWAYS AS IDENTITY, name text, licence text, flag boolean, body text, words text {WORDS});
    COPY {{0}} (name, licence, flag, body) FROM '{{1}}'"""
SKETCH = "ALTER TABLE known ADD sketch bigint[]; UPDATE known SET sketch = winnow_sketch(words, 24, 8)"
# What a file has of a known text, and of several that it has, the longest.
BEST = """SELECT k.licence FROM known AS k WHERE sketch_containment(k.sketch, winnow_sketch(%(q)s, 24, 8)) >= 0.3
    ORDER BY sketch_containment(k.sketch, winnow_sketch(%(q)s, 24, 8)) ^ 1.5 * cardinality(k.sketch) DESC, length(k.body), k.id LIMIT 1"""
ALIKE = "SELECT k.licence FROM known AS k ORDER BY similarity(k.words, %(q)s) DESC, length(k.body), k.id LIMIT 1"


def in_postgres(server, files, line):
    def ask(peer, settings, build, relation, statement, step):
        seconds = sum(server.run(part)[1] for part in build)
        server.connection.execute("VACUUM ANALYZE known")
        ((size,),), _ = server.run(relation)
        answers = [server.run(statement, {"q": words}) for _, words in files[::step]]
        line(peer, settings, [rows[0][0] if rows else None for rows, _ in answers], seconds, sum(spent for _, spent in answers),
             server.peak_mb(), size, step)

    few, fewer = (max(1, len(files) // count) for count in (FEW, FEWER))
    ask("simhash_pg", f"winnow_sketch(words, 24, 8), containment 0.3, GIN, {len(files[::few])} files one at a time",
        [SKETCH, "CREATE INDEX sketches ON known USING gin (sketch sketch_ops)"],
        "SELECT sum(pg_column_size(sketch)) + pg_relation_size('sketches') FROM known", BEST, few)
    ask("pg_trgm", f"similarity, scan, {len(files[::fewer])} files", ["CREATE EXTENSION IF NOT EXISTS pg_trgm"], "SELECT 0", ALIKE, fewer)


def with_tfidf(known, files, words):
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(ngram_range=(words, words), token_pattern=r"\S+", sublinear_tf=True)
    matrix, seconds = cpu_seconds(lambda: vectorizer.fit_transform(text for _, text in known))

    def ask(text):
        cosines = (matrix @ vectorizer.transform([text]).T).toarray()[:, 0]
        best = cosines.argmax()
        return known[best][0] if cosines[best] > 0 else None

    answers, took = cpu_seconds(lambda: [ask(text) for _, text in files])
    return answers, seconds, took, matrix.data.nbytes + matrix.indices.nbytes


def with_ensemble(known, files, size):
    from datasketch import MinHash, MinHashLSHEnsemble

    def signed(text):
        words = text.split()
        shingles = {" ".join(words[at:at + size]).encode() for at in range(max(1, len(words) - size + 1))}
        signature = MinHash(num_perm=256)
        signature.update_batch(shingles)
        return signature, len(shingles)

    def build():
        signatures = [signed(text) for _, text in known]
        index = MinHashLSHEnsemble(threshold=0.3, num_perm=256, num_part=16)
        # The ensemble knows how much of a file is in a known text, not how much of a known text is in a file.
        index.index((number, *signature) for number, signature in enumerate(signatures))
        return index, signatures

    def ask(text):
        signature, length = signed(text)
        best = max(index.query(signature, length), key=lambda number: signature.jaccard(signatures[number][0]), default=None)
        return None if best is None else known[best][0]

    (index, signatures), seconds = cpu_seconds(build)
    answers, took = cpu_seconds(lambda: [ask(text) for _, text in files])
    return answers, seconds, took, 256 * 8 * len(known)


def main(results, sockets, folder):
    with psycopg.connect(host=sockets, user="postgres", dbname="postgres", autocommit=True) as connection, \
            open(results, "a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        for name in ("known", "file"):
            connection.execute(TABLE.format(name, f"{folder}/{name}.tsv"))
        known, files = (connection.execute(f"SELECT licence, words FROM {name} ORDER BY id").fetchall() for name in ("known", "file"))

        def line(peer, settings, answers, build, took, peak, size, step=1):
            right = sum(answer == licence for answer, (licence, _) in zip(answers, files[::step], strict=True))
            named = sum(answer is not None for answer in answers)
            report(writer, question="licences", data=f"{len(files):,} files, {len(known):,} known texts", peer=peer, settings=settings,
                   found=right / len(answers), false=(named - right) / len(answers), build_s=build, query_ms=1000 * took / len(answers),
                   peak_mb=peak, bytes=int(size / len(known)))
            file.flush()

        in_postgres(Server(connection), files, line)
        for peer, settings, work in (
            ("scikit-learn TF-IDF", "words, cosine", functools.partial(with_tfidf, known, files, 1)),
            ("scikit-learn TF-IDF", "4 words, cosine", functools.partial(with_tfidf, known, files, 4)),
            ("datasketch LSH Ensemble", "4 words, 256 values, containment 0.3", functools.partial(with_ensemble, known, files, 4)),
        ):
            with or_left_out(peer):
                (answers, build, took, size), _, peak = in_child(work)
                line(peer, settings, answers, build, took, peak, size)


if __name__ == "__main__":
    main(*sys.argv[1:])
