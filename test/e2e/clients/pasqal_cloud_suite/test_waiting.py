"""Calls that come back when the jobs have ended. A machine runs them meanwhile."""

from threading import Thread
from time import sleep

import pytest
from cloud_client import PasqalCloudClient, log_in
from machine import counts
from sequence import sequence


def test_creating(create, machine, project_id):
    with machine.working_on(project_id) as runs:
        batch = create(3, wait=True)
    assert set(runs.values()) == {1}
    assert batch.status == "DONE"
    assert [(job.status, job.result) for job in batch.ordered_jobs] == [("DONE", counts)] * 3
    for job in batch.ordered_jobs:
        assert batch.created_at <= job.start_timestamp <= job.end_timestamp


def test_creating_with_the_deprecated_argument(create, machine, project_id):
    with machine.working_on(project_id):
        assert create(fetch_results=True).ordered_jobs[0].result == counts


def test_adding_jobs(client, create, machine, project_id):
    batch = create(1, open=True)
    with machine.working_on(project_id):
        batch.add_jobs([{"runs": 1}], wait=True)
    assert [job.status for job in batch.ordered_jobs] == ["DONE", "DONE"]
    assert batch.open


if "wait" in PasqalCloudClient.add_jobs.__annotations__:  # from 0.23 on

    def test_adding_jobs_by_the_batchs_id(client, create, machine, project_id):
        batch = create(1, open=True)
        with machine.working_on(project_id):
            added = client.add_jobs(batch.id, [{"runs": 1}], wait=True)
        assert [job.result for job in added.ordered_jobs] == [counts, counts]


def test_closing(create, machine, project_id):
    batch = create(1, open=True)
    with machine.working_on(project_id):
        batch.close(wait=True)
    assert batch.ordered_jobs[0].status == "DONE"
    # Before 0.23 the batch may stay as it was when it was closed: only jobs are looked at again.
    batch.refresh()
    assert batch.status == "DONE"


def test_a_job(client, create, machine, project_id):
    [job] = create().ordered_jobs
    with machine.working_on(project_id):
        assert client.get_job(job.id, wait=True).result == counts


def test_running_a_job_again(create, machine, project_id):
    batch = create(1, open=True)
    with machine.working_on(project_id):
        batch.retry(batch.ordered_jobs[0], wait=True)
    assert [job.status for job in batch.ordered_jobs] == ["DONE", "DONE"]


def test_more_jobs_than_an_answer_holds(client, machine, project_id):
    with machine.working_on(project_id):
        batch = client.create_batch(sequence(), [{"runs": 1}] * 101, wait=True)
    assert {job.status for job in batch.ordered_jobs} == {"DONE"}


def meanwhile(action):
    def run():
        sleep(1)
        action()

    thread = Thread(target=run)
    thread.start()
    return thread


def cancel(client, machine, batch):
    client.cancel_batch(batch.id)


def cancel_jobs(client, machine, batch):
    client.cancel_jobs(batch.id)


def time_out(client, machine, batch):
    machine.report("batch.updated", batch_id=batch.id, status="TIMED_OUT")


def fail_altogether(client, machine, batch):
    machine.report("batch.updated", batch_id=batch.id, status="ERROR")


@pytest.mark.parametrize(
    "end, status",
    [(cancel, "CANCELED"), (cancel_jobs, "CANCELED"), (time_out, "TIMED_OUT"), (fail_altogether, "ERROR")],
)
def test_a_wait_ends_with_the_batch(stack, writer, project_id, create, machine, end, status):
    batch = create(2, open=True)
    other_client = log_in(stack, writer, project_id)
    thread = meanwhile(lambda: end(other_client, machine, batch))
    batch.close(wait=True)
    thread.join()
    assert batch.status == status
    assert not {job.status for job in batch.ordered_jobs} & {"PENDING", "RUNNING"}


def test_a_job_that_fails(client, create, machine):
    [job] = create().ordered_jobs
    thread = meanwhile(lambda: machine.fail(job.id, "The register could not be assembled."))
    ended = client.get_job(job.id, wait=True)
    thread.join()
    assert (ended.status, ended.errors, ended.result) == ("ERROR", ["The register could not be assembled."], None)
