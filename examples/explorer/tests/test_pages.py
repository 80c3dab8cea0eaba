"""What pages say of special tables and texts; no browser is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from explorer.codes import NotACode, bits_of, read, shown
from explorer.markup import Html, with_anchor
from explorer.queries import Queries
from explorer.safety import Unsuitable
from explorer.table import Wanted, find_table

from .conftest import READER, served, served_as, viewed
from .test_server import ask, post

LONG = "Some words that make up a text which is longer than a passage has to be. "


def rows_of(page: str, table: int = -1) -> list[str]:
    """The rows of a table of a page, the last one, without tags."""
    body = page.split("<tbody>")[table].partition("</tbody>")[0]
    return [re.sub("<[^>]*>", " ", row).strip() for row in body.split("</tr>")[:-1]]


@pytest.fixture(scope="module")
def copies(owner: psycopg.Connection) -> Iterator[str]:
    """Copies, of which there are many, and a few versions."""
    owner.execute(
        """CREATE TABLE copies (id integer PRIMARY KEY, title text, body text,
                                si bigint GENERATED ALWAYS AS (simhash(body)) STORED);
           CREATE INDEX ON copies USING hamming (si);
           GRANT SELECT ON copies TO viewer"""
    )
    letters = ["".join(chr(97 + (n * k) % 23) for k in range(3, 9)) for n in range(1, 60)]
    text = " ".join(letters)
    version = text.replace(letters[3], "other")
    other = " ".join(reversed(letters[:40]))
    texts = [LONG * 2] * 5 + [text, text, version, version, text] + ["Tiny one"] * 2 + [other]
    owner.cursor().executemany(
        "INSERT INTO copies VALUES (%s, %s, %s)", [(n, f"row {n}", text) for n, text in enumerate(texts, 1)])
    with served("copies") as site:
        yield site


def test_clusters_of_mere_copies_come_last(copies: str) -> None:
    rows = rows_of(ask(copies, "/clusters?radius=8")[1], 1)
    assert [re.split(r"\s+", row)[:4] for row in rows] == [
        ["2", "5", "row", "6"], ["copies", "5", "row", "1"], ["copies", "2", "row", "11"]]


def test_words_that_differ_are_shown_before_statements_that_delete(copies: str) -> None:
    page = ask(copies, "/clusters?radius=20")[1]
    assert page.index("In which words do near documents differ?") < page.index("DELETE")
    words = dict(row.split()[:2] for row in rows_of(page))
    assert int(words["other"]) > 0 and "Some" not in words
    assert re.search(r'href="/compare\?a=\d+&amp;b=\d+&amp;show=differences"', page)
    assert "minhash_bits" in page


def test_copies_are_one_line_of_a_cluster(copies: str) -> None:
    rows = rows_of(ask(copies, "/cluster?radius=8&keeper=6")[1])
    assert [re.split(r"\s+", row)[1:3] for row in rows] == [["row", "8"], ["row", "7"]]
    assert rows[0].split()[3] == "2" and "(equals the keeper)" in rows[1] and " 2 " in rows[1]


def test_compare_without_keys_offers_documents(copies: str) -> None:
    page = ask(copies, "/compare")[1]
    assert "Or choose a document" in page and 'href="/document?key=1"' in page
    assert "Or choose a document" not in ask(copies, "/compare?a=1&b=2")[1]


@pytest.mark.parametrize("path", ["/document?key=0", "/clusters?radius=x", "/compare?a=x&b=1"])
def test_an_error_has_a_way_back(copies: str, path: str) -> None:
    response, page = ask(copies, path)
    assert response.status >= 400 and '<a href="/">begin with a new search</a>' in page


@pytest.mark.parametrize("a, b", [(1, 2), (11, 12), (6, 7)])
@pytest.mark.parametrize("show", ["shared", "differences"])
def test_equal_texts_share_all_of_them(copies: str, a: int, b: int, show: str) -> None:
    """Also those that are shorter than a passage, and those that repeat themselves."""
    response, page = ask(copies, f"/compare?a={a}&b={b}&show={show}")
    assert response.status == 200 and page.count("100 % shared of") == 2
    assert "equal in every character" in page and page.count("<mark>") == 2 and "jump to" not in page


def test_a_long_text_equals_itself(copies: str, owner: psycopg.Connection) -> None:
    owner.execute("INSERT INTO copies SELECT n, 'long', repeat(%s, 3000) FROM generate_series(50, 51) AS n", [LONG])
    try:
        assert ask(copies, "/compare?a=50&b=51")[1].count("100 % shared of") == 2
    finally:
        owner.execute("DELETE FROM copies WHERE id >= 50")


def test_of_a_large_table_a_part_is_shown(copies: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "The table is large" not in ask(copies, "/clusters?radius=8")[1]
    monkeypatch.setattr(Queries, "ROWS", 7)
    page = ask(copies, "/clusters?radius=8")[1]
    assert "the clusters among the first 7 documents" in page and len(rows_of(page, 1)) == 2
    following = re.search(r'href="(/clusters[^"]*after=7)"', page)
    assert following
    page = ask(copies, following[1].replace("&amp;", "&"))[1]
    assert "documents after <bdi>7</bdi>" in page and "The next part" not in page and "The first part" in page
    assert len(rows_of(page, 1)) == 2
    assert ask(copies, "/cluster?radius=8&after=7&keeper=8")[0].status == 200
    assert ask(copies, "/cluster?radius=8&after=7&keeper=1")[0].status == 404
    assert ask(copies, "/clusters?radius=8&after=none")[0].status == 400


def test_codes_are_read(codes_site: str) -> None:
    table = find_table(viewed("picture"))
    assert (table.fingerprint, table.is_bits, table.width, table.text) == ("code", True, 256, None)
    response, page = post(codes_site, b"ff ff")
    assert response.status == 400 and "256 bits, or 64 hex digits" in page
    assert "1 of 256" not in page
    page = ask(codes_site, "/clusters?radius=31")[1]
    assert [row.split()[:2] for row in rows_of(page)] == [["2", "2"], ["copies", "2"]]
    assert "near_cluster" in page and "/distances" in page
    assert ask(codes_site, "/distances")[0].status == 200
    assert "equals the keeper" in ask(codes_site, "/cluster?radius=31&keeper=3")[1]


def test_what_is_a_code() -> None:
    assert read("0xF0", 8) == read("11110000", 8) == read("f0", None) == "11110000"
    assert shown("11110000") == "f0" and shown("101") == "101" and shown(-5) == "-5" and shown(None) == "none"
    assert bits_of(1) == "1" + "0" * 63 and bits_of(-1) == "1" * 64
    for text, width in (("f", 8), ("fg", 8), ("", 8), ("1010", 3), ("f", 3), ("", None)):
        with pytest.raises(NotACode):
            read(text, width)


def test_the_first_difference_is_found() -> None:
    def anchored(source: str) -> str | None:
        marked, found = with_anchor(Html(source), "x")
        return marked.source.partition('<span id="x"')[0] if found else None

    assert anchored("<mark>a\nb</mark> c") == "<mark>a\nb</mark> "
    assert anchored("a <mark>b</mark>") == ""
    assert anchored("<mark>a</mark> </span><hr><span><mark>b</mark>&lt;") == (
        "<mark>a</mark> </span><hr><span><mark>b</mark>")
    assert anchored("<mark>a</mark>") is None and anchored("") is None


def test_what_names_a_row(owner: psycopg.Connection) -> None:
    owner.execute(
        """CREATE TABLE double (a int, b int, body text, si bigint, PRIMARY KEY (a, b));
           CREATE INDEX ON double USING hamming (si);
           CREATE TABLE short (id int PRIMARY KEY, code integer)"""
    )
    wanted = Wanted("dbname=postgres user=postgres", "double", trust=("postgres",))
    with pytest.raises(Unsuitable, match=r"a primary key of several columns \(a, b\).*KEY=.*ADD COLUMN row_number"):
        find_table(wanted)
    with pytest.raises(Unsuitable, match="type integer. Codes are bigint or bit"):
        find_table(replace(wanted, table="short", fingerprint="code"))


def test_of_a_large_table_some_rows_are_compared(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the tests these are all of them, so the numbers are those of hamming_histogram."""
    exact = ask(site, "/distances")[1]
    assert "texts were not" not in exact
    monkeypatch.setattr(Queries, "LARGE", 10)
    page = ask(site, "/distances")[1]
    assert "texts were not" in page and "begin with radius" in page and len(rows_of(page)) == 65
    assert rows_of(page)[64].split()[:2] == rows_of(exact)[64].split()[:2]


def test_the_first_radius_is_of_the_table(site: str, codes_site: str) -> None:
    table = find_table(Wanted(READER, "document"))
    assert table.rows > 0
    radii = [replace(table, rows=10**power).first_radius for power in range(4, 9)]
    assert radii == [12, 10, 8, 7, 6]
    assert f'value="{table.first_radius}"' in ask(site, "/clusters")[1]
    assert 'value="31"' in ask(codes_site, "/clusters")[1]


def test_pictures_are_shown(owner: psycopg.Connection) -> None:
    owner.execute(
        r"""CREATE TABLE photo (id integer PRIMARY KEY, code bit(64), image bytea, place text);
            INSERT INTO photo VALUES
                (1, x'0123456789abcdef', '\x89504e470d0a1a0a00', 'https://pictures.example/1.png'),
                (2, x'0123456789abcdee', '<svg onload="alert(1)">', 'javascript:alert(1)'), (3, x'0123456789abcdec', NULL, NULL);
            CREATE INDEX ON photo USING hamming (code);
            GRANT SELECT ON photo TO viewer"""
    )
    with served("photo") as address:
        response, page = ask(address, "/document?key=1")
        assert 'src="/picture?key=1"' in page and 'src="/picture?key=2"' in page and "key=3\" alt" not in page
        assert "http" not in response.headers["Content-Security-Policy"]
        response, _ = ask(address, "/picture?key=1")
        assert response.status == 200 and response.headers["Content-Type"] == "image/png"
        assert [ask(address, f"/picture?key={key}")[0].status for key in ("2", "3", "4", "none", "%00")] == [404] * 5
        assert ask(address, "/picture?key=1", Sec_Fetch_Site="cross-site")[0].status == 404
    with served_as(viewed("photo", picture="place")) as address:
        response, page = ask(address, "/document?key=1")
        assert 'src="https://pictures.example/1.png"' in page and "javascript:" not in page
        assert "img-src 'self' https: http: data:" in response.headers["Content-Security-Policy"]
        assert ask(address, "/picture?key=1")[0].status == 404
    with pytest.raises(Unsuitable, match="type bit. Pictures are"):
        find_table(viewed("photo", picture="code"))
