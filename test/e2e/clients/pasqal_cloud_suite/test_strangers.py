"""Another user's batches and jobs are like none, for every call that names one."""

import pytest
from cloud_client import fields
from pasqal_cloud.errors import (
    BatchCancellingError,
    BatchClosingError,
    BatchFetchingError,
    BatchSetTagsError,
    JobCancellingError,
    JobCreationError,
    JobFetchingError,
    RebatchError,
)
from refusals import refused
from requests import HTTPError


@pytest.fixture
def batch(create):
    return create(2, open=True, tags=["mine"])


@pytest.mark.parametrize(
    "error, call",
    [
        (BatchFetchingError, lambda client, batch: client.get_batch(batch.id)),
        (JobCreationError, lambda client, batch: client.add_jobs(batch.id, [{"runs": 1}])),
        (BatchClosingError, lambda client, batch: client.close_batch(batch.id)),
        (BatchCancellingError, lambda client, batch: client.cancel_batch(batch.id)),
        (JobCancellingError, lambda client, batch: client.cancel_jobs(batch.id)),
        (RebatchError, lambda client, batch: client.rebatch(batch.id)),
        (BatchSetTagsError, lambda client, batch: client.set_batch_tags(batch.id, ["theirs"])),
        (JobFetchingError, lambda client, batch: client.get_job(batch.ordered_jobs[0].id)),
        (JobCancellingError, lambda client, batch: client.cancel_job(batch.ordered_jobs[0].id)),
    ],
)
def test_calls_about_another_users_batch(client, reading_client, batch, error, call):
    before = client.get_batch(batch.id)
    with refused(error, 404):
        call(reading_client, batch)
    after = client.get_batch(batch.id)
    assert fields(after) == fields(before)
    assert [fields(job) for job in after.ordered_jobs] == [fields(job) for job in before.ordered_jobs]


def test_cancelling_several(client, reading_client, batch):
    answer = reading_client.cancel_batches([batch.id])
    assert (answer.batches, [str(each) for each in answer.errors]) == ([], [batch.id])
    assert client.get_batch(batch.id).status == "PENDING"


def test_results(reading_client, batch, machine):
    [job, _] = batch.ordered_jobs
    machine.finish(job.id)
    with pytest.raises(HTTPError, match="404"):
        reading_client._client.get_job_results(job.id)
