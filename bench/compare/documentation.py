"""Documentation, from files to flags, by two programs: `documentation.py RESULTS SOCKETS FOLDER PROGRAM SAMPLES`.

The texts are those that bench/texts.py makes of FOLDER. PROGRAM is fastdedup, of https://github.com/wapplewhite4/fastdedup,
which reads the same file of lines of JSON. A text is flagged if an earlier one is near it by both codes of docs/corpus.md. The
last hundredth of the texts is a batch, which is compared with the others, whereas fastdedup begins again. *Found* is the share of the texts flagged by the other program that are flagged. SAMPLES
gets 100 pairs of different texts of each program, and 100 pairs of fastdedup above 0.8 whose later text simhash_pg does not
flag.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import time

import psycopg
from measure import COLUMNS, Server, report

sys.path.append(str(pathlib.Path(__file__).parents[1]))
from texts import texts_of  # noqa: E402


BEFORE = [
    "CREATE UNLOGGED TABLE page (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text COMPRESSION lz4)",
    """CREATE FUNCTION text_of_line() RETURNS trigger LANGUAGE plpgsql AS
       $$BEGIN NEW.body := NEW.body::json ->> 'text'; RETURN NEW; END$$""",
    "CREATE TRIGGER text_of_line BEFORE INSERT ON page FOR EACH ROW EXECUTE FUNCTION text_of_line()",
]
STOCK = [
    "SELECT create_rare_code('rare', 'page', 'body')",
    "CREATE TABLE code AS SELECT id, simhash(body) AS si, rare(body)::bit(256) AS rare FROM page",
    "ANALYZE code",
    """CREATE VIEW near_earlier AS SELECT id FROM code AS d WHERE EXISTS (
           SELECT FROM code AS earlier
           WHERE hamming(earlier.si, d.si) <= {radius} AND hamming(earlier.rare, d.rare) <= 50 AND earlier.id < d.id)""",
    "CREATE TABLE duplicate AS SELECT id FROM near_earlier",
]
BATCH = [
    "INSERT INTO code SELECT id, simhash(body), rare(body) FROM page WHERE id > {stored}",
    "ANALYZE code",
    "INSERT INTO duplicate SELECT id FROM near_earlier WHERE id > {stored}",
]


def radius_of(texts):
    """With a second code, as docs/choosing-a-threshold.md has it, and docs/corpus.md between a million and ten million texts."""
    return 14 if texts <= 10**6 else 12 if texts < 10**7 else 10


def processor_seconds(server):
    """Of all processes of the server, and of this one."""
    parent_of = lambda process: process.rpartition(")")[2].split()[1]
    processes = {path.parent: path.read_text() for path in pathlib.Path("/proc").glob("[0-9]*/stat") if path.exists()}
    postmaster = parent_of(processes[pathlib.Path(server.process)])
    children = [folder / "schedstat" for folder, process in processes.items() if parent_of(process) == postmaster]
    return time.process_time() + sum(int(path.read_text().split()[0]) / 1e9 for path in children)


def in_postgres(server, path, stored):
    """Loads and flags `stored` lines of the file, then the other ones. Returns the processor seconds of both."""
    spent = []
    with open(path, "rb") as file:
        for part, statements in enumerate([STOCK, BATCH]):
            start = processor_seconds(server)
            for statement in [] if part else BEFORE:
                server.run(statement)
            with server.connection.cursor().copy(r"COPY page (body) FROM STDIN (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')") as copy:
                for number, line in enumerate(file, 1):
                    copy.write(line)
                    if number == stored and not part:
                        break
            for statement in statements:
                _, seconds = server.run(statement.format(radius=radius_of(stored), stored=stored))
                print(f"  {seconds:8.1f} s: {' '.join(statement.split())[-100:]}", file=sys.stderr)
            spent.append(processor_seconds(server) - start)
    return spent


def with_fastdedup(program, path, folder):
    """Its pairs of (later, earlier, similarity), its processor seconds, and its peak in megabytes. Its files, which repeat the
    texts, are not stored: one is a pipe."""
    kept = f"{folder}/kept.jsonl"
    removed = f"{folder}/kept.removed.jsonl"
    for name in kept, removed:
        pathlib.Path(name).unlink(missing_ok=True)
    os.symlink(os.devnull, kept)
    os.mkfifo(removed)
    command = [program, "fuzzy-dedup", "--input", path, "--output", kept]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(removed, encoding="utf-8") as file:
        pairs = [(row["row_id"] + 1, row["duplicate_of_row_id"] + 1, row["similarity"]) for row in map(json.loads, file)]
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError("fastdedup has failed")
    return pairs, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


NEAR = "hamming(earlier.si, d.si) <= {radius} AND hamming(earlier.rare, d.rare) <= 50 AND earlier.id < d.id"
# What each program's flags rest upon; and which of fastdedup's pairs are above 0.8, but have a later text that simhash_pg keeps.
PAIRS = {
    "simhash_pg": """SELECT d.id, min(earlier.id) AS earlier, NULL::real AS similarity FROM (SELECT code.* FROM code JOIN duplicate USING (id)
        ORDER BY hashint8(id) LIMIT 2000) AS d JOIN code AS earlier ON {near} GROUP BY d.id""",
    "fastdedup": "SELECT DISTINCT ON (id) * FROM theirs ORDER BY id, similarity DESC",
    "missed": """SELECT DISTINCT ON (theirs.id) theirs.* FROM theirs LEFT JOIN duplicate USING (id)
        WHERE duplicate.id IS NULL AND similarity > 0.8 ORDER BY id, similarity DESC""",
}
SAMPLE = """SELECT json_build_object('id', p.id, 'earlier', p.earlier, 'similarity', similarity, 'text', d.body, 'earlier text', e.body,
        'si', hamming(dc.si, ec.si), 'rare', hamming(dc.rare, ec.rare))
    FROM ({}) AS p JOIN page AS d USING (id) JOIN page AS e ON e.id = earlier JOIN code AS dc ON dc.id = d.id JOIN code AS ec ON ec.id = e.id
    WHERE d.body <> e.body ORDER BY hashint8(p.id) LIMIT 100"""


def main(results, sockets, folder, program, samples):
    os.makedirs(samples, exist_ok=True)
    path = f"{samples}/texts.jsonl"
    texts = 0
    size = 0
    with open(path, "w", encoding="utf-8") as file:
        for text in texts_of(folder):
            file.write(json.dumps({"text": text}) + "\n")
            texts += 1
            size += len(text.encode())
    stored = texts - texts // 100
    near = NEAR.format(radius=radius_of(stored))
    print(f"  {texts:,} texts of {size // texts:,} bytes", file=sys.stderr)
    pairs, theirs_s, theirs_mb = with_fastdedup(program, path, samples)
    with psycopg.connect(host=sockets, user="postgres", dbname="postgres", autocommit=True) as connection:
        server = Server(connection)
        ours_s, batch_s = in_postgres(server, path, stored)
        ours_mb = server.peak_mb()
        connection.execute("CREATE TABLE theirs (id bigint, earlier bigint, similarity real)")
        with connection.cursor().copy("COPY theirs FROM STDIN") as copy:
            for row in pairs:
                copy.write_row(row)
        connection.execute("ANALYZE theirs, duplicate")
        one = lambda statement: connection.execute(statement).fetchone()
        print("  bytes of code, and of duplicate:", *one("SELECT pg_table_size('code'), pg_table_size('duplicate')"), file=sys.stderr)
        (disk,) = one("SELECT pg_table_size('code') + pg_table_size('duplicate')")
        ours, theirs, both = one("""SELECT count(duplicate.id), count(t.id), count(*) FILTER (WHERE duplicate.id = t.id)
            FROM duplicate FULL JOIN (SELECT DISTINCT id FROM theirs) AS t USING (id)""")
        above, flagged, within = one(f"""SELECT count(*), count(duplicate.id), count(*) FILTER (WHERE {near})
            FROM theirs LEFT JOIN duplicate USING (id) JOIN code AS d ON d.id = theirs.id JOIN code AS earlier ON earlier.id = theirs.earlier
            WHERE similarity > 0.8""")
        print(f"  {above:,} pairs above 0.8: the later text of {flagged:,} is flagged, {within:,} are near", file=sys.stderr)
        for name, statement in PAIRS.items():
            with open(f"{samples}/{name}.jsonl", "w", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row, in connection.execute(SAMPLE.format(statement.format(near=near))))
    with open(results, "a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        data = f"{texts:,} texts of {size // texts:,} bytes"
        report(writer, question="documentation", data=data, peer="simhash_pg", settings=f"by both codes, {ours:,} flagged", found=both / theirs,
               build_s=ours_s * texts / stored, query_ms=1000 * batch_s, peak_mb=ours_mb, bytes=int(disk / texts))
        report(writer, question="documentation", data=data, peer="fastdedup", settings=f"as it comes, {theirs:,} flagged", found=both / ours,
               build_s=theirs_s, query_ms=1000 * theirs_s, peak_mb=theirs_mb, bytes=int(theirs_mb * 2**20 / texts))


if __name__ == "__main__":
    main(*sys.argv[1:])
