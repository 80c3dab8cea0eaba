"""Forms: what a browser sends is read as it was meant, and anything else is refused before it is read."""

from __future__ import annotations

import os
import random
import socket
from email.parser import BytesParser
from email.policy import HTTP
from urllib.parse import urlsplit

import pytest

from explorer import server
from explorer.forms import LARGEST_BODY, MOST_PARTS, boundary_of, read_form
from explorer.layout import Refused

from .test_server import ask, post

KIND = "multipart/form-data; boundary=xyz"
HEADER = b'Content-Disposition: form-data; name="text"'
END = b"\r\n--xyz--\r\n"
NESTED = b"".join(
    b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (depth, depth) for depth in range(50_000))


def part(header: bytes, content: bytes = b"some text") -> bytes:
    return b"--xyz\r\n" + header + b"\r\n\r\n" + content


@pytest.mark.parametrize(
    "body",
    [
        part(HEADER + b"; a=1" * 100_000) + END,
        part(HEADER + b'; filename="' + b"a" * 10_000 + b'"') + END,
        part(HEADER + b"\r\nA: 1" * 300_000) + END,
        part(HEADER + b"\r\n a" * 300_000) + END,
        part(HEADER + b"\r\nContent-Type: text/plain" * 2) + END,
        b"--xyz\r\n" + NESTED + END,
        part(HEADER + b"\r\nContent-Type: multipart/mixed; boundary=b", b"--b\r\n" + NESTED) + END,
        part(HEADER + b"\r\nContent-Transfer-Encoding: base64", b"c29tZQ==") + END,
        part(b"Content-Type: text/plain") + END,
        part(b'Content-Disposition: attachment; name="text"') + END,
        part(b"Content-Disposition: form-data; name=text") + END,
        part(HEADER), part(HEADER) + b"\r\n--xyz", part(HEADER) + b"\r\n--xyz--more", b"before" + part(HEADER) + END,
        b"--xyz\r\n" + HEADER + END, b"--xyz", b"", b"\r\n" * 1_000_000,
    ],
    ids=range(19),
)
def test_forms_of_no_browser_are_refused(site: str, body: bytes) -> None:
    response, page = ask(site, "/", "POST", body, Content_Type=KIND)
    assert response.status == 400 and "This form does not belong to the explorer" in page


@pytest.mark.parametrize("parts", [1, MOST_PARTS, MOST_PARTS + 1, 50_000])
def test_the_number_of_parts_is_limited(site: str, parts: int) -> None:
    body = b"\r\n".join([part(HEADER)] * parts) + END
    assert ask(site, "/", "POST", body, Content_Type=KIND)[0].status == (200 if parts <= MOST_PARTS else 400)


@pytest.mark.parametrize(
    "kind, length, status",
    [
        (KIND, LARGEST_BODY + 1, 413), (KIND, 10**11, 413), (KIND, -1, 400), ("multipart/form-data", 1, 400),
        (KIND + "; a=1" * 5_000, 1, 400), ("multipart/mixed; boundary=xyz", 1, 400),
        ("multipart/form-data; boundary=" + "x" * 71, 1, 400), ("text/plain", LARGEST_BODY + 1, 400),
        ("application/x-www-form-urlencoded", 1, 400),
    ],
)
def test_the_type_and_the_length_are_checked_first(
    site: str, monkeypatch: pytest.MonkeyPatch, kind: str, length: int, status: int
) -> None:
    def must_not_be_called(boundary: bytes, body: bytes) -> None:
        raise AssertionError("a form was read that is refused")

    monkeypatch.setattr(server, "read_form", must_not_be_called)
    monkeypatch.setattr(server, "LARGEST_REFUSED", 1)
    assert ask(site, "/", "POST", b"x", Content_Type=kind, Content_Length=str(length))[0].status == status


@pytest.mark.parametrize(
    "lines", [[b"A: " + b"\r" * 60_000] * 90, [b"A: " + b"a" * 40_000], [b"A: 1"] * 101, [b"A: 1"] * 300_000, [b" a"] * 50_000])
def test_the_header_of_a_request_is_limited(site: str, lines: list[bytes]) -> None:
    address = urlsplit(site)
    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n" + b"\r\n".join(lines) + b"\r\n\r\n")
        assert connection.makefile("rb").readline().split()[1] == b"431"


def test_what_a_browser_sends_is_read(site: str) -> None:
    name = 'a "quoted" name.txt'.replace('"', "%22").encode()
    file = part(b'Content-Disposition: form-data; name="file"; filename="' + name + b'"\r\nContent-Type: text/plain',
                b"\xef\xbb\xbfcaf\xc3\xa9\r\nand words")
    for boundary in ("xyz", '"xyz"'):
        response, page = ask(site, "/", "POST", part(HEADER, b"a pasted text") + b"\r\n" + file + END,
                             Content_Type="multipart/form-data; boundary=" + boundary)
        assert response.status == 200 and "café\nand words</textarea>" in page and "pasted" not in page
    # A file that was not chosen comes without a name and without content.
    none = part(b'Content-Disposition: form-data; name="file"; filename=""\r\nContent-Type: application/octet-stream', b"")
    response, page = ask(site, "/", "POST", part(HEADER, b"a pasted text") + b"\r\n" + none + END, Content_Type=KIND)
    assert response.status == 200 and "a pasted text</textarea>" in page
    assert post(site, b"\r\n--a--\r\n")[0].status == 200


def test_forms_mean_what_they_mean_to_python() -> None:
    """Random ones, read by Python's parser too."""
    seed = int(os.environ.get("SEED", random.randrange(2**32)))
    print("SEED =", seed)
    draw = random.Random(seed)
    pieces = [b"a", b"\xc3\xa9", b" ", b"\n", b"\r\n", b"--", b"--xy", b"\r\n--xy", b":", b'"', b";", b"=", b"Content-Type: text/plain"]
    for _ in range(2_000):
        sent = {name: b"".join(draw.choices(pieces, k=draw.randrange(12)))
                for name in draw.sample(["text", "radius", "plan", "a", "b", "min", "h\u00e9", "n;=:"], draw.randrange(1, 6))}
        body = b"\r\n".join(
            part(b'Content-Disposition: form-data; name="%s"' % name.encode(), value) for name, value in sent.items()) + END
        boundary = boundary_of(KIND)
        assert boundary is not None
        read = read_form(boundary, body)
        message = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {KIND}\r\n\r\n".encode() + body)
        expected = [p.get_payload(decode=True) for p in message.iter_parts()]
        assert list(read) == list(sent)
        assert [value.encode() for value in read.values()] == [
            value.replace(b"\r\n", b"\n") for value in expected if isinstance(value, bytes)], body


def test_a_refusal_holds_nothing_of_the_form() -> None:
    """An exception keeps the frames that it went through, and each would keep 5 MB."""
    refused = []
    for _ in range(2):
        with pytest.raises(Refused) as caught:
            read_form(b"xyz", b"")
        refused.append(caught.value)
    assert refused[0] is not refused[1]
