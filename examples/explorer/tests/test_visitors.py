"""Many visitors at once, and slow ones: how many are served, and of how many a large form is read."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import psycopg
import pytest

from explorer import server
from explorer.forms import LARGEST_BODY
from explorer.server import LARGEST_SMALL_FORM, MOST_CONNECTIONS, MOST_LARGE_FORMS
from explorer.table import Wanted

from .conftest import READER, served_as
from .test_server import ask, post

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

FORM = b"POST / HTTP/1.0\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=xyz\r\nContent-Length: %d\r\n\r\n"


@pytest.fixture
def own_site(owner: psycopg.Connection) -> Iterator[str]:
    """An explorer that nobody else visits."""
    with served_as(Wanted(READER, "document")) as address:
        yield address


def connect(site: str) -> socket.socket:
    address = urlsplit(site)
    return socket.create_connection((address.hostname, address.port), timeout=60)


def wait_until(is_so: Callable[[], bool]) -> None:
    """Waits for what a thread of the server does. If it never does it, the test is ended from outside."""
    while not is_so():
        time.sleep(0.01)


def test_the_number_of_connections_is_limited(own_site: str) -> None:
    with ExitStack() as silent:
        connections = [silent.enter_context(connect(own_site)) for _ in range(MOST_CONNECTIONS)]
        for _ in range(3):
            # The visitor learns it without having sent anything.
            with connect(own_site) as refused:
                answer = refused.makefile("rb").read()
                assert answer.startswith(b"HTTP/1.0 503 ") and b"\r\nRetry-After: 5\r\n" in answer
        connections[0].close()
        wait_until(lambda: ask_or_none(own_site) == 200)
    for _ in range(2 * MOST_CONNECTIONS):
        wait_until(lambda: ask_or_none(own_site) == 200)


def ask_or_none(site: str) -> int | None:
    """The status of an answer. None if the connection was refused before the request was sent."""
    with suppress(ConnectionError):
        return ask(site, "/style.css")[0].status
    return None


def test_large_forms_are_received_four_at_a_time(own_site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    received: dict[int, int] = {}

    class Counted(server.Incoming):
        def readinto(self, buffer: WriteableBuffer, /) -> int:
            visitor = self.connection.getpeername()[1]
            received.setdefault(visitor, 0)
            length = super().readinto(buffer)
            received[visitor] += length
            return length

    def large() -> int:
        return sum(length > LARGEST_SMALL_FORM for length in received.values())

    def send_all_but_the_last_byte(connection: socket.socket) -> None:
        # A visitor whose form is not read is stopped by the connection.
        with suppress(OSError):
            connection.sendall(FORM % LARGEST_BODY + b"x" * (LARGEST_BODY - 1))

    monkeypatch.setattr(server, "Incoming", Counted)
    with ExitStack() as visitors:
        connections = [visitors.enter_context(connect(own_site)) for _ in range(3 * MOST_LARGE_FORMS)]
        for connection in connections:
            Thread(target=send_all_but_the_last_byte, args=(connection,), daemon=True).start()
        wait_until(lambda: len(received) == len(connections))
        wait_until(lambda: sum(length > LARGEST_BODY for length in received.values()) >= MOST_LARGE_FORMS)
        # The others have their turns, and small forms need none.
        assert ask(own_site, "/clusters")[0].status == 200
        assert post(own_site, b"some words")[0].status == 200
        assert large() == MOST_LARGE_FORMS
        # This is the end of one of them, which is no form of the explorer.
        ended = next(one for one in connections if received[one.getsockname()[1]] > LARGEST_BODY)
        ended.sendall(b"x")
        assert ended.makefile("rb").readline().split()[1] == b"400"
        wait_until(lambda: large() == MOST_LARGE_FORMS + 1)


def test_a_large_form_without_a_turn_is_refused(owner: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    def must_not_be_called(boundary: bytes, body: bytes) -> None:
        raise AssertionError("a form was read that has no turn")

    monkeypatch.setattr(server, "MOST_LARGE_FORMS", 0)
    monkeypatch.setattr(server, "read_form", must_not_be_called)
    with served_as(Wanted(READER, "document")) as site:
        monkeypatch.setattr(server, "TIME_LIMIT", 1)
        response, page = post(site, b"word " * LARGEST_SMALL_FORM)
        assert response.status == 503 and "Other large texts are being searched for" in page


@pytest.mark.parametrize("first, rest", [
    (b"GET / HTTP/1.0\r\nHost: localhost\r\nA: ", b"a" * 300 + b"\r\n\r\n"),
    (FORM % 300, b"x" * 300),
])
def test_slow_visitors_are_disconnected(
    own_site: str, monkeypatch: pytest.MonkeyPatch, first: bytes, rest: bytes
) -> None:
    """No pause is as long as the limit, but all of them together are."""
    monkeypatch.setattr(server, "TIME_LIMIT", 1)
    with connect(own_site) as connection:
        with suppress(ConnectionError):
            connection.sendall(first)
            for at in range(len(rest)):
                time.sleep(0.01)
                connection.sendall(rest[at:at + 1])
        with suppress(ConnectionError):
            assert connection.makefile("rb").readline() == b""
