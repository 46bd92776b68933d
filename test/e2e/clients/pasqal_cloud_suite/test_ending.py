from datetime import datetime, timedelta, timezone
from uuid import uuid4

import pytest
from cloud_client import fields
from pasqal_cloud.errors import BatchCancellingError, BatchClosingError, JobCancellingError
from pasqal_cloud.utils.filters import CancelJobFilters
from refusals import refused


def statuses(client, batch):
    return [job.status for job in client.get_batch(batch.id).ordered_jobs]


def status(client, batch):
    return client.get_batch(batch.id).status


class TestClosing:
    def test_a_batch_is_closed_by_its_id_or_itself(self, client, create):
        batch, other = create(1, open=True), create(1, open=True)
        batch.close()
        closed = client.close_batch(other.id)
        for each in (batch, closed, client.get_batch(batch.id)):
            assert (each.open, each.complete, each.status) == (False, True, "PENDING")

    def test_the_deprecated_names(self, client, create):
        batch, other = create(1, open=True), create(1, open=True)
        batch.declare_complete()
        assert not batch.open and not client.complete_batch(other.id).open

    def test_closing_again_changes_nothing(self, client, create):
        batch = create(1, open=True)
        batch.close()
        before = fields(batch)
        assert fields(client.close_batch(batch.id)) == before

    def test_a_closed_batch_is_done_with_its_last_job(self, client, create, machine):
        batch = create(2, open=True)
        for job in batch.ordered_jobs:
            machine.finish(job.id)
        assert status(client, batch) != "DONE"
        batch.close()
        assert batch.status == "DONE"

        batch = create(2)
        for job in batch.ordered_jobs:
            assert status(client, batch) != "DONE"
            machine.finish(job.id)
        assert status(client, batch) == "DONE"

    def test_an_empty_batch_is_done_when_it_is_closed(self, create):
        batch = create(0, open=True)
        batch.close()
        assert batch.status == "DONE"

    def test_no_such_batch(self, client):
        with refused(BatchClosingError, 404):
            client.close_batch(str(uuid4()))


class TestCancellingABatch:
    def test_its_jobs_are_cancelled_at_once(self, client, create, machine):
        batch = create(3, open=True)
        done, running, _ = [job.id for job in batch.ordered_jobs]
        machine.start(running)
        machine.finish(done)
        batch.cancel()
        assert (batch.status, batch.open) == ("CANCELED", False)
        assert [job.status for job in batch.ordered_jobs] == ["DONE", "CANCELED", "CANCELED"]
        assert batch.jobs_count_per_status["CANCELED"] == 2
        assert statuses(client, batch) == ["DONE", "CANCELED", "CANCELED"]

    def test_cancelling_again_changes_nothing(self, client, create):
        batch = create()
        before = fields(client.cancel_batch(batch.id))
        assert fields(client.cancel_batch(batch.id)) == before

    def test_what_is_done_stays_done(self, client, create, machine):
        batch = create()
        machine.finish(batch.ordered_jobs[0].id)
        with refused(BatchCancellingError, 409):
            client.cancel_batch(batch.id)
        assert (status(client, batch), statuses(client, batch)) == ("DONE", ["DONE"])

    def test_more_jobs_than_a_transaction_holds(self, client, create):
        batch = create(150)
        batch.cancel()
        assert batch.jobs_count_per_status["CANCELED"] == 150
        assert {job.status for job in batch.ordered_jobs} == {"CANCELED"}

    def test_no_such_batch(self, client):
        with refused(BatchCancellingError, 404):
            client.cancel_batch(str(uuid4()))
        with refused(BatchCancellingError, 422):
            client.cancel_batch("no-uuid")


class TestCancellingSeveralBatches:
    def test_each_is_cancelled_or_has_its_reason(self, client, create, machine):
        first, second, done = create(), create(2), create()
        machine.finish(done.ordered_jobs[0].id)
        unknown = str(uuid4())
        answer = client.cancel_batches([first.id, done.id, unknown, second.id])
        assert {batch.id: batch.status for batch in answer.batches} == {first.id: "CANCELED", second.id: "CANCELED"}
        assert {str(each) for each in answer.errors} == {done.id, unknown}
        assert all(answer.errors.values())
        assert [status(client, batch) for batch in (first, second, done)] == ["CANCELED", "CANCELED", "DONE"]

    def test_again(self, client, create):
        batch = create()
        for _ in range(2):
            answer = client.cancel_batches([batch.id])
            assert ([each.id for each in answer.batches], answer.errors) == ([batch.id], {})

    @pytest.mark.parametrize("batch_ids", [["no-uuid"], [str(uuid4()) for _ in range(101)], "text"])
    def test_wrong_input(self, client, batch_ids):
        with refused(BatchCancellingError, 422):
            client.cancel_batches(batch_ids)


class TestCancellingAJob:
    def test_by_its_id_or_itself(self, client, create):
        batch = create(3)
        first, second, third = batch.ordered_jobs
        assert client.cancel_job(first.id).status == "CANCELED"
        second.cancel()
        assert second.status == "CANCELED"
        assert statuses(client, batch) == ["CANCELED", "CANCELED", "PENDING"]
        assert status(client, batch) == "PENDING"

    def test_again(self, client, create):
        job = create(2).ordered_jobs[0]
        before = fields(client.cancel_job(job.id))
        assert fields(client.cancel_job(job.id)) == before

    def test_what_is_done_stays_done(self, client, create, machine):
        job = create(2).ordered_jobs[0]
        machine.finish(job.id)
        with refused(JobCancellingError, 409):
            client.cancel_job(job.id)
        assert client.get_job(job.id).status == "DONE"

    def test_the_last_one_settles_a_closed_batch(self, client, create, machine):
        batch = create(2)
        first, last = batch.ordered_jobs
        machine.finish(first.id)
        last.cancel()
        assert status(client, batch) == "DONE"

        batch = create(2)
        for job in batch.ordered_jobs:
            job.cancel()
        assert status(client, batch) == "CANCELED"

    def test_an_open_batch_waits_for_more(self, client, create):
        batch = create(1, open=True)
        batch.ordered_jobs[0].cancel()
        batch.refresh()
        assert (batch.status, batch.open) == ("PENDING", True)
        batch.add_jobs([{"runs": 1}])
        assert batch.jobs_count == 2

    def test_no_such_job(self, client):
        with refused(JobCancellingError, 404):
            client.cancel_job(str(uuid4()))


class TestCancellingJobsOfABatch:
    def test_all_that_have_not_ended(self, client, create, machine):
        batch = create(3)
        done = batch.ordered_jobs[1].id
        machine.finish(done)
        answer = client.cancel_jobs(batch.id)
        assert {job.status for job in answer.jobs} == {"CANCELED"}
        assert len(answer.jobs) == 2
        assert [str(each) for each in answer.errors] == [done]
        assert statuses(client, batch) == ["CANCELED", "DONE", "CANCELED"]
        assert status(client, batch) == "DONE"

    def test_by_id(self, client, create):
        batch = create(4)
        ids = [job.id for job in batch.ordered_jobs]
        client.cancel_jobs(batch.id, CancelJobFilters(id=ids[0]))
        answer = client.cancel_jobs(batch.id, CancelJobFilters(id=ids[2:]))
        assert sorted(job.id for job in answer.jobs) == sorted(ids[2:])
        assert statuses(client, batch) == ["CANCELED", "PENDING", "CANCELED", "CANCELED"]

    def test_by_runs(self, client, create):
        batch = create(4)
        client.cancel_jobs(batch.id, CancelJobFilters(min_runs=200, max_runs=300))
        assert statuses(client, batch) == ["PENDING", "CANCELED", "CANCELED", "PENDING"]

    def test_by_time_of_creation(self, client, create):
        batch = create(2)
        now = datetime.now(timezone.utc)
        hour = timedelta(hours=1)
        for filters in (CancelJobFilters(start_date=now + hour), CancelJobFilters(end_date=now - hour)):
            answer = client.cancel_jobs(batch.id, filters)
            assert (answer.jobs, answer.errors) == ([], {})
        assert statuses(client, batch) == ["PENDING", "PENDING"]
        client.cancel_jobs(batch.id, CancelJobFilters(start_date=now - hour, end_date=now + hour))
        assert statuses(client, batch) == ["CANCELED", "CANCELED"]

    def test_again(self, client, create):
        batch = create(2)
        client.cancel_jobs(batch.id)
        client.cancel_jobs(batch.id)
        assert statuses(client, batch) == ["CANCELED", "CANCELED"]

    def test_a_job_of_another_batch(self, client, create):
        batch, other = create(), create()
        answer = client.cancel_jobs(batch.id, CancelJobFilters(id=other.ordered_jobs[0].id))
        assert answer.jobs == []
        assert statuses(client, other) == ["PENDING"]

    def test_more_jobs_than_a_transaction_holds(self, client, create):
        batch = create(150)
        assert len(client.cancel_jobs(batch.id).jobs) == 150
        assert status(client, batch) == "CANCELED"

    def test_no_such_batch(self, client):
        with refused(JobCancellingError, 404):
            client.cancel_jobs(uuid4())
