from uuid import uuid4

import pytest
from cloud_client import PasqalCloudClient, fields
from machine import counts
from pasqal_cloud.errors import BatchFetchingError, JobFetchingError
from pasqal_cloud.utils.constants import BatchStatus, JobStatus
from pasqal_cloud.utils.filters import PaginationParams
from refusals import fault_places, refused


def test_batches_and_jobs_read_as_they_are_listed(reading_client):
    for listed in reading_client.get_batches(pagination_params=PaginationParams(limit=20)).results:
        read = reading_client.get_batch(listed.id)
        assert fields(read) == fields(listed)
        assert [fields(job) for job in read.ordered_jobs] == [fields(job) for job in listed.ordered_jobs]
        for job in listed.ordered_jobs[:2]:
            assert fields(reading_client.get_job(job.id)) == fields(job)


def test_the_deprecated_names(client, create):
    created = create(2)
    read = client.get_batch(created.id, fetch_results=True)
    assert list(read.jobs) == [job.id for job in created.ordered_jobs]
    assert read.jobs[created.ordered_jobs[1].id].runs == 200


def test_a_batch_while_it_runs(client, create, machine):
    batch = create(3)
    first, second, _ = batch.ordered_jobs
    machine.report("batch.updated", batch_id=batch.id, status="RUNNING")
    machine.start(first.id)
    machine.finish(first.id)
    machine.start(second.id)
    batch.refresh()
    assert batch.status == "RUNNING"
    assert [job.status for job in batch.ordered_jobs] == ["DONE", "RUNNING", "PENDING"]
    assert {status: count for status, count in batch.jobs_count_per_status.items() if count} == {
        "DONE": 1,
        "RUNNING": 1,
        "PENDING": 1,
    }
    assert [job.result for job in batch.ordered_jobs] == [counts, None, None]


def test_results_of_an_emulator(client, create, machine):
    [job] = create().ordered_jobs
    machine.finish(job.id, counter=counts, raw=["000", "011"], serialised_results='{"atom_order": []}')
    read = client.get_job(job.id)
    assert read.result == counts
    assert read.full_result == {"counter": counts, "raw": ["000", "011"], "serialised_results": '{"atom_order": []}'}


@pytest.mark.parametrize("call, error", [("get_batch", BatchFetchingError), ("get_job", JobFetchingError)])
def test_nothing_of_that_id(client, call, error):
    with refused(error, 404):
        getattr(client, call)(str(uuid4()))
    with refused(error, 422) as answer:
        getattr(client, call)("no-uuid")
    assert [place[0] for place in fault_places(answer)] == ["path"]


if hasattr(PasqalCloudClient, "get_batch_status"):  # from 0.24 on

    def test_statuses_alone(client, create, machine):
        batch = create()
        [job] = batch.ordered_jobs
        assert client.get_batch_status(batch.id) is BatchStatus.PENDING
        assert client.get_job_status(job.id) is JobStatus.PENDING
        machine.finish(job.id)
        assert client.get_batch_status(batch.id) is BatchStatus.DONE
        assert client.get_job_status(job.id) is JobStatus.DONE

    @pytest.mark.parametrize(
        "call, error", [("get_batch_status", BatchFetchingError), ("get_job_status", JobFetchingError)]
    )
    def test_no_status_of_that_id(client, call, error):
        with refused(error, 404):
            getattr(client, call)(str(uuid4()))
