from uuid import UUID, uuid4

import pytest
from cloud_client import fields, log_in
from pasqal_cloud.device import BaseConfig, DeviceTypeName, EmuFreeConfig, EmulatorType, EmuTNConfig
from pasqal_cloud.errors import (
    BatchCreationError,
    InvalidDeviceTypeSet,
    JobSequenceVariablesConflict,
    MissingAllJobSequence,
    MissingJobSequence,
    OnlyCompleteOrOpenCanBeSet,
)
from pasqal_cloud.utils.filters import BatchFilters, JobFilters
from refusals import fault_places, has_fault_in, refused
from requests import HTTPError
from sequence import sequence


def test_a_batch_is_answered_as_it_was_sent(client, project_id, writer):
    text = sequence("omega", "delta", name="ÅÄÖ 量子")
    batch = client.create_batch(
        text,
        [{"runs": 100, "variables": {"omega": 1.5, "delta": [0, -2.25]}}, {"runs": 1}],
        device_type=DeviceTypeName.EMU_FREE,
        tags=["mis", "ÅÄÖ 量子"],
    )
    UUID(batch.id)
    assert batch.sequence_builder == text
    assert (batch.status, batch.open, batch.complete) == ("PENDING", False, True)
    assert (batch.project_id, batch.user_id, batch.device_type) == (project_id, writer["userId"], "EMU_FREE")
    assert sorted(batch.tags) == ["mis", "ÅÄÖ 量子"]
    assert (batch.parent_id, batch.webhook, batch.configuration, batch.backend_configuration) == (None,) * 4
    assert (batch.start_datetime, batch.end_datetime) == (None, None)
    assert batch.jobs_count == 2
    assert {status: count for status, count in batch.jobs_count_per_status.items() if count} == {"PENDING": 2}
    assert batch.queue_priority == "MEDIUM"

    first, second = batch.ordered_jobs
    assert (first.runs, first.variables) == (100, {"omega": 1.5, "delta": [0, -2.25]})
    assert (second.runs, second.variables) == (1, None)
    for order, job in enumerate([first, second]):
        assert (job.batch_id, job.project_id, job.status) == (batch.id, project_id, "PENDING")
        assert (job.creation_order, job.origin, job.errors) == (order, "CLIENT", None)
        assert (job.start_timestamp, job.end_timestamp, job.parent_id) == (None, None, None)
        assert job.sequence is None
        assert job.result is None


def test_a_batch_can_be_read_and_listed_at_once(client, create, project_id):
    created = create(3)
    job_ids = [job.id for job in created.ordered_jobs]
    read = client.get_batch(created.id)
    assert fields(read) == fields(created)
    assert [job.id for job in read.ordered_jobs] == job_ids
    assert [batch.id for batch in client.get_batches(BatchFilters(project_id=project_id)).results] == [created.id]
    listed = client.get_jobs(JobFilters(batch_id=created.id)).results
    assert sorted(job.id for job in listed) == sorted(job_ids)
    [from_list] = client.get_batches(BatchFilters(id=created.id)).results
    assert from_list.sequence_builder == created.sequence_builder
    assert [job.id for job in from_list.ordered_jobs] == job_ids


def test_a_job_can_be_read_at_once(client, create):
    [created] = create().ordered_jobs
    read = client.get_job(created.id)
    assert fields(read) == fields(created)
    assert read.sequence is None


def test_jobs_with_sequences_of_their_own(client):
    first, second = sequence(name="first"), sequence(name="second")
    batch = client.create_batch(
        None,
        [{"runs": 5, "serialized_sequence": first}, {"runs": 6, "serialized_sequence": second}],
        device_type=DeviceTypeName.EMU_MPS,
    )
    assert batch.sequence_builder is None
    assert client.get_batch(batch.id).sequence_builder is None
    assert [client.get_job(job.id).sequence for job in batch.ordered_jobs] == [first, second]
    assert [job.sequence for job in client.get_jobs(JobFilters(batch_id=batch.id)).results] == [second, first]


def test_a_sequence_for_the_batch_and_another_for_a_job(client):
    batch = client.create_batch(
        sequence("omega"),
        [{"runs": 5, "variables": {"omega": 1}}, {"runs": 5, "serialized_sequence": sequence(name="own")}],
        device_type=DeviceTypeName.EMU_SV,
    )
    assert [client.get_job(job.id).sequence for job in batch.ordered_jobs] == [None, sequence(name="own")]


def test_a_mappable_register(client):
    variables = {"qubits": {"q0": 1, "q1": 4}}
    batch = client.create_batch(sequence(mappable=True), [{"runs": 5, "variables": variables}])
    assert client.get_job(batch.ordered_jobs[0].id).variables == variables


def test_the_device_is_the_one_that_the_sequence_names(client):
    assert client.create_batch(sequence(device="FRESNEL"), [{"runs": 1}]).device_type == "FRESNEL"
    assert client.create_batch(sequence(device="EMU_MPS"), [{"runs": 1}]).device_type == "EMU_MPS"


def test_a_device_that_nobody_knows_is_no_default(client):
    with refused(BatchCreationError, 422) as answer:
        client.create_batch(sequence(device="Nowhere"), [{"runs": 1}])
    assert fault_places(answer) == [["body", "device_type"]]
    assert "Nowhere" in answer["detail"][0]["msg"]


def test_a_number_that_json_does_not_have(client):
    with refused(BatchCreationError, 422) as answer:
        client.create_batch(sequence("omega"), [{"runs": 1, "variables": {"omega": float("nan")}}])
    assert answer["detail"] == [
        {"loc": ["body"], "msg": "JSON decode error: Unexpected token 'N'", "type": "json_invalid"}
    ]


def test_a_device_type_that_nobody_has_announced_yet(client):
    assert client.create_batch(sequence(), [{"runs": 1}], device_type="FUTURE_1").device_type == "FUTURE_1"


def test_the_deprecated_names_of_arguments(client):
    batch = client.create_batch(sequence(), [{"runs": 1}], emulator=EmulatorType.EMU_FREE, complete=True)
    assert (batch.device_type, batch.open) == ("EMU_FREE", False)
    batch = client.create_batch(sequence(), [], emulator=EmulatorType.EMU_MPS, complete=False)
    assert (batch.device_type, batch.open) == ("EMU_MPS", True)


@pytest.mark.parametrize(
    "device_type, configuration",
    [
        (DeviceTypeName.EMU_FREE, EmuFreeConfig(with_noise=True, extra_config={"seed": 7})),
        (DeviceTypeName.EMU_TN, EmuTNConfig(dt=2.5, precision="high", max_bond_dim=100)),
        (DeviceTypeName.FRESNEL, BaseConfig(extra_config={"deep": {"list": [1, None, "x"]}})),
    ],
)
def test_a_configuration_comes_back_as_it_was(client, device_type, configuration):
    batch = client.create_batch(sequence(), [{"runs": 1}], device_type=device_type, configuration=configuration)
    assert batch.configuration == configuration
    assert client.get_batch(batch.id).configuration == configuration


@pytest.mark.parametrize("text", ['{"autosave_dt": Infinity}', "no JSON", '{"a": 1.50, "a": 2}'])
def test_a_backend_configuration_is_a_text_that_is_kept_as_it_is(client, text):
    batch = client.create_batch(
        sequence(), [{"runs": 1}], device_type=DeviceTypeName.EMU_MPS, backend_configuration=text
    )
    assert batch.backend_configuration == text
    assert client.get_batch(batch.id).backend_configuration == text


def test_a_webhook_is_kept(stack, writer, project_id):
    client = log_in(stack, writer, project_id, webhook="https://example.com/hook")
    batch = client.create_batch(sequence(), [{"runs": 1}], device_type=DeviceTypeName.EMU_FREE)
    assert (batch.webhook, client.get_batch(batch.id).webhook) == ("https://example.com/hook",) * 2


def test_an_open_batch_without_jobs(client):
    batch = client.create_batch(sequence(), [], open=True, device_type=DeviceTypeName.EMU_FREE)
    assert (batch.open, batch.jobs_count, batch.ordered_jobs) == (True, 0, [])
    assert client.get_batch(batch.id).ordered_jobs == []


def test_a_body_that_is_not_compressed(client):
    client._client.allow_gzip_request_body = False
    assert client.create_batch(sequence(), [{"runs": 1}]).jobs_count == 1


# The most that a call may have are created in Pulser's suite alone.
def test_more_jobs_than_an_answer_holds(client):
    batch = client.create_batch(sequence(), [{"runs": index + 1} for index in range(101)])
    assert batch.jobs_count == 101
    jobs = batch.ordered_jobs
    assert [job.runs for job in jobs] == list(range(1, 102))
    assert [job.id for job in client.get_batch(batch.id).ordered_jobs] == [job.id for job in jobs]


def test_more_jobs_than_a_call_may_have(client, project_id):
    with refused(BatchCreationError, 422) as answer:
        client.create_batch(sequence(), [{"runs": 1}] * 5_001)
    assert fault_places(answer) == [["body", "jobs"]]
    assert client.get_batches(BatchFilters(project_id=project_id)).total == 0


def test_the_path_of_the_public_service(stack, writer, project_id):
    client = log_in(stack, writer, project_id, path="/core-fast")
    batch = client.create_batch(sequence(), [{"runs": 1}])
    assert client.get_batch(batch.id).ordered_jobs[0].id == batch.ordered_jobs[0].id


@pytest.mark.parametrize(
    "change, place",
    [
        ({"serialized_sequence": "no JSON"}, ["body", "sequence_builder"]),
        ({"serialized_sequence": "[]"}, ["body", "sequence_builder"]),
        ({"jobs": []}, ["body", "jobs"]),
        ({"jobs": [{"runs": 0}]}, ["body", "jobs", 0, "runs"]),
        ({"jobs": [{"runs": 1}, {"runs": "many"}]}, ["body", "jobs", 1, "runs"]),
        ({"jobs": [{"runs": 1.5}]}, ["body", "jobs", 0, "runs"]),
        ({"jobs": [{"runs": 1, "variables": {"omega": 1}}]}, ["body", "jobs", 0, "variables"]),
        ({"jobs": [{"runs": 1, "variables": {"qubits": {"q0": 1}}}]}, ["body", "jobs", 0, "variables"]),
        ({"jobs": [{"runs": 1, "variables": [1]}]}, ["body", "jobs", 0, "variables"]),
        ({"jobs": [{"runs": 1, "serialized_sequence": "{"}]}, ["body", "jobs", 0, "sequence"]),
        ({"tags": [7]}, ["body", "tags", 0]),
        ({"device_type": 7}, ["body", "device_type"]),
        ({"backend_configuration": {"not": "a text"}}, ["body", "backend_configuration"]),
    ],
)
def test_wrong_input_is_refused_and_leaves_nothing(client, project_id, change, place):
    given = {"serialized_sequence": sequence(), "jobs": [{"runs": 1}], "device_type": "EMU_FREE"}
    with refused(BatchCreationError, 422) as answer:
        client.create_batch(**{**given, **change})
    assert has_fault_in(answer, *place), answer["detail"]
    assert client.get_batches(BatchFilters(project_id=project_id)).total == 0


def test_a_project_that_is_no_uuid(stack, writer):
    with refused(BatchCreationError, 422) as answer:
        log_in(stack, writer, "my project").create_batch(sequence(), [{"runs": 1}])
    assert fault_places(answer) == [["body", "project_id"]]


def test_a_variable_that_the_sequence_does_not_declare(client):
    with refused(BatchCreationError, 422) as answer:
        client.create_batch(sequence("omega"), [{"runs": 1, "variables": {"omega": 1, "ogema": 1}}])
    assert has_fault_in(answer, "body", "jobs", 0, "variables")


def test_all_faults_at_once(client):
    with refused(BatchCreationError, 422) as answer:
        client.create_batch(
            "no JSON", [{"runs": 0}, {"runs": 1}, {"runs": "x"}], tags=[1], device_type=DeviceTypeName.EMU_FREE
        )
    for place in (["sequence_builder"], ["jobs", 0, "runs"], ["jobs", 2, "runs"], ["tags", 0]):
        assert has_fault_in(answer, "body", *place)


def test_a_sequence_that_is_too_large(client):
    from random import Random

    noise = Random(1).randbytes(400 * 1024).hex()
    with refused(BatchCreationError, 422) as answer:
        client.create_batch(sequence(name=noise), [{"runs": 1}])
    assert fault_places(answer) == [["body", "sequence_builder"]]


def test_a_body_that_is_too_large(client):
    with refused(BatchCreationError, 413):
        client.create_batch(sequence(name="x" * 6 * 1024 * 1024), [{"runs": 1}])


def test_what_the_client_refuses_itself(client, stack, writer):
    with pytest.raises(MissingAllJobSequence):
        client.create_batch(None, [{"runs": 1}])
    with pytest.raises(MissingJobSequence):
        client.create_batch(None, [{"runs": 1, "serialized_sequence": sequence()}, {"runs": 1}])
    with pytest.raises(JobSequenceVariablesConflict):
        client.create_batch(None, [{"runs": 1, "serialized_sequence": sequence("a"), "variables": {"a": 1}}])
    with pytest.raises(InvalidDeviceTypeSet):
        client.create_batch(
            sequence(), [{"runs": 1}], emulator=EmulatorType.EMU_FREE, device_type=DeviceTypeName.EMU_FREE
        )
    with pytest.raises(OnlyCompleteOrOpenCanBeSet):
        client.create_batch(sequence(), [{"runs": 1}], complete=True, open=True)
    with pytest.raises(ValueError, match="project_id"):
        log_in(stack, writer).create_batch(sequence(), [{"runs": 1}])


@pytest.mark.parametrize(
    "jobs, place",
    [
        ([7], ["body", "jobs", 0]),
        ([{"runs": 1}], ["body", "jobs", 0]),
        ([{"runs": 1, "sequence": sequence("a"), "variables": {"a": 1}}], ["body", "jobs", 0]),
    ],
)
def test_what_the_client_refuses_is_refused_here_too(client, project_id, jobs, place):
    with pytest.raises(HTTPError) as raised:
        client._client.send_batch({"sequence_builder": None, "jobs": jobs, "device_type": "EMU_FREE"})
    assert raised.value.response.status_code == 422
    assert has_fault_in(raised.value.response.json(), *place)
    assert client.get_batches(BatchFilters(project_id=project_id)).total == 0


def test_unknown_members_are_ignored(client, project_id):
    body = {"sequence_builder": sequence(), "jobs": [{"runs": 1, "new": 1}], "future": {"a": 1}, "id": str(uuid4())}
    batch = client._client.send_batch(body)
    assert batch["id"] != body["id"] and batch["project_id"] == project_id
