"""The lists of the demo data: every filter, compared with the same choice made here."""

from collections import Counter
from datetime import datetime, timezone
from uuid import UUID

import pytest
from pasqal_cloud.utils.constants import BatchStatus, JobStatus, QueuePriority
from pasqal_cloud.utils.filters import BatchFilters, JobFilters, PaginationParams


def every(fetch, filters):
    """All pages, with a bound on their number."""
    items, total = [], None
    for _ in range(1_000):
        page = fetch(filters, PaginationParams(offset=len(items), limit=37))
        assert total in (None, page.total), "the total changed between pages"
        total = page.total
        items += page.results
        if len(items) >= total:
            break
    assert len(items) == total and len({item.id for item in items}) == total
    return items


def time(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


@pytest.fixture(scope="module")
def batches(reading_client):
    return every(reading_client.get_batches, BatchFilters())


@pytest.fixture(scope="module")
def jobs(reading_client):
    return every(reading_client.get_jobs, JobFilters())


@pytest.fixture
def expect_batches(reading_client, batches):
    def expect(predicate, **filters):
        found = [item.id for item in every(reading_client.get_batches, BatchFilters(**filters))]
        assert found == [item.id for item in batches if predicate(item)]

    return expect


@pytest.fixture
def expect_jobs(reading_client, jobs):
    def expect(predicate, **filters):
        found = [item.id for item in every(reading_client.get_jobs, JobFilters(**filters))]
        assert found == [item.id for item in jobs if predicate(item)]

    return expect


def test_batches_come_the_latest_first(batches, reader):
    assert len(batches) >= 10
    created = [batch.created_at for batch in batches]
    assert created == sorted(created, reverse=True)
    assert {batch.user_id for batch in batches} == {reader["userId"]}
    for batch in batches:
        assert batch.jobs_count == sum(batch.jobs_count_per_status.values())
        assert batch.complete is not batch.open


@pytest.mark.parametrize("status", BatchStatus)
def test_batches_by_status(expect_batches, status):
    expect_batches(lambda batch: batch.status == status.value, status=status)


def test_batches_by_several_statuses(expect_batches):
    expect_batches(lambda batch: batch.status in ("DONE", "ERROR"), status=[BatchStatus.DONE, BatchStatus.ERROR])


@pytest.mark.parametrize("priority", QueuePriority)
def test_batches_by_priority(expect_batches, priority):
    expect_batches(lambda batch: batch.queue_priority == priority.value, queue_priority=priority)


@pytest.mark.parametrize("is_open", [True, False])
def test_batches_by_open(expect_batches, is_open):
    expect_batches(lambda batch: batch.open is is_open, open=is_open)


def test_batches_by_device_type(expect_batches, batches):
    wanted = sorted({batch.device_type for batch in batches})[:2]
    expect_batches(lambda batch: batch.device_type in wanted, device_type=wanted)


def test_batches_by_id(expect_batches, batches):
    wanted = [batches[0].id, batches[-1].id]
    expect_batches(lambda batch: batch.id in wanted, id=[UUID(each) for each in wanted])


def test_batches_by_project(expect_batches, batches):
    wanted = batches[0].project_id
    expect_batches(lambda batch: batch.project_id == wanted, project_id=wanted)


def test_batches_by_user_are_ones_own_or_none(expect_batches, reader, writer):
    expect_batches(lambda batch: True, user_id=reader["userId"])
    expect_batches(lambda batch: False, user_id=writer["userId"])


def test_batches_by_tag(expect_batches, batches):
    wanted = next(batch.tags[0] for batch in batches if batch.tags)
    expect_batches(lambda batch: wanted in batch.tags, tag=wanted)


def test_batches_by_start_and_end(expect_batches, batches):
    starts = sorted(time(batch.start_datetime) for batch in batches if batch.start_datetime)
    ends = sorted(time(batch.end_datetime) for batch in batches if batch.end_datetime)
    start, end = starts[len(starts) // 4], ends[3 * len(ends) // 4]
    expect_batches(lambda batch: batch.start_datetime and time(batch.start_datetime) >= start, start_date=start)
    expect_batches(lambda batch: batch.end_datetime and time(batch.end_datetime) <= end, end_date=end)
    naive = start.astimezone(timezone.utc).replace(tzinfo=None)
    expect_batches(lambda batch: batch.start_datetime and time(batch.start_datetime) >= start, start_date=naive)


def test_batches_by_several_filters_at_once(expect_batches):
    expect_batches(
        lambda batch: batch.status == "DONE" and batch.queue_priority in ("HIGH", "LOW") and not batch.open,
        status=BatchStatus.DONE,
        queue_priority=[QueuePriority.HIGH, QueuePriority.LOW],
        open=False,
    )


def test_a_page_past_the_end_is_empty(reading_client, batches):
    page = reading_client.get_batches(pagination_params=PaginationParams(offset=1_000_000))
    assert (page.total, page.results) == (len(batches), [])


def test_jobs_come_the_latest_first(batches, jobs):
    created = [job.created_at for job in jobs]
    assert len(jobs) == sum(batch.jobs_count for batch in batches)
    assert created == sorted(created, reverse=True)


@pytest.mark.parametrize("status", JobStatus)
def test_jobs_by_status(expect_jobs, status):
    expect_jobs(lambda job: job.status == status.value, status=status)


def test_jobs_by_id(expect_jobs, jobs):
    expect_jobs(lambda job: job.id == jobs[3].id, id=jobs[3].id)


def test_jobs_by_batch_and_project(expect_jobs, batches, jobs):
    wanted = [batch.id for batch in batches if batch.jobs_count][:2]
    expect_jobs(lambda job: job.batch_id in wanted, batch_id=wanted)
    expect_jobs(lambda job: job.project_id == jobs[0].project_id, project_id=jobs[0].project_id)


def test_jobs_by_user(expect_jobs, writer):
    expect_jobs(lambda job: False, user_id=writer["userId"])


def test_jobs_by_runs(expect_jobs):
    expect_jobs(lambda job: 100 <= job.runs <= 200, min_runs=100, max_runs=200)


def test_jobs_by_errors(expect_jobs):
    expect_jobs(lambda job: bool(job.errors), errors=True)
    expect_jobs(lambda job: not job.errors, errors=False)


def test_jobs_by_start_and_end(expect_jobs, jobs):
    starts = sorted(time(job.start_timestamp) for job in jobs if job.start_timestamp)
    start, end = starts[len(starts) // 4], starts[3 * len(starts) // 4]
    expect_jobs(
        lambda job: job.start_timestamp
        and time(job.start_timestamp) >= start
        and job.end_timestamp
        and time(job.end_timestamp) <= end,
        start_date=start,
        end_date=end,
    )


def test_ordered_jobs_of_a_batch_with_more_jobs_than_two_pages_hold(batches, jobs):
    batch = max(batches, key=lambda each: each.jobs_count)
    assert batch.jobs_count > 250
    ordered = batch.ordered_jobs
    assert [job.creation_order for job in ordered] == list(range(batch.jobs_count))
    assert {job.id for job in ordered} == {job.id for job in jobs if job.batch_id == batch.id}


def test_ordered_jobs_of_an_empty_batch(batches):
    batch = next(each for each in batches if each.jobs_count == 0)
    assert batch.ordered_jobs == []


def test_results_of_a_finished_job(jobs):
    job = next(each for each in jobs if each.status == "DONE")
    assert sum(job.result.values()) == job.runs
    assert Counter(job.full_result["raw"]) == Counter(job.result)


def test_no_results_of_a_job_that_has_not_run(jobs):
    job = next(each for each in jobs if each.status == "PENDING")
    assert job.result is None


def test_another_user_has_other_batches_and_jobs(client, batches):
    assert client.get_batches().total > 0
    ids = [batch.id for batch in batches]
    for start in range(0, len(ids), 100):
        assert client.get_batches(BatchFilters(id=ids[start : start + 100])).results == []
        assert client.get_jobs(JobFilters(batch_id=ids[start : start + 100])).results == []
