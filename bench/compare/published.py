"""CORE and NEWS-COPY, as text-dedup measures them: `published.py SOCKETS TEXTS CORE NEWS`.

CORE is pinecone/core-2020-05-10-deduplication, NEWS chenghao/NEWS-COPY-eval's split test, each as a file with a JSON object
in each line, as `datasets` writes by `to_json`. Without them, `-`, stand-ins of the same form are made of TEXTS. MinHash has
text-dedup's parameters, and so has its SimHash, but for the hash. What it publishes for the real files comes with them.
"""

import collections
import json
import re
import sys

import psycopg
from documents import Corpus, load_texts, sentences_of
from measure import Server, in_child

PUBLISHED = {"CORE": "MinHash .9587 and .9416, SimHash .9038 and .7323", "NEWS-COPY": "MinHash .7293, SimHash .6463"}
SETTINGS = {"CORE": {"num_perm": 200, "params": (50, 4)}, "NEWS-COPY": {"num_perm": 256, "threshold": 0.45}}
SIMHASH = {"CORE": 7, "NEWS-COPY": 12}


def stand_ins(sentences):
    """Families of two: every second text is a copy of the one before, changed or not."""
    core = []
    news = []
    corpus = Corpus(sentences)
    for number in range(600):
        # Nothing is repeated in texts with such numbers.
        text = corpus.text(10 * number + 9)
        copies = [text, text.replace(" the ", " a ") + " Abstract"] if number % 3 == 0 else [text]
        ids = [str(10 * number + n) for n in range(len(copies))]
        for own, copy in zip(ids, copies):
            core.append({"core_id": own, "processed_title": copy[:60], "processed_abstract": copy[60:],
                         "labelled_duplicates": [other for other in ids if other != own]})
            news.append({"article": copy, "cluster": number})
    return core, news


def core_text(row):
    return f"{row['processed_title']} {row['processed_abstract']}".lower()


def news_text(row):
    """Without hyphens at line ends, punctuation and what is not ASCII."""
    text = row["article"].replace("-\n", "").replace("\n", " ")
    return re.sub(r"""["#$%&\\()*+/:;<=>@\[\]^_`{|}~.?,!']""", "", text).encode("ascii", "ignore").decode()


def score_core(rows, clusters):
    """Precision and recall. A row is right if all its labelled duplicates are in its cluster, others there do not count."""
    members = collections.defaultdict(set)
    for row, cluster in zip(rows, clusters):
        members[cluster].add(row["core_id"])
    counts = collections.Counter()
    for row, cluster in zip(rows, clusters):
        labelled = set(row["labelled_duplicates"] or [])
        told = members[cluster] - {row["core_id"]}
        counts["right" if told and labelled and labelled <= told else "false" if told else "missed" if labelled else "none"] += 1
    right = counts["right"]
    return f"precision {right / max(right + counts['false'], 1):.4f}, recall {right / max(right + counts['missed'], 1):.4f}"


def score_news(rows, clusters):
    from sklearn.metrics import adjusted_rand_score

    return f"ARI {adjusted_rand_score([row['cluster'] for row in rows], clusters):.4f}"


def with_minhash(texts, settings):
    """The least number of each cluster: whatever shares a band is joined."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(**settings)
    first = list(range(len(texts)))

    def find(number):
        while first[number] != number:
            number = first[number] = first[first[number]]
        return number

    for number, text in enumerate(texts):
        words = re.split(r"\W", text.lower())
        words = [word for word in words if word]
        signature = MinHash(num_perm=settings["num_perm"])
        signature.update_batch([" ".join(pair).encode() for pair in zip(words, words[1:])])
        for other in index.query(signature):
            a, b = sorted((find(number), find(other)))
            first[b] = a
        index.insert(number, signature)
    return [find(number) for number in range(len(texts))]


def in_postgres(sockets, texts, ways):
    """Each way's clusters and processor time."""
    with psycopg.connect(host=sockets, user="postgres", dbname="postgres", autocommit=True) as connection:
        server = Server(connection)
        connection.execute("DROP TABLE IF EXISTS document")
        load_texts(connection, texts)
        for way, codes, cluster in ways:
            rows, seconds = server.run(f"SELECT near_cluster(id, si, {cluster}) OVER (ORDER BY id) FROM (SELECT id, {codes} FROM document) AS d ORDER BY id")
            yield way, [cluster for cluster, in rows], seconds


def compare(sockets, name, rows, text_of, score):
    texts = [text_of(row) for row in rows]
    radius = SIMHASH[name]
    codes = "simhash(body) AS si, minhash_bits(body, 256, 'word:2')::bit(256) AS look"
    ways = [(f"simhash_pg word:1 within {radius}, as SimHash", "simhash(body, 'word:1') AS si", f"{radius}, 'connected'"),
            ("simhash_pg within 18, a look of 70", codes, "18, second_code => look, second_radius => 70, linkage => 'connected'"),
            ("simhash_pg within 24, a look of 90", codes, "24, second_code => look, second_radius => 90, linkage => 'connected'")]
    print(f"{name}, {len(rows):,} texts. Published: {PUBLISHED[name]}")
    clusters, seconds, _ = in_child(lambda: with_minhash(texts, SETTINGS[name]))
    print(f"  datasketch, as MinHash: {score(rows, clusters)}, {seconds:.2f} s")
    for way, clusters, seconds in in_postgres(sockets, texts, ways):
        print(f"  {way}: {score(rows, clusters)}, {seconds:.2f} s")


def main(sockets, files, core, news):
    with open(files) as names:
        made = stand_ins(sentences_of(names.read().splitlines()))
    for name, path, stand_in, text_of, score in (("CORE", core, made[0], core_text, score_core), ("NEWS-COPY", news, made[1], news_text, score_news)):
        rows = stand_in
        if path != "-":
            with open(path, encoding="utf-8") as file:
                rows = [json.loads(line) for line in file]
        perfect = score(rows, [min([row["core_id"], *(row["labelled_duplicates"] or [])]) if name == "CORE" else row["cluster"] for row in rows])
        print("A stand-in, which says nothing about the real files:" if path == "-" else f"{path}: the labels score {perfect}")
        assert path != "-" or "0." not in perfect, perfect
        compare(sockets, name, rows, text_of, score)


if __name__ == "__main__":
    main(*sys.argv[1:])
