"""What is a copy, and what an independent solution: `copies.py RESULTS SOCKETS CODE ANSWERS`.

CODE is a checkout of IR-Plag, or -. ANSWERS is a folder with Clough and Stevenson's short answers and file_information.csv,
or -. Each peer compares every solution of a task with the original. *Found* is how often a copy is more like it than an
independent solution of the task is: the area under the ROC curve, where a draw is a half.
"""

import collections
import csv
import io
import itertools
import pathlib
import re
import subprocess
import sys

import psycopg
from measure import COLUMNS, Server, cpu_seconds, or_left_out, report

# level is none for an independent solution.
Solution = collections.namedtuple("Solution", "task level original body")
CODE = r"btrim(regexp_replace({}, '\s+', ' ', 'g'))"
WORDS = "btrim(regexp_replace(lower({}), '[^a-z0-9]+', ' ', 'g'))"


def programs(checkout):
    """Of each task, what `code.py` writes: level 0 is the original, 7 an independent solution."""
    written = subprocess.run([sys.executable, "bench/code.py", checkout], check=True, capture_output=True, text=True).stdout
    unescape = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"}
    rows = [line.split("\t") for line in written.splitlines()]
    rows = [(task, int(level), re.sub(r"\\.", lambda found: unescape[found[0]], body)) for task, level, body in rows]
    originals = {task: body for task, level, body in rows if level == 0}
    return [Solution(task, level if level < 7 else None, originals[task], body) for task, level, body in rows if level]


def answers(folder):
    read = lambda name: (folder / name).read_bytes().decode("utf-8", errors="replace")
    with open(folder / "file_information.csv", newline="") as file:
        rows = [(row["Task"], row["Category"], row["File"]) for row in csv.DictReader(file)]
    originals = {task: read(name) for task, category, name in rows if category == "orig"}
    return [Solution(task, None if category == "non" else category, originals[task], read(name))
            for task, category, name in rows if category != "orig"]


def area(solutions, scores, level):
    """How often a copy of this level, or of any, scores higher than an independent solution of its task."""
    pairs = [(score > other) + (score == other) / 2
             for (copied, score), (alone, other) in itertools.product(zip(solutions, scores, strict=True), repeat=2)
             if copied.task == alone.task and alone.level is None and copied.level is not None and level in (None, copied.level)]
    return sum(pairs) / len(pairs)


def in_postgres(server, solutions, ways, line):
    server.connection.execute("DROP TABLE IF EXISTS solution; CREATE TABLE solution (id integer, original text, body text)")
    with server.connection.cursor().copy("COPY solution FROM STDIN") as copy:
        for number, solution in enumerate(solutions):
            copy.write_row((number, solution.original, solution.body))
    for peer, settings, score, text in ways:
        score = score.format(o=text.format("original"), b=text.format("body"))
        rows, seconds = server.run(f"SELECT {score} FROM solution ORDER BY id")
        line(peer, settings, [score or 0 for score, in rows], seconds)


def with_copydetect(solutions, is_code):
    from copydetect import CodeFingerprint, compare_files

    fingerprint = lambda body: CodeFingerprint("Solution.java", 25, 1, fp=io.StringIO(body), filter=is_code)
    return [compare_files(fingerprint(some.original), fingerprint(some.body))[1][0] for some in solutions]


def with_tfidf(solutions, **settings):
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(sublinear_tf=True, **settings)
    vectorizer.fit([some.body for some in solutions] + [some.original for some in solutions])
    originals, bodies = (vectorizer.transform(getattr(some, name) for some in solutions) for name in ("original", "body"))
    return originals.multiply(bodies).sum(axis=1).A1.tolist()


def with_datasketch(solutions, cut, size):
    from datasketch import MinHash

    def signed(body):
        units = cut(body)
        signature = MinHash(num_perm=256)
        signature.update_batch([" ".join(units[at:at + size]).encode() for at in range(max(1, len(units) - size + 1))])
        return signature

    return [signed(some.original).jaccard(signed(some.body)) for some in solutions]


def of_code(solutions):
    return [
        ("simhash_pg", "winnow_sketch(body, 24, 8), containment", "sketch_containment(winnow_sketch({o}, 24, 8), winnow_sketch({b}, 24, 8))", CODE),
        ("simhash_pg", "distance of simhash", "-hamming(simhash({o}), simhash({b}))", "{}"),
        ("pg_trgm", "similarity", "similarity({o}, {b})", "{}"),
    ], [
        ("copydetect", "Java's tokens, 25", lambda: with_copydetect(solutions, True)),
        ("scikit-learn TF-IDF", "words, cosine", lambda: with_tfidf(solutions)),
        ("scikit-learn TF-IDF", "5 characters, cosine", lambda: with_tfidf(solutions, analyzer="char", ngram_range=(5, 5))),
        ("datasketch", "5 characters, 256 values", lambda: with_datasketch(solutions, lambda body: re.sub(r"\s+", " ", body), 5)),
    ]


def of_answers(solutions):
    return [
        ("simhash_pg", "winnow_sketch(words, 12, 2), containment", "sketch_containment(winnow_sketch({b}, 12, 2), winnow_sketch({o}, 12, 2))", WORDS),
        ("simhash_pg", "minhash(body, 256, 'word:2')", "minhash_similarity(minhash({o}, 256, 'word:2'), minhash({b}, 256, 'word:2'))", "{}"),
        ("simhash_pg", "distance of simhash", "-hamming(simhash({o}), simhash({b}))", "{}"),
        ("pg_trgm", "similarity", "similarity({o}, {b})", "{}"),
    ], [
        ("copydetect", "25 characters", lambda: with_copydetect(solutions, False)),
        ("scikit-learn TF-IDF", "words, cosine", lambda: with_tfidf(solutions)),
        ("scikit-learn TF-IDF", "1 to 3 words, cosine", lambda: with_tfidf(solutions, ngram_range=(1, 3))),
        ("datasketch", "2 words, 256 values", lambda: with_datasketch(solutions, lambda body: re.findall(r"\w+", body.lower()), 2)),
    ]


def main(results, sockets, code, texts):
    sets = [("Java programs of IR-Plag", programs, of_code, 6, "copies of level 6, whose logic was changed", code),
            ("short answers of Clough and Stevenson", answers, of_answers, "heavy", "heavy revisions", texts)]
    with psycopg.connect(host=sockets, user="postgres", dbname="postgres", autocommit=True) as connection, \
            open(results, "a", newline="") as file:
        connection.execute("CREATE EXTENSION pg_trgm")
        writer = csv.DictWriter(file, COLUMNS)
        for name, load, ways, hard, hard_name, folder in sets:
            if folder == "-":
                print(f"left out: {name}, without its files", file=sys.stderr)
                continue
            solutions = load(pathlib.Path(folder))
            copies = sum(some.level is not None for some in solutions)
            data = f"{len(solutions)} {name}, {copies} of them copies"

            def line(peer, settings, scores, seconds):
                for level, which in ((None, data), (hard, f"{sum(some.level == hard for some in solutions)} of these {hard_name}")):
                    report(writer, question="copies", data=which, peer=peer, settings=settings, found=area(solutions, scores, level),
                           query_ms=1000 * seconds / len(solutions))
                file.flush()

            in_sql, by_library = ways(solutions)
            in_postgres(Server(connection), solutions, in_sql, line)
            for peer, settings, work in by_library:
                with or_left_out(peer):
                    line(peer, settings, *cpu_seconds(work))


if __name__ == "__main__":
    main(*sys.argv[1:])
