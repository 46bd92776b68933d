from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest
from pasqal_cloud.device import DeviceTypeName, EmuFreeConfig
from pasqal_cloud.errors import RebatchError
from pasqal_cloud.utils.constants import JobStatus
from pasqal_cloud.utils.filters import BatchFilters, RebatchFilters
from refusals import refused
from sequence import sequence


@pytest.fixture
def ended(create, machine):
    """A batch of four jobs: DONE, ERROR, CANCELED, DONE."""
    batch = create(4, configuration=EmuFreeConfig(with_noise=True), tags=["mis"])
    first, second, third, fourth = batch.ordered_jobs
    machine.finish(first.id)
    machine.fail(second.id, "The register could not be assembled.")
    third.cancel()
    machine.finish(fourth.id)
    return batch


def parents(batch):
    return [job.parent_id for job in batch.ordered_jobs]


def ids(batch, *places):
    return [batch.ordered_jobs[place].id for place in places]


def test_all_jobs_again(client, ended, project_id):
    again = client.rebatch(ended.id)
    assert again.id != ended.id
    assert (again.parent_id, again.status, again.open) == (ended.id, "PENDING", False)
    assert (again.project_id, again.device_type, again.configuration) == (
        project_id,
        "EMU_FREE",
        ended.configuration,
    )
    assert again.sequence_builder == ended.sequence_builder
    assert parents(again) == ids(ended, 0, 1, 2, 3)
    for job, source in zip(again.ordered_jobs, ended.ordered_jobs):
        assert (job.runs, job.variables, job.batch_id) == (source.runs, source.variables, again.id)
        assert (job.status, job.errors, job.result) == ("PENDING", None, None)
    assert client.get_batch(again.id).sequence_builder == ended.sequence_builder
    assert client.get_batch(ended.id).status == "DONE"


def test_by_status(client, ended):
    filters = RebatchFilters(status=[JobStatus.ERROR, JobStatus.CANCELED])
    assert parents(client.rebatch(UUID(ended.id), filters)) == ids(ended, 1, 2)
    assert parents(client.rebatch(ended.id, RebatchFilters(status=JobStatus.ERROR))) == ids(ended, 1)


def test_by_id_and_runs(client, ended):
    assert parents(client.rebatch(ended.id, RebatchFilters(id=ids(ended, 0, 3)))) == ids(ended, 0, 3)
    assert parents(client.rebatch(ended.id, RebatchFilters(min_runs=200, max_runs=300))) == ids(ended, 1, 2)


def test_by_time_of_creation(client, ended):
    hour = timedelta(hours=1)
    created = datetime.fromisoformat(ended.created_at.replace("Z", "+00:00"))
    for filters in (RebatchFilters(start_date=created + hour), RebatchFilters(end_date=created - hour)):
        with refused(RebatchError, 422):
            client.rebatch(ended.id, filters)
    filters = RebatchFilters(status=JobStatus.CANCELED, start_date=created - hour, end_date=created + hour)
    assert parents(client.rebatch(ended.id, filters)) == ids(ended, 2)


def test_sequences_of_jobs_go_with_them(client):
    own = [{"runs": 1, "serialized_sequence": sequence(name=name)} for name in ("first", "second")]
    again = client.rebatch(client.create_batch(None, own, device_type=DeviceTypeName.EMU_MPS).id)
    assert again.sequence_builder is None
    assert [client.get_job(job.id).sequence for job in again.ordered_jobs] == [
        sequence(name="first"),
        sequence(name="second"),
    ]


def test_more_jobs_than_a_transaction_holds(client, create):
    source = create(150)
    assert parents(client.rebatch(source.id)) == [job.id for job in source.ordered_jobs]


def test_no_job_is_chosen(client, ended, project_id):
    with refused(RebatchError, 422):
        client.rebatch(ended.id, RebatchFilters(status=JobStatus.RUNNING))
    assert client.get_batches(BatchFilters(project_id=project_id)).total == 1


def test_an_open_batch(client, create):
    with refused(RebatchError, 409):
        client.rebatch(create(1, open=True).id)


def test_no_such_batch(client):
    with refused(RebatchError, 404):
        client.rebatch(uuid4())
