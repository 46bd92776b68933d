"""Runs each job in a process of its own, which can be ended at any moment and takes its memory with it."""

import multiprocessing
import os
import resource
import signal
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait

MAX_MEMORY_BYTES = 4 * 1024**3

# New processes are forked from one that has imported Pulser already: they start at once.
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["pulser_simulation"])


def import_pulser() -> None:
    """In the process that others are forked from, so that the first job need not wait for it. Returns at once."""
    forkserver.ensure_running()


class ChildDied(Exception):
    """The process ended without an answer: what was wrong is not known to be the job's fault."""


def run_in_child(batch: dict, job: dict, specs: str, seconds: float, is_over: Callable[[], bool]) -> dict | None:
    """`{"results": document}`, `{"error": text for the user}`, or None once `is_over()`: the process is killed then.

    Raises ChildDied.
    """
    receiver, sender = _context.Pipe(duplex=False)
    child = _context.Process(target=_simulate, args=(sender, batch, job, specs), daemon=True)
    child.start()
    sender.close()
    deadline = time.monotonic() + seconds
    try:
        while not receiver.poll(0.1):
            if is_over():
                return None
            if time.monotonic() > deadline:
                return {"error": f"The simulation took longer than {seconds:g} s, the most that this emulator takes."}
        return receiver.recv()
    except EOFError:
        child.join()
        raise ChildDied(f"The simulation's process ended with exit code {child.exitcode}.") from None
    finally:
        receiver.close()
        child.kill()
        child.join()


def _simulate(connection: Connection, batch: dict, job: dict, specs: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(ValueError):  # macOS knows no such limit.
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    warnings.simplefilter("ignore")
    import numpy
    from simulation import InputFault, simulate

    # A forked process goes on with the random numbers of the one that it was forked from: every job
    # would get the same.
    numpy.random.seed()

    try:
        outcome = {"results": simulate(batch, job, specs)}
    except InputFault as fault:
        outcome = {"error": str(fault)}
    connection.send(outcome)


def _end_with_parent() -> None:
    """A worker that was killed leaves no simulation behind."""
    wait([multiprocessing.parent_process().sentinel])
    os._exit(1)
