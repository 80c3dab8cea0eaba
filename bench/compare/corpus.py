"""Duplicates of a corpus, from texts to the rows that go: `corpus.py RESULTS SOCKETS TEXTS DOCUMENTS`.

TEXTS names files whose sentences make documents of some 2 KB, of which a fifth are copies, as documents.py says. A pipeline
says which documents go. *Found* is the share of copies that do, *false* the share of other documents that do.
"""

import csv
import sys

import psycopg
from documents import Corpus, sentences_of, shingles
from measure import COLUMNS, Server, in_child, or_left_out, report

# What decides, as docs/deduplication.md has it.
RARE = 50


def with_datasketch(texts, values, threshold):
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=threshold, num_perm=values)
    gone = []
    for number, text in enumerate(texts):
        signature = MinHash(num_perm=values)
        signature.update_batch([shingle.encode() for shingle in shingles(text)])
        if index.query(signature):
            gone.append(number)
        else:
            index.insert(number, signature, check_duplication=False)
    return gone


def with_rensa(texts, values, bands):
    import rensa

    index = rensa.RMinHashLSH(threshold=0.7, num_perm=values, num_bands=bands)
    gone = []
    for number, text in enumerate(texts):
        signature = rensa.RMinHash.digest_matrix_from_token_sets([list(shingles(text))], num_perm=values, seed=1)
        if index.insert_matrix_and_query_duplicate_flags(signature, start_key=number)[0]:
            gone.append(number)
    return gone


def with_fastsketch(texts, values, bands):
    """In batches, since its flags for duplicates are set for the first of them, too."""
    from FastSketchLSH import LSH, FastSimilaritySketch

    sketch = FastSimilaritySketch(size=values)
    index = LSH(num_perm=values, num_bands=bands, num_threads=1)
    gone = []
    for start in range(0, len(texts), 1000):
        sketches = sketch.batch([list(shingles(text)) for text in texts[start : start + 1000]], num_threads=1)
        index.insert(sketches)
        gone += [number for number, found in enumerate(index.query(sketches), start) if min(found) < number]
    return gone


def with_gaoya(texts, threshold, bands, values):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(hash_size=32, jaccard_threshold=threshold, num_bands=bands, band_size=values, num_hashes=bands * values,
                               analyzer="word", lowercase=True, ngram_range=(5, 5))
    gone = []
    for number, text in enumerate(texts):
        if index.query(text):
            gone.append(number)
        else:
            index.insert_document(number, text)
    return gone


# Which rows go: an earlier one is near and looks alike; or the keeper of their cluster is another row.
EXISTS = """SELECT id FROM code AS d WHERE EXISTS (SELECT FROM code AS earlier
    WHERE hamming(earlier.si, d.si) <= {radius} AND hamming(earlier.rare, d.rare) <= {rare} AND earlier.id < d.id)"""
CLUSTER = """SELECT id FROM (SELECT id, near_cluster(id, si, {radius}, rare, {rare}) OVER (ORDER BY id) AS keeper FROM code) AS c
    WHERE id <> keeper"""


def in_postgres(sockets, texts, radius, statement=EXISTS):
    """COPY, both codes, and one statement that says which rows go."""
    with psycopg.connect(host=sockets, user="postgres", dbname="postgres", autocommit=True) as connection:
        server = Server(connection)
        start = server.seconds()
        connection.execute("DROP TABLE IF EXISTS document, code")
        connection.execute("CREATE TABLE document (id bigint, body text COMPRESSION lz4)")
        with connection.cursor().copy("COPY document FROM STDIN") as copy:
            for row in enumerate(texts):
                copy.write_row(row)
        connection.execute("DROP FUNCTION IF EXISTS rare(text)")
        connection.execute("SELECT create_rare_code('rare', 'document', 'body')")
        connection.execute("CREATE TABLE code AS SELECT id, simhash(body) AS si, rare(body)::bit(256) AS rare FROM document")
        connection.execute("ANALYZE code")
        rows, _ = server.run(statement.format(radius=radius, rare=RARE))
        ((size,),), _ = server.run("SELECT pg_total_relation_size('code')")
        return [row for row, in rows], server.seconds() - start, server.peak_mb(), size / len(texts)


def peers_of(texts):
    """Peer, settings, bytes per text, and how it says which texts go."""
    return [
        ("datasketch", "5 words, 250 values, threshold 0.7 (text-dedup)", 250 * 4, lambda: with_datasketch(texts, 250, 0.7)),
        ("datasketch", "5 words, 250 values, threshold 0.5", 250 * 4, lambda: with_datasketch(texts, 250, 0.5)),
        ("rensa", "5 words, 256 values, 32 bands", 256 * 4, lambda: with_rensa(texts, 256, 32)),
        ("gaoya", "5 words, 51 bands of 5 values, threshold 0.4", 255 * 4, lambda: with_gaoya(texts, 0.4, 51, 5)),
        ("gaoya", "5 words, 42 bands of 3 values, threshold 0.3", 126 * 4, lambda: with_gaoya(texts, 0.3, 42, 3)),
        ("fastsketchlsh", "5 words, 128 values, 16 bands", 128 * 8, lambda: with_fastsketch(texts, 128, 16)),
    ]


def main(results, sockets, files, count):
    with open(files) as names:
        corpus = Corpus(sentences_of(names.read().splitlines()))
    texts = [corpus.text(number) for number in range(int(count))]
    with open(results, "a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)

        def line(peer, settings, gone, seconds, peak, size):
            found, false, kinds = corpus.judge(gone, len(texts))
            print(f"  {peer}, {settings}: {kinds}", file=sys.stderr)
            report(writer, question="corpus", data=f"{len(texts):,} texts of {sum(map(len, texts)) // len(texts):,} characters",
                   peer=peer, settings=settings, found=found, false=false, build_s=seconds, peak_mb=peak, bytes=int(size))
            file.flush()

        for radius in (10, 14):
            line("simhash_pg", f"radius {radius}, rare words <= {RARE}, COPY and all", *in_postgres(sockets, texts, radius))
        for peer, settings, size, work in peers_of(texts):
            with or_left_out(peer):
                gone, seconds, peak = in_child(work)
                line(peer, settings, gone, seconds, peak, size)


if __name__ == "__main__":
    main(*sys.argv[1:])
