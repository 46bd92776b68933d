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
from typing import NamedTuple

from simulators import QUTIP, Simulator, draw_new_seeds

# New processes are forked from one that has imported the simulators already: they start at once.
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([QUTIP.package])


def import_simulators(packages: list[str]) -> None:
    """In the process that others are forked from, so that no job need wait for it. Returns at once."""
    _context.set_forkserver_preload(packages)
    forkserver.ensure_running()


class Model(NamedTuple):
    """What plays a device."""

    specs: str
    simulator: Simulator = QUTIP
    noise_numbers: dict | None = None


class ChildDied(Exception):
    """The process ended without an answer: what was wrong is not known to be the job's fault."""


def run_in_child(batch: dict, job: dict, model: Model, seconds: float, is_over: Callable[[], bool]) -> dict | None:
    """`{"results": document}`, `{"error": text for the user}`, or None once `is_over()`: the process is killed then.

    Raises ChildDied.
    """
    receiver, sender = _context.Pipe(duplex=False)
    child = _context.Process(target=_simulate, args=(sender, batch, job, model), daemon=True)
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


def _simulate(connection: Connection, batch: dict, job: dict, model: Model) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(ValueError):  # macOS knows no such limit.
        limit = model.simulator.max_memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
    warnings.simplefilter("ignore")
    from simulation import InputFault, simulate

    draw_new_seeds()
    try:
        outcome = {"results": simulate(batch, job, *model)}
    except InputFault as fault:
        outcome = {"error": str(fault)}
    connection.send(outcome)


def _end_with_parent() -> None:
    """A worker that was killed leaves no simulation behind."""
    wait([multiprocessing.parent_process().sentinel])
    os._exit(1)
