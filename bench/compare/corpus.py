"""Duplicates of a corpus, from texts to the rows that go: `corpus.py RESULTS SOCKETS TEXTS DOCUMENTS`.

TEXTS names files whose sentences make documents of some 2 KB. A tenth of the documents are copies of an earlier one to the
letter, a tenth are copies in which 5 % of the words are replaced, a tenth share a third of their sentences with another
(boilerplate), which makes no duplicates of them. A pipeline says which documents go. *Found* is the share of copies that do,
*false* the share of other documents that do.
"""

import csv
import random
import re
import sys

import psycopg
from measure import COLUMNS, Server, in_child, report

SEED = 1
LENGTH = 2_000
REPLACED = 0.05
WORD = re.compile(r"\w+")
SENTENCE = re.compile(r"[A-Z][^.!?\n]{30,300}[.!?]")


def sentences_of(files):
    found = {}
    for name in files:
        try:
            with open(name, encoding="utf-8") as file:
                found.update(dict.fromkeys(SENTENCE.findall(file.read())))
        except (OSError, UnicodeDecodeError):
            pass
        if len(found) > 500_000:
            break
    return list(found)


def make_documents(sentences, count):
    """Texts, and for each whether it is a copy of an earlier one."""
    chance = random.Random(SEED)
    words = [word for sentence in sentences[:5_000] for word in WORD.findall(sentence)]
    texts, parts, is_copy = [], [], []
    for number in range(count):
        kind = number % 10 if number >= 10 else 9
        if kind in (0, 1):
            part = parts[chance.randrange(len(parts))]
            text = " ".join(part)
            if kind == 1:
                text = " ".join(chance.choice(words) if chance.random() < REPLACED else word for word in text.split(" "))
        else:
            part = []
            if kind == 2:
                other = parts[chance.randrange(len(parts))]
                part = other[: len(other) // 3]
            while sum(map(len, part)) < LENGTH:
                part.append(chance.choice(sentences))
            parts.append(part)
            text = " ".join(part)
        texts.append(text)
        is_copy.append(kind in (0, 1))
    return texts, is_copy


def shingles(text, length=5):
    words = WORD.findall(text.lower())
    return {" ".join(words[i : i + length]) for i in range(max(len(words) - length + 1, 1))}


def with_datasketch(texts, values, threshold):
    from datasketch import MinHash, MinHashLSH

    index, gone = MinHashLSH(threshold=threshold, num_perm=values), []
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

    signatures = []
    for first in range(0, len(texts), 256):
        sets = [list(shingles(text)) for text in texts[first : first + 256]]
        signatures += rensa.RMinHash.from_token_sets(sets, num_perm=values, seed=1)
    index = rensa.RMinHashLSH(threshold=0.7, num_perm=values, num_bands=bands)
    index.insert_many(signatures)
    return [number for number, found in enumerate(index.query_all(signatures)) if any(other < number for other in found)]


def with_gaoya(texts, threshold):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(hash_size=32, jaccard_threshold=threshold, num_bands=32, band_size=4, num_hashes=128,
                               analyzer="word", lowercase=True, ngram_range=(5, 5))
    gone = []
    for number, text in enumerate(texts):
        if index.query(text):
            gone.append(number)
        else:
            index.insert_document(number, text)
    return gone


def in_postgres(sockets, texts):
    """COPY, both codes, and one statement that says which rows go: an earlier one is near and looks alike."""
    with psycopg.connect(host=sockets, user="postgres", dbname="postgres", autocommit=True) as connection:
        server = Server(connection)
        start = server.seconds()
        connection.execute("CREATE TABLE document (id bigint, body text COMPRESSION lz4)")
        with connection.cursor().copy("COPY document FROM STDIN") as copy:
            for row in enumerate(texts):
                copy.write_row(row)
        connection.execute("""CREATE TABLE code AS
            SELECT id, simhash(body) AS si, minhash_bits(body, 256, 'word:2')::bit(256) AS look FROM document""")
        connection.execute("ANALYZE code")
        rows, _ = server.run("""SELECT id FROM code AS d WHERE EXISTS (SELECT FROM code AS earlier
            WHERE hamming(earlier.si, d.si) <= 12 AND hamming(earlier.look, d.look) <= 60 AND earlier.id < d.id)""")
        ((size,),), _ = server.run("SELECT pg_total_relation_size('code')")
        return [row for row, in rows], server.seconds() - start, server.peak_mb(), size / len(texts)


def main(results, sockets, files, count):
    with open(files) as names:
        sentences = sentences_of(names.read().splitlines())
    texts, is_copy = make_documents(sentences, int(count))
    peers = [
        ("datasketch", "5 words, 250 values, threshold 0.7 (text-dedup)", 250 * 4, lambda: with_datasketch(texts, 250, 0.7)),
        ("datasketch", "5 words, 128 values, threshold 0.5", 128 * 4, lambda: with_datasketch(texts, 128, 0.5)),
        ("rensa", "5 words, 128 values, 32 bands", 128 * 4, lambda: with_rensa(texts, 128, 32)),
        ("gaoya", "5 words, 128 values, threshold 0.5", 128 * 4, lambda: with_gaoya(texts, 0.5)),
    ]
    with open(results, "a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)

        def line(peer, settings, gone, seconds, peak, size):
            copies = sum(is_copy[number] for number in gone)
            report(writer, question="corpus", data=f"{len(texts):,} texts of {sum(map(len, texts)) // len(texts):,} characters",
                   peer=peer, settings=settings, found=copies / sum(is_copy), false=(len(gone) - copies) / (len(texts) - sum(is_copy)),
                   build_s=seconds, peak_mb=peak, bytes=int(size))
            file.flush()

        line("simhash_pg", "radius 12, a second look, COPY and all", *in_postgres(sockets, texts))
        for peer, settings, size, work in peers:
            try:
                gone, seconds, peak = in_child(work)
            except Exception as error:
                print(f"left out: {peer}: {error}", file=sys.stderr)
                continue
            line(peer, settings, gone, seconds, peak, size)


if __name__ == "__main__":
    main(*sys.argv[1:])
