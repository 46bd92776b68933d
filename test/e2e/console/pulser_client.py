"""What someone does with Pulser beside the console, as the second account of a running local stack.

usage: pulser_client.py STACK_JSON write FILE      writes a program
       pulser_client.py STACK_JSON counts BATCH    prints the counts of the batch's only job, as Pulser gives them
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).parents[1] / "clients"))

from pulser import MockDevice, Register  # noqa: E402
from pulser.backend.remote import RemoteResults  # noqa: E402
from pulser_sequences import connect, parametrized  # noqa: E402


def write(file):
    """A square and two more, which the emulator leaves in many states."""
    sequence = parametrized(MockDevice, Register.rectangle(2, 3, spacing=7, prefix="q"))
    sequence.measure()
    Path(file).write_text(sequence.to_abstract_repr())


def counts(batch_id):
    stack = SimpleNamespace(**json.loads(Path(sys.argv[1]).read_text()))
    [result] = RemoteResults(batch_id, connect(stack, stack.users[1], str(uuid4()))).results
    print(json.dumps(dict(result.final_bitstrings)))


{"write": write, "counts": counts}[sys.argv[2]](sys.argv[3])
