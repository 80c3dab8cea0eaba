"""What a piece of work takes, measured in a process of its own."""

import contextlib
import os
import pickle
import resource
import sys
import time
import traceback

COLUMNS = ["question", "data", "peer", "settings", "found", "false", "build_s", "query_ms", "peak_mb", "bytes"]
# How long all queries of one question may take.
SECONDS = 20


def in_child(work):
    """The result of `work`, the seconds of processor time and the megabytes that it took more than were there.

    A child shares what its parent has loaded, and gives back all memory at its end.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            before = resource.getrusage(resource.RUSAGE_SELF)
            result = work()
            after = resource.getrusage(resource.RUSAGE_SELF)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            with os.fdopen(write, "wb") as pipe:
                pickle.dump((result, seconds, (after.ru_maxrss - before.ru_maxrss) / 1024), pipe)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    if not answer:
        raise RuntimeError("the peer has failed")
    return pickle.loads(answer)


@contextlib.contextmanager
def or_left_out(peer):
    """Goes on without a peer that fails, and says so."""
    try:
        yield
    except Exception as error:
        print(f"left out: {peer}: {error}", file=sys.stderr)


def cpu_seconds(work):
    """The result of `work`, and the processor time of this process that it took."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def ask_each(queries, ask):
    """The answers of `ask`, which gives one and its seconds, and all seconds: to as many queries as there is time for."""
    answers = []
    took = 0.0
    for query in queries:
        answer, seconds = ask(query)
        answers.append(answer)
        took += seconds
        if took > SECONDS:
            break
    return answers, took


class Server:
    """A session of PostgreSQL, whose processor time and memory the kernel knows."""

    def __init__(self, connection):
        self.connection = connection
        self.process = f"/proc/{connection.info.backend_pid}"

    def seconds(self):
        with open(f"{self.process}/schedstat") as file:
            return int(file.read().split()[0]) / 1e9

    def peak_mb(self):
        """Its own memory, without what it shares with other sessions."""
        with open(f"{self.process}/status") as file:
            sizes = dict(line.split(":", 1) for line in file)
        kilobytes = lambda name: int(sizes[name].split()[0])
        return (kilobytes("VmHWM") - kilobytes("RssShmem") - kilobytes("RssFile")) / 1024

    def run(self, statement, parameters=None, prepare=None):
        """The rows, and the processor time."""
        start = self.seconds()
        cursor = self.connection.execute(statement, parameters, prepare=prepare)
        rows = cursor.fetchall() if cursor.description else []
        return rows, self.seconds() - start


def report(writer, **row):
    """Writes a line of the table."""
    assert set(row) <= set(COLUMNS), row
    writer.writerow({name: f"{value:.4g}" if isinstance(value, float) else value for name, value in row.items()})
