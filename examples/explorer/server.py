"""The web server: Python's own, for one visitor at a time or a few. It listens on the loopback interface only."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase, BufferedReader, RawIOBase
from pathlib import Path
from socket import socket
from threading import BoundedSemaphore
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import psycopg

from . import pages
from .distances import distances
from .forms import LARGEST_BODY, boundary_of, read_form, too_large, unknown
from .layout import Fields, Page, Refused, refusal, server_error
from .queries import Queries
from .safety import Unsuitable
from .table import Table

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    # The latter for servers of datagrams.
    Request = socket | tuple[bytes, socket]

ROUTES: dict[str, Callable[[Queries, Fields], Page]] = {
    "/": pages.search,
    "/compare": pages.compare,
    "/clusters": pages.clusters,
    "/cluster": pages.cluster,
    "/distances": distances,
    "/document": pages.document,
}

# A browser shows an answer only after it has sent everything, so this much more is read and thrown away.
LARGEST_REFUSED = 100_000_000
# Bytes and lines of a request's header. A browser sends a few kB, most of it cookies of other servers of this machine.
LARGEST_HEADER = 32_768
MOST_LINES = 100
# Requests that are received, answered or sent at once. Each has a thread. A browser sends up to six.
MOST_CONNECTIONS = 32
# The memory for a form is several times its size. Larger ones than this are received and answered four at a time.
LARGEST_SMALL_FORM = 100_000
MOST_LARGE_FORMS = 4
# Seconds in which a request has to arrive, in which an answer has to be read, and that a large form waits for its turn.
TIME_LIMIT = 30.0
LOOPBACK = "127.0.0.1"
HOSTS = {LOOPBACK, "localhost"}

HEADERS = {
    # No scripts at all, nothing from elsewhere, and forms and frames of ours only.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    # With no-referrer, a browser would send our own forms with the origin null.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

# Pictures, by how their bytes begin.
KINDS = [
    (kind, re.compile(beginning, re.DOTALL)) for kind, beginning in [
        ("image/png", rb"\x89PNG\r\n\x1a\n"), ("image/jpeg", rb"\xff\xd8\xff"), ("image/gif", rb"GIF8[79]a"),
        ("image/webp", rb"RIFF....WEBP"),
    ]
]

# The answer to a connection that is refused.
BUSY = (
    b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Type: text/plain\r\n\r\n"
    b"The explorer has too many connections. Try again in a few seconds.\n"
)


class Server(ThreadingHTTPServer):
    """Answers requests about one table, at most four at a time."""

    daemon_threads = True

    def __init__(self, table: Table, port: int) -> None:
        self.table = table
        self.turns = BoundedSemaphore(4)
        self.connections = BoundedSemaphore(MOST_CONNECTIONS)
        self.large_forms = BoundedSemaphore(MOST_LARGE_FORMS)
        super().__init__((LOOPBACK, port), Handler)

    def process_request(self, request: Request, client_address: object) -> None:
        """Starts a thread for a connection, or refuses the connection if there are too many."""
        if not self.connections.acquire(blocking=False):
            assert isinstance(request, socket)
            refuse(request)
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            # There is no thread that would do it.
            self.connections.release()
            raise

    def process_request_thread(self, request: Request, client_address: object) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.connections.release()


def refuse(connection: socket) -> None:
    """Sends an answer without waiting for anything, because no other visitor is served meanwhile."""
    connection.setblocking(False)
    with suppress(OSError):
        connection.sendall(BUSY)
    # What has arrived and is not read would take the answer away from the visitor.
    with suppress(OSError):
        connection.recv(LARGEST_HEADER)


class Incoming(RawIOBase):
    """What a visitor sends, which has to arrive within a number of seconds, in however many pieces."""

    def __init__(self, connection: socket, seconds: float) -> None:
        self.connection = connection
        self.seconds = seconds
        self.begin()

    def begin(self) -> None:
        """From now on, the visitor has the whole time."""
        self.end = monotonic() + self.seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        left = self.end - monotonic()
        if left <= 0:
            raise TimeoutError("A request took too long.")
        self.connection.settimeout(left)
        try:
            return self.connection.recv_into(buffer)
        finally:
            self.connection.settimeout(self.seconds)


class Header(BufferedIOBase):
    """The header of a request, which is refused if it is too large, before Python parses it.

    Python accepts a hundred lines of 64 kB each, and takes seconds to parse those that consist of carriage returns.
    """

    def __init__(self, source: BufferedIOBase) -> None:
        self.source = source
        self.left = LARGEST_HEADER
        self.lines = MOST_LINES

    def readline(self, size: int | None = -1, /) -> bytes:
        line = self.source.readline(-1 if size is None else size)
        self.left -= len(line)
        self.lines -= 1
        if self.left < 0 or self.lines < 0:
            self.throw_away(line)
            raise HTTPException(f"A request may have {MOST_LINES} lines and {LARGEST_HEADER:,} bytes before its body.")
        return line

    def throw_away(self, line: bytes) -> None:
        """Reads the rest, without which a client would not read the answer."""
        while line not in (b"\r\n", b"\n", b"") and self.left > -LARGEST_REFUSED:
            line = self.source.readline(65_536)
            self.left -= len(line)


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server
    server_version = "explorer"
    sys_version = ""
    timeout = TIME_LIMIT

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.incoming = Incoming(self.connection, TIME_LIMIT)
        # Not more than this much of a form is read before its turn.
        self.rfile = BufferedReader(self.incoming, buffer_size=8_192)

    def parse_request(self) -> bool:
        source = self.rfile
        self.rfile = Header(source)
        try:
            return super().parse_request()
        finally:
            self.rfile = source

    def do_GET(self) -> None:
        if self.path == "/style.css":
            self.send(200, "text/css", Path(__file__).with_name("style.css").read_bytes())
        elif self.path.startswith("/picture?"):
            self.answer_picture()
        else:
            self.answer(self.address_fields)

    def do_POST(self) -> None:
        length = self.form_length()
        if length is None or not LARGEST_SMALL_FORM < length <= LARGEST_BODY:
            self.answer(self.form_fields)
            return
        # Nothing of a large form is read before it has a turn, which it keeps until its answer has been sent.
        has_turn = self.server.large_forms.acquire(timeout=TIME_LIMIT)
        self.incoming.begin()
        if not has_turn:
            self.answer(self.form_without_a_turn)
            return
        try:
            self.answer(self.form_fields)
        finally:
            self.server.large_forms.release()

    def answer(self, fields: Callable[[], Fields]) -> None:
        """Finds the page and sends it, or one that says why not."""
        table = self.server.table
        try:
            self.check_sender()
            page = self.page(fields())
        except Refused as refused:
            page = refusal(table, refused)
        except Unsuitable as problem:
            page = refusal(table, Refused(500, "The table cannot be shown", str(problem)))
        except psycopg.Error as error:
            page = server_error(table, error)
        except TimeoutError:
            # The visitor went silent in the middle of a form.
            self.close_connection = True
            return
        except Exception:
            traceback.print_exc(file=sys.stderr)
            page = refusal(table, Refused(500, "Internal error", "The explorer's terminal shows the cause."))
        self.send(page.status, "text/html; charset=utf-8", page.body.source.encode("utf-8", "replace"))

    def answer_picture(self) -> None:
        """The bytes of a row, if they are a picture of a kind that runs no code."""
        try:
            self.check_sender()
            key = self.address_fields().get("key", "").replace("\0", "")
            with self.server.turns, self.server.table.reading() as connection:
                stored = Queries(self.server.table, connection).picture(key) or b""
        except (Refused, Unsuitable, psycopg.Error):
            stored = b""
        kind = next((kind for kind, beginning in KINDS if beginning.match(stored)), None)
        self.send(200 if kind else 404, kind or "text/plain", stored if kind else b"")

    def check_sender(self) -> None:
        """Refuses what a page elsewhere makes a browser send, before anything of it is read."""
        # By a host name of its own, such a page could read what we answer.
        if self.headers.get("Host", "").split(":")[0] not in HOSTS:
            raise Refused(403, "This host name is not accepted", f"The explorer is at http://{LOOPBACK}.")
        # It cannot read an answer, but make us work. A link elsewhere may lead to the first page, which is quick.
        site = self.headers.get("Sec-Fetch-Site")
        origin = self.headers.get("Origin")
        is_foreign = site not in {None, "same-origin", "none"} or (
            # The browser's own word counts for more: a form of ours may come with the origin null.
            origin not in {None, f"http://{self.headers.get('Host')}"} and site != "same-origin"
        )
        if is_foreign and (self.command == "POST" or self.path != "/"):
            raise Refused(403, "This request came from another site", "Enter the address yourself, or begin with Search.")

    def page(self, fields: Fields) -> Page:
        page = ROUTES.get(self.path.partition("?")[0])
        if not page:
            raise Refused(404, "There is no such page", "The links above lead to the existing pages.")
        if "\0" in "".join(fields.values()):
            raise Refused(400, "This is not text", "It contains the character U+0000, which text files do not contain.")
        with self.server.turns, self.server.table.reading() as connection:
            return page(Queries(self.server.table, connection), fields)

    def address_fields(self) -> Fields:
        return Fields(parse_qsl(self.path.partition("?")[2]))

    def form_length(self) -> int | None:
        """The number of bytes of a form. None if the request does not say it."""
        length = self.headers.get("Content-Length", "")[:12]
        return int(length) if length.isascii() and length.isdigit() else None

    def form_fields(self) -> Fields:
        """The fields of a form, whose type and length are checked before it is read."""
        length = self.form_length()
        if length is None:
            raise unknown()
        boundary = boundary_of(self.headers.get("Content-Type", ""))
        if boundary is None or length > LARGEST_BODY:
            self.throw_away(min(length, LARGEST_REFUSED))
            raise too_large() if boundary else unknown()
        return read_form(boundary, self.rfile.read(length))

    def form_without_a_turn(self) -> Fields:
        self.throw_away(self.form_length() or 0)
        raise Refused(503, "Other large texts are being searched for", "Try again in a few seconds.")

    def throw_away(self, length: int) -> None:
        while length > 0 and (piece := self.rfile.read(min(length, 65_536))):
            length -= len(piece)

    def send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            if self.server.table.has_addresses:
                value = value.replace("img-src 'self'", "img-src 'self' https: http:")
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        # A visitor who goes on does not wait for all pictures.
        with suppress(ConnectionError):
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: addresses have keys of the table."""
