"""Fingerprints that others make of the same texts: `peers.py TEXTS CLICKHOUSE PYTHON`.

TEXTS is what change.py wrote. The two others get the fingerprints of ClickHouse and of Python's package simhash, as CSV
with a header.
"""

import csv
import multiprocessing
import sys

import chdb
from simhash import Simhash

QUERY = """
    SELECT id, reinterpretAsInt64(ngramSimHashCaseInsensitiveUTF8(text)) AS "clickhouse ngram",
           reinterpretAsInt64(wordShingleSimHashCaseInsensitiveUTF8(text)) AS "clickhouse word:3"
    FROM file('{}', 'CSV', 'id Int64, collection String, kind String, change String, number Int64, text String')
    ORDER BY id
"""


# Python's package takes longer than all others together, so of four changed copies it gets one.
def python(row):
    id, _, _, change, number, text = row
    if change != "none" and int(number) % 4:
        return id, "not measured"
    value = Simhash(text).value
    return id, value - (value >> 63 << 64)


def main(texts, clickhouse_file, python_file):
    with open(clickhouse_file, "w", encoding="utf-8") as file:
        file.write(str(chdb.query(QUERY.format(texts), "CSVWithNames")))
    csv.field_size_limit(sys.maxsize)
    with open(texts, newline="", encoding="utf-8") as rows, open(python_file, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "python simhash"])
        with multiprocessing.Pool() as pool:
            writer.writerows(pool.imap(python, csv.reader(rows), 100))


if __name__ == "__main__":
    main(*sys.argv[1:])
