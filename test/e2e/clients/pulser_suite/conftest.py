import pytest
from pulser_sequences import connect


@pytest.fixture
def connection(stack, writer, project_id):
    """The creating user's, in the test's own project."""
    return connect(stack, writer, project_id)


@pytest.fixture
def fresnel(connection):
    return connection.fetch_available_devices()["FRESNEL"]
