"""What needs no browser: finding the columns, limits, headers, what cannot be written, and how the demo ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from dataclasses import replace
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from explorer import table as table_module
from explorer.markup import Html, html
from explorer.safety import Unsuitable
from explorer.table import Wanted, find_table

from .conftest import READER


def ask(site: str, path: str, method: str = "GET", body: bytes = b"", **headers: str) -> tuple[HTTPResponse, str]:
    connection = HTTPConnection(urlsplit(site).netloc)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    return response, response.read().decode(errors="replace")


def post(site: str, text: bytes, name: bytes = b"text") -> tuple[HTTPResponse, str]:
    body = b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n--x--\r\n' % (name, text)
    return ask(site, "/", "POST", body, Content_Type="multipart/form-data; boundary=x")


def test_values_are_escaped_and_html_is_not() -> None:
    bold = html("<b>{text}</b>", text="1 < 2 & \"3\" '4' \0")
    assert bold.source == "<b>1 &lt; 2 &amp; &quot;3&quot; &#x27;4&#x27; ‹U+0000›</b>"
    assert html("{one}{none}{many}", one=bold, none=None, many=[bold, "<"]).source == bold.source * 2 + "&lt;"
    assert not isinstance(bold, str) and isinstance(bold, Html)


def test_every_answer_forbids_scripts(site: str) -> None:
    for path in ("/", "/style.css", "/nothing", "/document?key=0", "/clusters?radius=x"):
        response, _ = ask(site, path)
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
        assert "script" not in response.headers["Content-Security-Policy"]
        assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path, status",
    [
        ("/document?key=0", 404), ("/document?key=none", 404), ("/document?key=99999999999999999999", 404),
        ("/document", 404), ("/compare?a=1&b=0", 404), ("/cluster?radius=0&keeper=1", 404), ("/etc/passwd", 404),
        ("/../style.css", 404), ("/clusters?radius=-1", 400), ("/clusters?radius=65", 400), ("/clusters?radius=x", 400),
        ("/clusters?radius=" + "0" * 5000, 400), ("/compare?a=1&b=2&min=0", 400), ("/document?key=%00", 400),
        ("/document?key=%ff%ed%a0%80", 404), ("/clusters?radius=3&page=999", 200),
    ],
)
def test_wrong_addresses(site: str, path: str, status: int) -> None:
    response, page = ask(site, path)
    assert response.status == status
    assert "<h1>" in page and "Traceback" not in page


def test_forms_are_limited(site: str) -> None:
    assert post(site, b"word " * 990_000)[0].status == 200
    assert post(site, b"word " * 1_001_000)[0].status == 413
    assert post(site, b"word\0word")[0].status == 400
    assert post(site, b"caf\xe9 and more words", b"file")[1].count("café") == 1
    assert ask(site, "/", "POST", b"text=a", Content_Type="application/x-www-form-urlencoded")[0].status == 400


def test_only_hosts_of_this_machine_are_served(site: str) -> None:
    assert ask(site, "/", Host="evil.example")[0].status == 403
    assert ask(site, "/", Host="localhost:1234")[0].status == 200


def test_forms_of_pages_elsewhere_are_not_read(site: str) -> None:
    kind = "multipart/form-data; boundary=x"
    for sender, status in (
        ({"Sec_Fetch_Site": "cross-site"}, 403), ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Sec_Fetch_Site": "same-origin"}, 200), ({"Sec_Fetch_Site": "same-origin", "Origin": "null"}, 200),
        # Of a browser that does not send the first one.
        ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403), ({"Origin": site}, 200),
        ({"Origin": site.replace("http", "https")}, 403), ({"Origin": site + "0"}, 403),
        ({"Sec_Fetch_Site": "none", "Origin": "http://evil.example"}, 403), ({}, 200),
    ):
        response, _ = ask(site, "/", "POST", b"--x--\r\n", Content_Type=kind, **sender)
        assert response.status == status, sender


@pytest.mark.parametrize(
    "path", ["/clusters", "/distances", "/compare?a=1&b=2", "/cluster?keeper=1", "/document?key=1"]
)
def test_pages_are_not_made_for_pages_elsewhere(site: str, path: str) -> None:
    evil = {"Origin": "http://evil.example"}
    for sender in ({"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, evil):
        assert ask(site, path, "GET", b"", **sender)[0].status == 403, sender
    for sender in ({"Sec_Fetch_Site": "same-origin"}, {"Sec_Fetch_Site": "none"}, {}):
        assert ask(site, path, "GET", b"", **sender)[0].status == 200, sender
    # A link elsewhere may lead to the explorer.
    assert ask(site, "/", Sec_Fetch_Site="cross-site")[0].status == 200


def test_forms_of_many_parts_are_refused(site: str) -> None:
    part = b'--xyz\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    for parts, status in ((10, 200), (10_000, 400)):
        body = part * parts + b"--xyz--\r\n"
        response, _ = ask(site, "/", "POST", body, Content_Type="multipart/form-data; boundary=xyz")
        assert response.status == status, parts
    response, _ = ask(site, "/", "POST", b"--", Content_Type="multipart/form-data")
    assert response.status == 400


def test_only_the_loopback_interface_is_listened_on(site: str) -> None:
    port = int(site.rsplit(":", 1)[1])
    listening = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    assert re.findall(rf"(\S+):{port:04X} \S+ 0A", listening) == ["0100007F"]


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM public.document", "INSERT INTO public.document (body) VALUES ('x')", "TRUNCATE public.document",
     "CREATE TABLE public.t ()", "CREATE TEMPORARY TABLE t ()", "COPY public.document FROM '/dev/null'"],
)
def test_nothing_can_be_written(owner: psycopg.Connection, statement: str) -> None:
    table = find_table(Wanted(READER, "document"))
    with table.connect() as connection:
        with pytest.raises((psycopg.errors.ReadOnlySqlTransaction, psycopg.errors.InsufficientPrivilege)):
            connection.execute(statement.encode())
        # The role cannot either, should a transaction be read-write.
        connection.rollback()
        connection.read_only = False
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement.encode())


def test_a_role_that_may_write_reads_only(owner: psycopg.Connection) -> None:
    table = find_table(Wanted("dbname=postgres user=postgres", "document", trust=("postgres",)))
    with table.connect() as connection, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        connection.execute("DELETE FROM public.document")


def test_errors_of_the_server_say_what_to_do(
    site: str, owner: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "STATEMENT_TIMEOUT", "1ms")
    response, page = ask(site, "/distances")
    assert response.status == 503 and "A smaller radius" in page
    monkeypatch.undo()
    owner.execute("REVOKE SELECT ON document FROM explorer")
    response, page = ask(site, "/document?key=1")
    owner.execute("GRANT SELECT ON document TO explorer")
    assert response.status == 403 and "GRANT SELECT ON public.document" in page
    owner.execute("ALTER ROLE explorer NOLOGIN")
    response, page = ask(site, "/")
    owner.execute("ALTER ROLE explorer LOGIN")
    assert response.status == 503 and "is not available" in page and "not permitted to log in" in page


def test_columns_are_found_or_a_message_says_what_to_name(owner: psycopg.Connection) -> None:
    wanted = Wanted("dbname=postgres user=postgres", "document", trust=("postgres",))
    found = find_table(wanted)
    assert (found.schema, found.key, found.text, found.fingerprint, found.title, found.scheme) == (
        "public", "id", "body", "si", "title", "doc2")
    odd = find_table(replace(wanted, table='"an ""odd"" one"."%s{table}"'))
    assert (odd.key, odd.text, odd.fingerprint, odd.scheme) == ('key"s', "te%xt", "si{}", "word:2")
    owner.execute(
        """CREATE TABLE keyless (body text, si bigint, other bigint);
           CREATE TABLE plain (id int PRIMARY KEY, body text, si bigint);
           CREATE TABLE two (LIKE plain INCLUDING ALL, other bigint);
           CREATE INDEX ON two USING hamming (si);
           CREATE INDEX ON two USING hamming (other)"""
    )
    for name, message in [
        ("nowhere", "There is no table nowhere"), ("keyless", "KEY="), ("plain", "CREATE INDEX ON plain"),
        ("two", "names one of: other, si"),
    ]:
        with pytest.raises(Unsuitable, match=message):
            find_table(replace(wanted, table=name))
    with pytest.raises(Unsuitable, match="TEXT=column SCHEME="):
        find_table(replace(wanted, table="two", fingerprint="si"))
    with pytest.raises(Unsuitable, match="TITLE= names one of: id, title, body, si"):
        find_table(replace(wanted, title="nothing"))
    named = find_table(replace(wanted, table="plain", fingerprint="si", text="body", scheme="doc2"))
    assert named.key == "id"


def test_without_the_extension(owner: psycopg.Connection) -> None:
    owner.execute("CREATE DATABASE bare")
    with psycopg.connect(user="postgres", dbname="bare") as connection:
        connection.execute("CREATE TABLE t (id int PRIMARY KEY)")
    with pytest.raises(Unsuitable, match="CREATE EXTENSION simhash_pg"):
        find_table(Wanted("dbname=bare user=postgres", "t"))


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_the_demo_ends_and_leaves_nothing(by: signal.Signals) -> None:
    demo = subprocess.Popen(
        ["tools/demos/demo-web"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        env={**os.environ, "DOCUMENTS": "50", "PORT": "0"},
    )
    assert demo.stdout is not None
    try:
        site = next(line.split()[1] for line in demo.stdout if line.startswith("open"))
        assert ask(site.rstrip("/"), "/")[0].status == 200
        folder = next(m[1] for m in re.finditer(rf"^ *{demo.pid} .*host=(\S+)", processes(), re.MULTILINE))
        assert Path(folder).exists()
    finally:
        # As a terminal does: to the whole group.
        os.killpg(demo.pid, by)
    assert demo.wait(timeout=60) == 0
    assert demo.stdout.read().strip() == ""
    assert not Path(folder).exists() and folder not in processes()


def processes() -> str:
    return subprocess.run(["ps", "-ww", "-eo", "pgid,args"], capture_output=True, text=True, check=True).stdout
