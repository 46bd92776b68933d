"""The Python snippets of the OpenAPI document, as a reader copies them, on batches and jobs of the test's own."""

import ast

import pytest
import requests
from cloud_client import log_in

METHODS = ("get", "post", "put", "patch", "delete")
ADDRESS = "https://api.example.org"


@pytest.fixture(scope="session")
def operations(stack):
    document = requests.get(stack.openapiUrl, timeout=30).json()
    return [operation for path in document["paths"].values() for name, operation in path.items() if name in METHODS]


def python_of(operation):
    [sample] = [sample for sample in operation["x-codeSamples"] if sample["lang"] == "Python"]
    return sample["source"]


def is_of_users(operation):
    """Devices and operators ask with tokens of their own."""
    return operation["tags"] not in (["For devices"], ["For operators"])


@pytest.fixture
def client(stack, writer, project_id):
    """Its batches have a webhook at which nobody listens."""
    return log_in(stack, writer, project_id, webhook="http://127.0.0.1:9/")


@pytest.fixture
def own_ids(create, client, machine):
    """Makes an open batch with a failed job and one that waits: the ids that take the place of those in the snippets."""

    def make(before=None):
        batch = create(2, open=True)
        failed, waiting = batch.ordered_jobs
        machine.fail(failed.id, "The register could not be assembled.")
        if before is not None:
            before(batch.id)
        return {"batch_id": batch.id, "job_id": waiting.id}

    return make


def test_every_snippet_is_python(operations):
    for operation in operations:
        ast.parse(python_of(operation))


def test_every_snippet_of_users_works(operations, own_ids, client, stack, writer, monkeypatch, capsys):
    monkeypatch.setenv("TOKEN", writer["token"])
    before = {"rebatch": client.close_batch, "eraseBatch": client.cancel_batch}
    tried = 0
    for operation in filter(is_of_users, operations):
        name = operation["operationId"]
        source = python_of(operation).replace(ADDRESS, stack.baseUrl)
        examples = {
            parameter["name"]: parameter["schema"]["examples"][0]
            for parameter in operation["parameters"]
            # Devices and their latest calibration are no one's own.
            if parameter["in"] == "path" and parameter["name"] not in ("device_type", "number")
        }
        if examples:
            own = own_ids(before.get(name))
            for parameter, example in examples.items():
                source = source.replace(example, own[parameter])
        capsys.readouterr()
        exec(compile(source, name, "exec"), {"__name__": "snippet"})
        assert capsys.readouterr().out, f"{name} prints nothing"
        tried += 1
    assert tried > 20
