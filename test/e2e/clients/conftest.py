"""What both suites share: the running stack, its users, and a machine that runs jobs.

The first user only reads: the lists of the demo data must not change under the tests that compare them. The second one
creates, each test in a project of its own, so that several suites can run side by side.
"""

import json
import os
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest
from machine import Machine
from pasqal_cloud.device import DeviceTypeName
from pasqal_cloud.endpoints import AUTH0_TOKEN_PROVIDER_GRANT_TYPE, AUDIENCE, REALM, Endpoints, TokenProviderConf
from sequence import sequence

try:
    from pasqal_cloud.pasqal_cloud_client import PasqalCloudClient
except ImportError:  # 0.22
    from pasqal_cloud import SDK as PasqalCloudClient


def token_conf(stack, grant_type=AUTH0_TOKEN_PROVIDER_GRANT_TYPE):
    return TokenProviderConf(
        token_endpoint=stack.tokenEndpoint,
        public_client_id="any",
        audience=AUDIENCE,
        realm=REALM,
        grant_type=grant_type,
    )


def log_in(stack, user, project_id=None, path="", client_class=PasqalCloudClient, **options):
    base_url = stack.baseUrl + path
    return client_class(
        username=user["username"],
        password=user["password"],
        endpoints=Endpoints(core=base_url, account=base_url),
        auth_config=token_conf(stack),
        project_id=project_id,
        **options,
    )


def fields(item):
    """What the client's model knows of a batch or a job."""
    return {name: getattr(item, name) for name in type(item).model_fields}


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
