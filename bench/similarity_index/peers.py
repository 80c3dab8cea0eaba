"""Fingerprints that others make of the same documents: `peers.py documents.csv` prints scheme, id and fingerprint as COPY reads them."""

import csv
import sys

import chdb
from simhash import Simhash

CLICKHOUSE = {
    "clickhouse ngram": "ngramSimHashCaseInsensitiveUTF8(text)",
    "clickhouse word:3": "wordShingleSimHashCaseInsensitiveUTF8(text)",
}


def clickhouse(path):
    for scheme, function in CLICKHOUSE.items():
        query = f"SELECT '{scheme}', id, reinterpretAsInt64({function}) FROM file('{path}', 'CSV', 'id Int64, text String')"
        print(str(chdb.query(query, "TabSeparated")), end="")


def python(path):
    csv.field_size_limit(sys.maxsize)
    with open(path, newline="", encoding="utf-8") as documents:
        for id, text in csv.reader(documents):
            value = Simhash(text).value
            print("python simhash", id, value - (value >> 63 << 64), sep="\t")


clickhouse(sys.argv[1])
python(sys.argv[1])
