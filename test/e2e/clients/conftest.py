"""What the suites share: the running stack, its users, and a machine that runs jobs.

The first user only reads: the lists of the demo data must not change under the tests that compare them. The second one
creates, each test in a project of its own, so that several suites can run side by side.
"""

import json
import os
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest
from cloud_client import log_in
from machine import Machine
from pasqal_cloud.device import DeviceTypeName
from sequence import sequence


@pytest.fixture(scope="session")
def stack():
    return SimpleNamespace(**json.loads(Path(os.environ["STACK_JSON"]).read_text()))


@pytest.fixture(scope="session")
def reader(stack):
    """The user whose data nobody changes."""
    return stack.users[0]


@pytest.fixture(scope="session")
def writer(stack):
    """The user who creates."""
    return stack.users[1]


@pytest.fixture(scope="session")
def reading_client(stack, reader):
    return log_in(stack, reader)


@pytest.fixture
def project_id():
    return str(uuid4())


@pytest.fixture
def machine(stack, writer):
    return Machine(stack, writer)


@pytest.fixture
def client(stack, writer, project_id):
    """The creating user's, in the test's own project."""
    return log_in(stack, writer, project_id)


@pytest.fixture
def create(client):
    """Creates a batch for an emulator, with `jobs` jobs of 100, 200, ... runs."""

    def create_batch(jobs=1, **options):
        return client.create_batch(
            sequence("omega"),
            [{"runs": 100 * (index + 1), "variables": {"omega": index}} for index in range(jobs)],
            device_type=DeviceTypeName.EMU_FREE,
            **options,
        )

    return create_batch
