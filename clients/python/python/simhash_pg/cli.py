"""The program `simhash`: fingerprints of files or lines, to read or for COPY."""

import argparse
import csv
import io
import signal
import sys
from typing import BinaryIO, TextIO

from simhash_pg import simhash

# Lines between two updates of the progress bar.
LINES_PER_UPDATE = 1000
BAR_WIDTH = 30


class Progress:
    """A bar on the terminal, in place; nothing if standard error is not a terminal."""

    def __init__(self, files: int, terminal: TextIO) -> None:
        self.files = files
        self.terminal = terminal
        self.shown = terminal.isatty()

    def show(self, done: int, lines: int = 0) -> None:
        if self.shown:
            bar = "#" * (BAR_WIDTH * done // self.files)
            counted = f", line {lines:,}" if lines else ""
            self.terminal.write(f"\r\x1b[K[{bar:<{BAR_WIDTH}}] {done} of {self.files} files{counted}")
            self.terminal.flush()

    def clear(self) -> None:
        if self.shown:
            self.terminal.write("\r\x1b[K")
            self.terminal.flush()


class Program:
    """One run of the program. `failed` says whether any text had no result because of an error."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.failed = False
        self.progress = Progress(len(options.files), sys.stderr)
        self.table = csv.writer(sys.stdout, lineterminator="\n")

    def run(self) -> None:
        for done, name in enumerate(self.options.files):
            self.progress.show(done)
            try:
                if name == "-":
                    self.read(done, name, sys.stdin.buffer)
                else:
                    with open(name, "rb") as file:
                        self.read(done, name, file)
            except OSError as error:
                self.report(name, error.strerror or str(error))
        self.progress.clear()

    def read(self, done: int, name: str, file: BinaryIO) -> None:
        if not self.options.lines:
            self.write([name], file.read())
            return
        for number, line in enumerate(file, 1):
            if number % LINES_PER_UPDATE == 0:
                self.progress.show(done, number)
            self.write([name, str(number)], line.removesuffix(b"\n").removesuffix(b"\r"))

    def write(self, place: list[str], content: bytes) -> None:
        """Writes the fingerprint of the text at this place, or why there is none."""
        try:
            if self.options.csv:
                # Names of files are bytes, and what COPY reads is text.
                "".join(place).encode()
            fingerprint = simhash(content, self.options.scheme)
        except ValueError as error:
            self.report(":".join(place), str(error).partition("\n")[0])
            return
        if sys.stdout.isatty():
            self.progress.clear()
        if self.options.csv:
            # COPY reads an empty field as NULL.
            self.table.writerow([*place, fingerprint])
        else:
            print("NULL" if fingerprint is None else fingerprint, ":".join(place), sep="\t")

    def report(self, place: str, message: str) -> None:
        self.failed = True
        self.progress.clear()
        print(f"simhash: {place}: {message}", file=sys.stderr)


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="simhash",
        description="Writes the fingerprint of each text: the same number that the SQL function simhash of the "
        "PostgreSQL extension simhash_pg gives. Texts are in UTF-8. A text without features has the fingerprint NULL.",
        epilog=r"In psql: \copy document (path, si) from program 'simhash --csv texts/*.txt' csv",
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="a file with one text; - is standard input")
    parser.add_argument("--lines", action="store_true", help="each line of a file is a text")
    parser.add_argument("--scheme", default="doc2", help="how fingerprints are made (default: %(default)s)")
    parser.add_argument(
        "--csv",
        action="store_true",
        help="write CSV for COPY: file and fingerprint; with --lines: file, line, fingerprint",
    )
    return parser


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        simhash("", options.scheme)
    except ValueError as error:
        parser().error(str(error))
    # Ctrl-C also stops a long text. SIGPIPE, which Windows lacks, comes when the reader of our output stops early.
    for name in {"SIGINT", "SIGPIPE"} & set(dir(signal)):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        # Names of files are bytes. A name that is not UTF-8 is written as it is.
        assert isinstance(stream, io.TextIOWrapper)
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    program = Program(options)
    program.run()
    return 1 if program.failed else 0
