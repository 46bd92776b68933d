"""The client of QRMI, which is written in Rust and puts /core-fast behind the base URL."""

import json
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from cloud_client import fields
from machine import counts
from pulser import MockDevice, Pulse, Register, Sequence
from qrmi import Payload, QrmiError, QuantumResource, ResourceStatusCode, ResourceType, TaskStatus
from qrmi.pulser.connection import PulserQRMIConnection
from sequence import sequence

specs_file = Path(__file__).parents[4] / "infra/local/demo/device-specs.json"


@pytest.fixture
def resource(monkeypatch, stack, writer, project_id):
    """A device by the name of its type, for the creating user."""

    def resource_of(device_type, username=writer["username"], password=writer["password"]):
        monkeypatch.setenv("PASQAL_USERNAME", username)
        monkeypatch.setenv("PASQAL_PASSWORD", password)
        monkeypatch.setenv(f"{device_type}_QRMI_PASQAL_CLOUD_BASE_URL", stack.baseUrl)
        monkeypatch.setenv(f"{device_type}_QRMI_PASQAL_CLOUD_AUTH_ENDPOINT", stack.tokenEndpoint)
        monkeypatch.setenv(f"{device_type}_QRMI_PASQAL_CLOUD_PROJECT_ID", project_id)
        return QuantumResource(device_type, ResourceType.PasqalCloud)

    return resource_of


def start(resource, runs=10):
    return resource.task_start(Payload.PasqalCloud(sequence=sequence(), job_runs=runs))


@pytest.mark.parametrize("device_type", ["FRESNEL", "EMU_FREE", "EMU_MPS"])
def test_a_device_that_is_there(resource, device_type):
    assert resource(device_type).is_accessible()
    assert resource(device_type).status().status == ResourceStatusCode.Online


def test_a_device_that_is_not_there(resource):
    with pytest.raises(QrmiError, match="failed to get device"):
        resource("FRESNEL_CAN1").is_accessible()


def test_the_specification_of_a_qpu(resource):
    [target] = json.loads(resource("FRESNEL").target().value)
    assert target == {"device_type": "FRESNEL", "specs": json.loads(specs_file.read_text())["FRESNEL"]}


def test_the_specifications_of_emulators_are_public(resource):
    public = {each["device_type"]: each["specs"] for each in json.loads(resource("EMU_FREE").target().value)}
    announced = json.loads(specs_file.read_text())
    assert public["EMU_FREE"] == announced["EMU_FREE"]


def test_a_task_is_run(resource, client, machine, project_id):
    emulator = resource("EMU_FREE")
    task_id = start(emulator, runs=77)
    assert emulator.task_status(task_id) == TaskStatus.Queued
    batch = client.get_batch(task_id)
    [job] = batch.ordered_jobs
    assert (batch.device_type, batch.project_id, batch.open, job.runs) == ("EMU_FREE", project_id, False, 77)
    machine.start(job.id)
    assert emulator.task_status(task_id) == TaskStatus.Running
    machine.finish(job.id, counter=counts, serialised_results="{}")
    assert emulator.task_status(task_id) == TaskStatus.Completed
    assert json.loads(emulator.task_result(task_id).value) == {"counter": counts}


def test_a_task_without_results(resource):
    emulator = resource("EMU_FREE")
    with pytest.raises(QrmiError, match="No results found"):
        emulator.task_result(start(emulator))


def test_a_task_that_failed(resource, client, machine):
    emulator = resource("EMU_FREE")
    task_id = start(emulator)
    machine.fail(client.get_batch(task_id).ordered_jobs[0].id, "The register could not be assembled.")
    assert emulator.task_status(task_id) == TaskStatus.Failed


def test_a_task_is_stopped(resource, client):
    emulator = resource("EMU_FREE")
    task_id = start(emulator)
    for _ in range(2):
        emulator.task_stop(task_id)
        assert emulator.task_status(task_id) == TaskStatus.Cancelled
    assert client.get_batch(task_id).status == "CANCELED"


def test_wrong_input(resource):
    emulator = resource("EMU_FREE")
    with pytest.raises(QrmiError, match="422"):
        start(emulator, runs=0)
    with pytest.raises(QrmiError, match="422"):
        emulator.task_start(Payload.PasqalCloud(sequence="no JSON", job_runs=1))


def test_another_users_task(resource, reader, client):
    task_id = start(resource("EMU_FREE"))
    before = fields(client.get_batch(task_id))
    stranger = resource("EMU_FREE", reader["username"], reader["password"])
    for call in (stranger.task_status, stranger.task_result, stranger.task_stop):
        with pytest.raises(QrmiError, match="404"):
            call(task_id)
        with pytest.raises(QrmiError, match="404"):
            call(str(uuid4()))
    assert fields(client.get_batch(task_id)) == before


def test_a_wrong_password(resource, writer):
    with pytest.raises(QrmiError):
        start(resource("EMU_FREE", writer["username"], "wrong"))


def test_a_token_in_place_of_a_password(monkeypatch, stack, writer, resource):
    resource("EMU_FREE")
    for name in ("PASQAL_USERNAME", "PASQAL_PASSWORD", "EMU_FREE_QRMI_PASQAL_CLOUD_AUTH_ENDPOINT"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("EMU_FREE_QRMI_PASQAL_CLOUD_AUTH_TOKEN", writer["token"])
    emulator = QuantumResource("EMU_FREE", ResourceType.PasqalCloud)
    assert emulator.task_status(start(emulator)) == TaskStatus.Queued


def test_a_sequence_of_pulser(resource, machine, project_id):
    pulse_sequence = Sequence(Register.square(2, spacing=6.0, prefix="q"), replace(MockDevice, name="EMU_FREE"))
    pulse_sequence.declare_channel("global", "rydberg_global")
    pulse_sequence.add(Pulse.ConstantPulse(400, 2.0, 0.0, 0.0), "global")
    connection = PulserQRMIConnection(resource("EMU_FREE"))
    with machine.working_on(project_id, counter={"0000": 9, "0110": 1}):
        results = connection.submit(pulse_sequence, wait=True, job_params=[{"runs": 10}, {"runs": 20}])
    assert [dict(each.final_bitstrings) for each in results.results] == [{"0000": 9, "0110": 1}] * 2
