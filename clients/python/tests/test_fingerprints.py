"""The functions without a database: published fingerprints, errors, threads."""

import json
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import simhash_pg
from simhash_pg import (
    code_decode,
    code_encode,
    hamming,
    hamming_similarity,
    minhash,
    signed,
    simhash,
    unsigned,
    winnow_sketch,
)
from texts import texts

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("path", "scheme"),
    [
        ("tests/vectors/doc1.json", "doc1"),
        ("tests/vectors/doc2.json", "doc2"),
        ("crates/text/tests/vectors/schemes.json", None),
    ],
)
def test_published_fingerprints(path: str, scheme: str | None) -> None:
    vectors = json.loads((ROOT / path).read_text(encoding="utf-8"))
    assert len(vectors) > 100
    for vector in vectors:
        arguments = vector["text"], scheme or vector["scheme"]
        if "\0" in vector["text"]:
            with pytest.raises(ValueError, match="NUL"):
                simhash(*arguments)
        else:
            made = simhash(*arguments)
            assert (made if made is None else f"{unsigned(made):016x}") == vector["fingerprint"], arguments


def test_defaults_are_those_of_sql() -> None:
    text = "The quick brown fox jumps over the lazy dog"
    assert simhash(text) == simhash(text, "doc2") == signed(0xCEDD212CB2C012A8)
    assert minhash(text) == minhash(text, 128, "word:3") == minhash(text, bins=128, scheme="word:3")
    assert minhash(text) == minhash(text, 128, "word:3") == minhash(text, bins=128, scheme="word:3")
    assert winnow_sketch(text * 9) == winnow_sketch(text * 9, 50, 100) == winnow_sketch(text * 9, length=50, span=100)
    assert simhash("") is minhash("") is None
    assert winnow_sketch("") == []


@pytest.mark.parametrize("function", [simhash, minhash, winnow_sketch])
def test_bytes_are_text_in_utf8(function: Any) -> None:
    for text in texts(200):
        assert function(text.encode()) == function(text)


def test_distances() -> None:
    assert hamming(signed(0xA3DBF34F76EA0510), signed(0xA39BF85F76EA1510)) == 6
    assert hamming(-1, 0) == 64
    assert hamming_similarity(0, 1) == 63 / 64


def test_unsigned_numbers() -> None:
    for bigint, number in [(0, 0), (-1, 2**64 - 1), (2**63 - 1, 2**63 - 1), (-(2**63), 2**63)]:
        assert unsigned(bigint) == number
        assert signed(number) == bigint
    for wrong in (-1, 2**64):
        with pytest.raises(ValueError, match=f"{wrong} is not an unsigned number"):
            signed(wrong)
    for wrong in (-(2**63) - 1, 2**63):
        with pytest.raises(ValueError, match=f"{wrong} is not a bigint"):
            unsigned(wrong)


@pytest.mark.parametrize("function", [simhash, minhash, winnow_sketch])
def test_texts_that_postgresql_cannot_hold(function: Any) -> None:
    with pytest.raises(ValueError, match="text has a NUL character at byte 3"):
        function("ä \0")
    with pytest.raises(ValueError, match="surrogates not allowed"):
        function("a \ud800 b")
    with pytest.raises(ValueError, match="text has a NUL character at byte 3"):
        function("ä \0".encode())
    with pytest.raises(UnicodeDecodeError, match="can't decode byte.* 0xff in position 2"):
        function(b"a \xff b")
    for other in (None, 1, bytearray(b"a"), ["a"]):
        with pytest.raises(TypeError):
            function(other)


def test_huge_text() -> None:
    # The largest text of PostgreSQL is 1 GB less five bytes.
    with pytest.raises(ValueError, match="text of 1073741820 bytes is too large"):
        winnow_sketch("é" * (2**29 - 2))


def test_arguments_out_of_range() -> None:
    for call, message in [
        (lambda: simhash("a", "word:33"), "Valid values are 1 to 32"),
        (lambda: simhash("a", "ham"), 'unknown fingerprint scheme "ham"\nValid schemes are doc2'),
        (lambda: minhash("a", 0), "bins 0 is out of range\nValid values are 1 to 4096"),
        (lambda: winnow_sketch("a", span=10_001), "span 10001 is out of range"),
        (lambda: hamming(2**64 - 1, 0), "fingerprint 18446744073709551615 is not a bigint"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError):
        hamming("1", 2)  # type: ignore[arg-type]


def test_threads_get_the_same_results() -> None:
    some = texts(500)

    def all_of(text: str) -> list[Any]:
        return [simhash(text), simhash(text, "word:2"), minhash(text, 64), winnow_sketch(text, 5, 9)]

    expected = [all_of(text) for text in some]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(all_of, some * 4)) == expected * 4


@pytest.mark.parametrize("function", [simhash, minhash, winnow_sketch])
def test_other_threads_run_meanwhile(function: Any) -> None:
    """This thread sees that the other has begun, and not ended, its call."""
    text = "".join(texts(500)) * 10
    seen = []

    def call(begun: Event, ended: Event) -> None:
        begun.set()
        function(text)
        ended.set()

    # No thread has to give way, so ours can run only if the call lets it.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        for _ in range(20):
            begun = Event()
            ended = Event()
            thread = Thread(target=call, args=(begun, ended))
            thread.start()
            begun.wait()
            seen.append(not ended.is_set())
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert any(seen)


def test_every_function_is_exported() -> None:
    assert all(hasattr(simhash_pg, name) for name in simhash_pg.__all__)


@pytest.mark.parametrize("function", [simhash, minhash, winnow_sketch])
def test_signals_are_heard_within_a_long_text(function: Any) -> None:
    """A handler runs twice within one call. Signals that nobody asks for are handled once, after the call."""
    text = "".join(texts(500)) * 10
    heard = []
    handler = signal.signal(signal.SIGALRM, lambda *_: heard.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.06, 0.06)
    try:
        for _ in range(6):
            heard.clear()
            function(text)
            if len(heard) > 1:
                break
            text *= 3
        assert len(heard) > 1

        class Stop(Exception):
            pass

        def stop(*_: Any) -> None:
            raise Stop

        # Once: a second signal could come while the first exception is handled.
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, stop)
        with pytest.raises(Stop):
            signal.setitimer(signal.ITIMER_REAL, 0.06)
            function(text)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    # What was given up leaves nothing behind.
    some = texts(50)
    with ThreadPoolExecutor(1) as threads:
        assert [function(one) for one in some] == list(threads.map(function, some))


class Finalized:
    """Calls a function when it is deleted."""

    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call

    def __del__(self) -> None:
        self.call()


def in_a_thread(call: Callable[[], None]) -> None:
    thread = Thread(target=call)
    thread.start()
    thread.join()


@pytest.mark.parametrize("way", [lambda call: call(), Finalized, in_a_thread], ids=["handler", "finalizer", "thread"])
@pytest.mark.parametrize("function", [simhash, minhash, winnow_sketch])
def test_calls_within_a_call(function: Any, way: Callable[[Callable[[], None]], Any]) -> None:
    """While one of the functions runs, a signal handler calls all of them, and neither changes what the other returns."""
    some = texts(50)
    text = "".join(texts(500)) * 10
    handled: list[int] = []
    within: list[Any] = []

    def all_of_some() -> list[Any]:
        return [[simhash(one), minhash(one), winnow_sketch(one)] for one in some]

    def handle(number: int, *_: Any) -> None:
        handled.append(number)
        way(lambda: within.append(all_of_some()))
        # Only now, since another signal would interrupt this handler.
        signal.setitimer(signal.ITIMER_REAL, 0.06)

    expected = all_of_some()
    handler = signal.signal(signal.SIGALRM, handle)
    try:
        for _ in range(6):
            result = function(text)
            handled.clear()
            within.clear()
            signal.setitimer(signal.ITIMER_REAL, 0.06)
            again = function(text)
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert again == result
            # The last signal may have come after the end.
            if len(handled) > 1:
                break
            text *= 3
        assert len(handled) > 1 and within == [expected] * len(handled)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


@pytest.mark.parametrize("wrong", [True, False, 1.5, "1", None])
def test_fingerprints_are_ints(wrong: Any) -> None:
    for function in (hamming, hamming_similarity):
        with pytest.raises(TypeError, match="a fingerprint is an int, not <class"):
            function(wrong, 0)
        with pytest.raises(TypeError, match="a fingerprint is an int, not <class"):
            function(0, wrong)


def test_codes() -> None:
    bits = "100010110001111111001101"
    for code in "8b1fcd", " 8B1\nfcd", b"\x8b\x1f\xcd":
        assert code_decode(code) == bits
    assert code_decode(0x8B1FCD, bits=24) == bits
    assert code_decode(-1, bits=64) == code_decode(2**64 - 1, bits=64) == "1" * 64
    assert code_encode(bits) == "8b1fcd"
    assert code_encode(bits, "bytes") == b"\x8b\x1f\xcd"
    assert code_encode(bits, "int") == 0x8B1FCD
    assert code_decode("") == "" and code_encode("") == ""


def test_codes_that_are_wrong() -> None:
    for call, message in [
        (lambda: code_decode("0xff"), '"x" is not a hexadecimal digit'),
        (lambda: code_decode("ff", bits=9), "a code of 9 bits is needed, and this one has 8"),
        (lambda: code_decode(256, bits=8), "256 has more than 8 bits"),
        (lambda: code_encode("10101"), "cannot write a code of 5 bits in hex"),
        (lambda: code_encode("12"), "of the digits 0 and 1"),
        (lambda: code_encode("1", "text"), "Valid formats are"),  # type: ignore[call-overload]
    ]:
        with pytest.raises(ValueError, match=message):
            call()
    for wrong in (1, True, 1.5, None):
        with pytest.raises(TypeError):
            code_decode(wrong)  # type: ignore[arg-type]
