"""The program `simhash`, as a shell runs it."""

import csv
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from simhash_pg import simhash

PROGRAM = str(Path(sys.executable).with_name("simhash"))
FIRST = "The harbour office closed the old ferry terminal on Friday."
SECOND = "Größe, Maß und Übermut: das Märchen"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "first.txt").write_text(FIRST, encoding="utf-8")
    (tmp_path / "second.txt").write_bytes(SECOND.encode())
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "lines.txt").write_bytes(f"{FIRST}\r\n\n{SECOND}".encode())
    (tmp_path / "latin1.txt").write_bytes("Größe\nGrosse Masse".encode("latin1"))
    return tmp_path


def run(folder: Path, *arguments: str, status: int = 0, stdin: bytes = b"") -> tuple[str, str]:
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, input=stdin, capture_output=True)
    assert done.returncode == status, done
    return done.stdout.decode(), done.stderr.decode()


def test_files(folder: Path) -> None:
    out, errors = run(folder, "first.txt", "empty.txt", "second.txt")
    assert out == f"{simhash(FIRST)}\tfirst.txt\nNULL\tempty.txt\n{simhash(SECOND)}\tsecond.txt\n"
    assert errors == ""


def test_scheme_and_standard_input(folder: Path) -> None:
    out, _ = run(folder, "--scheme", "word:2", "-", stdin=SECOND.encode())
    assert out == f"{simhash(SECOND, 'word:2')}\t-\n"
    _, errors = run(folder, "--scheme", "none", "first.txt", status=2)
    assert 'unknown fingerprint scheme "none"' in errors


def test_lines(folder: Path) -> None:
    out, _ = run(folder, "--lines", "lines.txt")
    assert out == f"{simhash(FIRST)}\tlines.txt:1\nNULL\tlines.txt:2\n{simhash(SECOND)}\tlines.txt:3\n"


def test_errors_are_told_file_by_file(folder: Path) -> None:
    (folder / "nul.txt").write_bytes(b"a\0b")
    out, errors = run(folder, "none.txt", "latin1.txt", ".", "nul.txt", "first.txt", status=1)
    assert out == f"{simhash(FIRST)}\tfirst.txt\n"
    assert errors.splitlines() == [
        "simhash: none.txt: No such file or directory",
        "simhash: latin1.txt: 'utf-8' codec can't decode byte 0xf6 in position 2: invalid utf-8",
        "simhash: .: Is a directory",
        "simhash: nul.txt: text has a NUL character at byte 1",
    ]
    out, errors = run(folder, "--lines", "latin1.txt", status=1)
    assert out == f"{simhash('Grosse Masse')}\tlatin1.txt:2\n"
    assert errors.startswith("simhash: latin1.txt:1: ")


def test_names_that_are_not_utf8(folder: Path) -> None:
    name = b"gr\xf6sse.txt"
    (folder / os.fsdecode(name)).write_text(FIRST)
    done = subprocess.run([PROGRAM, name], cwd=folder, capture_output=True)
    assert done.stdout == b"%d\t%s\n" % (simhash(FIRST), name)
    done = subprocess.run([PROGRAM, "--csv", name], cwd=folder, capture_output=True)
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr.startswith(b"simhash: gr\xf6sse.txt: 'utf-8' codec can't encode")


def test_csv_for_copy(folder: Path, connection: psycopg.Connection) -> None:
    (folder / 'a, "b"\n.txt').write_text(FIRST)
    names = sorted(path.name for path in folder.iterdir() if path.name != "latin1.txt")
    out, _ = run(folder, "--csv", *names)
    connection.execute("CREATE TABLE document (path text, si bigint)")
    with connection.cursor().copy("COPY document FROM STDIN (FORMAT csv)") as copy:
        copy.write(out)
    rows = connection.execute("SELECT path, si FROM document").fetchall()
    assert sorted(rows) == [(name, simhash((folder / name).read_bytes().decode())) for name in names]

    out, _ = run(folder, "--csv", "--lines", "lines.txt")
    assert list(csv.reader(out.splitlines())) == [
        ["lines.txt", "1", str(simhash(FIRST))],
        ["lines.txt", "2", ""],
        ["lines.txt", "3", str(simhash(SECOND))],
    ]


def test_copy_from_the_program(folder: Path, database: str) -> None:
    """The command of the help, in psql."""
    commands = rf"""CREATE TABLE page (path text, si bigint);
        \copy page (path, si) from program '{PROGRAM} --csv {folder}/*t.txt' csv
        SELECT path, si FROM page"""
    done = subprocess.run(
        ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", database],
        input=commands.encode(), cwd=folder, capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout.decode() == f"{folder}/first.txt|{simhash(FIRST)}\n"


def test_reader_that_stops_early(folder: Path) -> None:
    (folder / "many.txt").write_text(f"{FIRST}\n" * 100_000)
    shell = f"{PROGRAM} --lines many.txt | head -n 1"
    done = subprocess.run(["bash", "-c", shell], cwd=folder, capture_output=True, check=True)
    assert done.stdout.decode() == f"{simhash(FIRST)}\tmany.txt:1\n"
    assert done.stderr == b""


def test_progress_on_a_terminal(folder: Path) -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run([PROGRAM, "first.txt", "second.txt"], cwd=folder, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = ""
    # The end of a terminal is an error.
    with suppress(OSError):
        while piece := os.read(ours, 1000):
            shown += piece.decode()
    os.close(ours)
    assert f"[{'#' * 15:<30}] 1 of 2 files" in shown
    assert shown.endswith("\r\x1b[K")
    assert done.stdout.decode().count("\n") == 2
