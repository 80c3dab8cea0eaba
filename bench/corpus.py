"""What bench/corpus runs.

`corpus.py statements PAGE ROWS FOLDER` writes FOLDER/statements.sql: the statements of the documentation's PAGE, which read the
lines of FOLDER/pages instead of the page's own, and count what they keep.

`corpus.py pieces LIST COUNT FOLDER` cuts the files that LIST names into pieces, of which it writes COUNT: FOLDER/lines are lines
of JSON, FOLDER/texts the same texts as COPY reads them, FOLDER/binary in COPY's binary format, and FOLDER/rows the first
WEIGHED of them, each with a zero byte behind it.
`corpus.py stages PAGE FOLDER` writes FOLDER/stages.sql, which goes from these files to the duplicates.

`corpus.py changes FOLDER` writes FOLDER/changes.sql: manual pages of this machine, and each of 600 changed in some ways.
"""

import json
import pathlib
import random
import re
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).parent / "similarity_index"))
from natural import pages  # noqa: E402

# COPY as the page has it.
FORMAT = r"(FORMAT csv, QUOTE E'\x01', DELIMITER E'\t')"
BEGIN = r"""
CREATE FUNCTION cpu_s() RETURNS numeric LANGUAGE sql VOLATILE AS $$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric / 1e9$$;
CREATE TABLE truth (number bigint GENERATED ALWAYS AS IDENTITY, id bigint, kind text, change text, origin bigint, body text COMPRESSION lz4);
COPY truth (id, kind, change, origin, body) FROM '{folder}/pages';
CREATE TABLE seconds (place integer GENERATED ALWAYS AS IDENTITY, step text, rows bigint, until numeric);
COPY (SELECT number, json_build_object('text', body) FROM truth WHERE number <= {stock} ORDER BY number) TO '{folder}/stock' {format};
COPY (SELECT number, json_build_object('text', body) FROM truth WHERE number > {stock} ORDER BY number) TO '{folder}/batch' {format};
"""
STEP = "INSERT INTO seconds (step, rows, until) VALUES ('{}', {}, cpu_s());\n"
END = r"""
SELECT step, round(until - before, 1) AS s, round(rows / nullif(until - before, 0)) AS "pages per second"
FROM (SELECT *, lag(until) OVER (ORDER BY place) AS before FROM seconds) AS s WHERE before IS NOT NULL ORDER BY place;
CREATE TABLE judged AS SELECT kind, change, length(body) AS size, origin <> truth.id AS is_version, duplicate.id IS NOT NULL AS goes
FROM truth LEFT JOIN duplicate ON duplicate.id = number;
SELECT kind, count(*) AS pages, round(avg(size)) AS characters, count(*) FILTER (WHERE is_version) AS versions, count(*) FILTER (WHERE goes) AS deleted,
       round(100.0 * count(*) FILTER (WHERE goes AND is_version) / nullif(count(*) FILTER (WHERE goes), 0), 2) AS "right %",
       round(100.0 * count(*) FILTER (WHERE goes AND is_version) / nullif(count(*) FILTER (WHERE is_version), 0), 1) AS "found %"
FROM judged GROUP BY kind ORDER BY kind;
SELECT change, round(100.0 * avg(goes::integer) FILTER (WHERE kind = 'clean'), 1) AS "texts: found %",
       round(100.0 * avg(goes::integer) FILTER (WHERE kind = 'templated'), 1) AS "templates: found %"
FROM judged WHERE is_version GROUP BY change ORDER BY change;
"""


def statements(page, rows, folder):
    create = re.search(r"```sql\n(.*?)```", pathlib.Path(page).read_text(), re.DOTALL)[1]
    stock = int(rows) * 9 // 10
    parts = [create, BEGIN.format(folder=folder, stock=stock, format=FORMAT), STEP.format("", 0)]
    for name, count in [("stock", stock), ("batch", int(rows) - stock)]:
        parts += [f"COPY page FROM '{folder}/{name}' {FORMAT};\n", STEP.format(f"the {name}: COPY", count),
                  "CALL decide();\n", STEP.format(f"the {name}: decide()", count)]
    pathlib.Path(folder, "statements.sql").write_text("".join([*parts, END]))


PIECE = 2_800
# How many of the pieces the crate gets, so that its weights are of as many texts as the page's.
WEIGHED = 20_000


def pieces_of(text):
    """Pieces of some PIECE characters, which end at white space if there is any."""
    while len(text) >= PIECE // 2:
        end = max(text.rfind(" ", PIECE // 2, PIECE), text.rfind("\n", PIECE // 2, PIECE))
        end = PIECE if end < 0 else end
        yield text[:end]
        text = text[end:]


def pieces(names, count, folder):
    texts = []
    for name in pathlib.Path(names).read_text().split("\n"):
        try:
            texts += pieces_of(pathlib.Path(name).read_text(encoding="utf-8").replace("\0", ""))
        except (OSError, UnicodeDecodeError):
            pass
    texts = random.Random(1).sample(texts, min(int(count), len(texts)))
    escaped = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
    with open(f"{folder}/lines", "w", encoding="utf-8") as lines, open(f"{folder}/texts", "w", encoding="utf-8") as plain:
        for number, text in enumerate(texts, 1):
            print(number, json.dumps({"text": text}), sep="\t", file=lines)
            print(number, text.translate(escaped), sep="\t", file=plain)
    with open(f"{folder}/binary", "wb") as binary:
        binary.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        for number, text in enumerate(texts, 1):
            body = text.encode()
            # Two columns, each with its length before it.
            binary.write(struct.pack(">hiqi", 2, 8, number, len(body)) + body)
        binary.write(b"\xff\xff")
    with open(f"{folder}/rows", "w", encoding="utf-8", newline="") as rows:
        rows.writelines(text + "\0" for text in texts[:WEIGHED])


STAGES_BEGIN = r"""
SET client_min_messages = warning;
DROP SCHEMA public CASCADE;
CREATE SCHEMA public;
CREATE EXTENSION simhash_pg;
{create}
CREATE TABLE plain (LIKE page INCLUDING ALL);
CREATE TABLE loaded (LIKE page INCLUDING ALL);
{memory};
CREATE FUNCTION cpu_s() RETURNS numeric LANGUAGE sql VOLATILE AS $$SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric / 1e9$$;
CREATE SCHEMA IF NOT EXISTS measured;
CREATE TABLE IF NOT EXISTS measured.step (number integer GENERATED ALWAYS AS IDENTITY, step text, until numeric);
INSERT INTO measured.step (step, until) VALUES ('', cpu_s());
"""
# What the page's decide() contains: how much memory it may use, and what computes weights and codes.
PARTS = {"memory": r"SET work_mem = '\w+'", "weights": r"INSERT INTO rarity.*?(?=;)", "codes": r"SELECT id, simhash.*?FROM page"}
WITH_WEIGHTS = "DO $$ DECLARE weights bytea := rarity.weights || '' FROM rarity; BEGIN {} END $$;"
STAGES = [
    ("COPY of lines of JSON", "COPY page FROM '{folder}/lines' {format};"),
    ("COPY of the texts alone", "COPY plain FROM '{folder}/texts';"),
    ("COPY of the texts in binary format", "COPY loaded FROM '{folder}/binary' (FORMAT binary);"),
    ("weights, by 20,000 of the texts", "{weights};"),
    ("reading the texts", "SELECT count(ascii(body)) FROM page \\g /dev/null\n"),
    ("reading, and simhash(body)", "SELECT count(simhash(body)) FROM page \\g /dev/null\n"),
    ("reading, and rare_code(body, weights)", WITH_WEIGHTS.format("PERFORM count(rare_code(body, weights)) FROM page;")),
    ("both codes into a table", WITH_WEIGHTS.format("CREATE TABLE code AS {codes}; ANALYZE code;")),
    ("near join: earlier texts near by both codes", """CREATE TABLE flagged AS SELECT id FROM code AS d WHERE EXISTS (
        SELECT FROM code AS earlier WHERE hamming(earlier.si, d.si) <= 14 AND hamming(earlier.rare, d.rare) <= 60 AND earlier.id < d.id);"""),
    ("decide(), which computes both codes again, and compares texts", "CALL decide();"),
]
# What the way from a file to the flagged texts consists of, except COPY.
STAGE = "INSERT INTO measured.step (step, until) VALUES ('{}', cpu_s());"
REST = "'weights, by 20,000 of the texts','both codes into a table','near join: earlier texts near by both codes'"
STAGES_END = r"""
CREATE VIEW fastest AS SELECT step, min(number) AS number, min(s) AS s
FROM (SELECT number, step, until - lag(until) OVER (ORDER BY number) AS s FROM measured.step) AS s WHERE step <> '' GROUP BY step;
CREATE VIEW way AS SELECT * FROM fastest
UNION ALL SELECT format('%s, to flags', c.step), c.number + 1000, c.s + sum(r.s)
FROM fastest AS c, fastest AS r WHERE c.step ~ '^COPY' AND r.step = ANY ('{{{rest}}}') GROUP BY c.step, c.number, c.s;
SELECT count(*) AS texts, round(avg(octet_length(body))) AS bytes, (SELECT count(*) FROM flagged) AS flagged,
       (SELECT count(*) FROM duplicate) AS "duplicates by decide()" FROM page;
SELECT step, round(s, 2) AS s, round(s * 1e9 / bytes, 1) AS "ns a byte", round(bytes / s / 1e6, 1) AS "MB/s"
FROM way, (SELECT sum(octet_length(body)) AS bytes FROM page) AS b ORDER BY number;
"""


def stages(page, folder):
    create = re.search(r"```sql\n(.*?)```", pathlib.Path(page).read_text(), re.DOTALL)[1]
    parts = {name: re.search(pattern, create, re.DOTALL)[0] for name, pattern in PARTS.items()}
    begin = STAGES_BEGIN.replace("{create}", create.replace("CREATE EXTENSION IF NOT EXISTS simhash_pg;", ""))
    begin = begin.replace("{memory}", parts["memory"])
    steps = [statement.format(folder=folder, format=FORMAT, **parts) + STAGE.format(name) for name, statement in STAGES]
    pathlib.Path(folder, "stages.sql").write_text("\n".join([begin, *steps]))
    pathlib.Path(folder, "stages_end.sql").write_text(STAGES_END.format(rest=REST.replace("'", '"')))


CHANGED = 600
CHANGES = r"""
CREATE TABLE page (id bigint, body text);
CREATE TABLE changed (place integer, change text, origin bigint, body text);
COPY page FROM '{folder}/originals';
COPY changed FROM '{folder}/changed';
SELECT create_rare_code('rare', 'page', 'body') \g /dev/null
-- A corpus that contains all pages with the navigation.
CREATE TABLE site AS SELECT body FROM page UNION ALL SELECT body FROM changed WHERE place = {site};
SELECT create_rare_code('rare_of_site', 'site', 'body') \g /dev/null
WITH near AS (
    SELECT place, change, hamming(simhash(c.body), simhash(p.body)) <= 14 AS by_si,
           CASE WHEN place = {site} THEN hamming(rare_of_site(c.body), rare_of_site(p.body))
                ELSE hamming(rare(c.body), rare(p.body)) END <= 50 AS by_rare,
           text_containment(c.body, p.body, 'word:2') >= 0.93 AS by_score
    FROM changed AS c JOIN page AS p ON p.id = origin)
SELECT change, count(*) AS pages, round(100.0 * avg(by_si::integer), 1) AS "within 14 %",
       round(100.0 * avg((by_si AND by_rare)::integer), 1) AS "and rare <= 50 %",
       round(100.0 * avg((by_si AND by_rare AND by_score)::integer), 1) AS "and score >= 0.93 %"
FROM near GROUP BY place, change ORDER BY place;
"""


def changes(folder):
    chance = random.Random(1)
    texts = list(dict.fromkeys(" ".join(re.sub(r"[\\\0]", " ", text).split()) for _, text in pages(pathlib.Path("/usr/share"), "en").values()))
    texts = [text for text in texts if 1_500 <= len(text) <= 5_000]
    words = [word for text in texts[:1000] for word in text.split()]
    navigation = " ".join(chance.sample(sorted(set(words)), 61))
    replaced = lambda share: lambda text: " ".join(chance.choice(words) if chance.random() < share else word for word in text.split())
    framed = lambda text: f"{navigation} {text} {navigation}"
    other_digits = lambda text: re.sub("[0-9]", lambda digit: str((int(digit[0]) + chance.randint(1, 9)) % 10), text)
    digits = lambda text: len(re.findall("[0-9]", text))
    always = lambda _: True
    rows = [("the last 10 % cut off", lambda text: text[: len(text) * 9 // 10], always),
            ("the last 20 % cut off", lambda text: text[: len(text) * 4 // 5], always),
            ("1 % of the words replaced", replaced(0.01), always),
            ("5 % of the words replaced", replaced(0.05), always),
            ("each digit replaced", other_digits, lambda text: digits(text) > 0),
            ("each digit replaced, 1 to 9 digits", other_digits, lambda text: 0 < digits(text) < 10),
            ("a navigation of 61 words added before and after the text", framed, always),
            ("the same, in a corpus that contains the 600", framed, always)]
    with open(f"{folder}/originals", "w", encoding="utf-8") as originals, open(f"{folder}/changed", "w", encoding="utf-8") as changed:
        for number, text in enumerate(texts):
            print(number, text, sep="\t", file=originals)
        for place, (name, change, fits) in enumerate(rows):
            fitting = [number for number, text in enumerate(texts) if fits(text)]
            for number in chance.sample(fitting, min(CHANGED, len(fitting))):
                print(place, name, number, change(texts[number]), sep="\t", file=changed)
    pathlib.Path(folder, "changes.sql").write_text(CHANGES.format(folder=folder, site=len(rows) - 1))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
