"""python3 -m explorer: shows a table until it is interrupted."""

from __future__ import annotations

import argparse
import signal
import sys

import psycopg

from .server import LOOPBACK, Server
from .safety import Unsuitable
from .table import Wanted, find_table


def main() -> int:
    parser = argparse.ArgumentParser(prog="explorer", description="Shows near-duplicates in a table with fingerprints.")
    parser.add_argument("--database", required=True, help="a name, or a connection string of libpq")
    parser.add_argument("--table", required=True)
    for column in ("text", "fingerprint", "key", "title", "picture"):
        parser.add_argument(f"--{column}", help="a column; detected if it is not specified")
    parser.add_argument("--scheme", help="that of the fingerprints; detected if it is not specified")
    parser.add_argument("--port", type=int, default=8765, help="0 selects a free one")
    parser.add_argument("--trust", default="", metavar="ROLE,ROLE",
                        help="roles, such as the table's owner, whose code may be executed with all of your privileges")
    options: dict[str, str] = {name: value for name, value in vars(parser.parse_args()).items() if value is not None}
    port = int(options.pop("port"))
    trust = tuple(name for name in options.pop("trust").split(",") if name)
    try:
        table = find_table(Wanted(**options, trust=trust))
        server = Server(table, port)
    except (Unsuitable, psycopg.Error) as problem:
        return fail(str(problem).strip())
    except (OSError, OverflowError) as problem:
        return fail(f"Port {port} cannot be used ({problem}). Select another one by PORT=.")
    print(f"table {table.schema}.{table.name}: {table.columns}")
    place = f"http://{LOOPBACK}:{server.server_address[1]}/"
    print(f"open {place} in a browser on this machine; press Ctrl-C to stop", flush=True)
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, stop)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()
    return 0


def stop(*_: object) -> None:
    """Stops the server at the first signal. After Ctrl-C in a terminal, the calling script sends a second one."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: None)
    raise KeyboardInterrupt


def fail(message: str) -> int:
    print(f"explorer: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
