"""Drives a running local stack with the public Python client, pasqal-cloud, unchanged.

usage: real_client.py STACK_JSON. Prints each failure and `N passed, N failed`; the exit code is 1 when any failed.
"""

import json
import sys
import traceback
from collections import Counter
from datetime import datetime, timezone
from uuid import UUID

from pasqal_cloud.authentication import PasswordGrantTokenProvider, TokenProviderError
from pasqal_cloud.endpoints import AUTH0_TOKEN_PROVIDER_GRANT_TYPE, AUDIENCE, Endpoints, REALM, TokenProviderConf
from pasqal_cloud.pasqal_cloud_client import PasqalCloudClient
from pasqal_cloud.utils.constants import BatchStatus, JobStatus, QueuePriority
from pasqal_cloud.utils.filters import BatchFilters, JobFilters, PaginationParams

stack = json.load(open(sys.argv[1]))
outcomes = Counter()


def check(name):
    """Runs the decorated function at once and counts how it went."""

    def run(test):
        try:
            test()
            outcomes["passed"] += 1
        except Exception:
            outcomes["failed"] += 1
            print(f"FAILED {name}\n{traceback.format_exc()}")

    return run


def token_conf(grant_type):
    return TokenProviderConf(
        token_endpoint=stack["tokenEndpoint"],
        public_client_id="any",
        audience=AUDIENCE,
        realm=REALM,
        grant_type=grant_type,
    )


def log_in(user, grant_type=AUTH0_TOKEN_PROVIDER_GRANT_TYPE):
    return PasqalCloudClient(
        username=user["username"],
        password=user["password"],
        endpoints=Endpoints(core=stack["baseUrl"], account=stack["baseUrl"]),
        auth_config=token_conf(grant_type),
    )


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


demo_user, guest_user = stack["users"]
demo = log_in(demo_user)
guest = log_in(guest_user, "password")
batches = every(demo.get_batches, BatchFilters())
jobs = every(demo.get_jobs, JobFilters())


def time(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def expect(fetch, filters, everything, predicate):
    found = [item.id for item in every(fetch, filters)]
    assert found == [item.id for item in everything if predicate(item)], f"{filters!r}: {len(found)} found"


def expect_batches(predicate, **filters):
    expect(demo.get_batches, BatchFilters(**filters), batches, predicate)


def expect_jobs(predicate, **filters):
    expect(demo.get_jobs, JobFilters(**filters), jobs, predicate)


@check("a wrong password is refused")
def _():
    try:
        PasswordGrantTokenProvider(demo_user["username"], "wrong", token_conf(AUTH0_TOKEN_PROVIDER_GRANT_TYPE))
    except TokenProviderError as error:
        assert "Wrong username or password" in str(error)
    else:
        raise AssertionError("a token was given out")


@check("batches are listed, the latest first")
def _():
    assert len(batches) >= 10
    created = [batch.created_at for batch in batches]
    assert created == sorted(created, reverse=True)
    assert {batch.user_id for batch in batches} == {demo_user["userId"]}
    for batch in batches:
        assert batch.jobs_count == sum(batch.jobs_count_per_status.values())
        assert batch.complete is not batch.open


for status in BatchStatus:

    @check(f"batches by status {status.value}")
    def _():
        expect_batches(lambda batch: batch.status == status.value, status=status)


@check("batches by several statuses")
def _():
    expect_batches(lambda batch: batch.status in ("DONE", "ERROR"), status=[BatchStatus.DONE, BatchStatus.ERROR])


for priority in QueuePriority:

    @check(f"batches by priority {priority.value}")
    def _():
        expect_batches(lambda batch: batch.queue_priority == priority.value, queue_priority=priority)


for is_open in (True, False):

    @check(f"batches by open {is_open}")
    def _():
        expect_batches(lambda batch: batch.open is is_open, open=is_open)


@check("batches by device type")
def _():
    wanted = sorted({batch.device_type for batch in batches})[:2]
    expect_batches(lambda batch: batch.device_type in wanted, device_type=wanted)


@check("batches by id")
def _():
    wanted = [batches[0].id, batches[-1].id]
    expect_batches(lambda batch: batch.id in wanted, id=[UUID(each) for each in wanted])


@check("batches by project")
def _():
    wanted = batches[0].project_id
    expect_batches(lambda batch: batch.project_id == wanted, project_id=wanted)


@check("batches by user: one's own, and nobody else's")
def _():
    expect_batches(lambda batch: True, user_id=demo_user["userId"])
    expect_batches(lambda batch: False, user_id=guest_user["userId"])


@check("batches by tag")
def _():
    wanted = next(batch.tags[0] for batch in batches if batch.tags)
    expect_batches(lambda batch: wanted in batch.tags, tag=wanted)


@check("batches by start and end")
def _():
    starts = sorted(time(batch.start_datetime) for batch in batches if batch.start_datetime)
    ends = sorted(time(batch.end_datetime) for batch in batches if batch.end_datetime)
    start, end = starts[len(starts) // 4], ends[3 * len(ends) // 4]
    expect_batches(lambda batch: batch.start_datetime and time(batch.start_datetime) >= start, start_date=start)
    expect_batches(lambda batch: batch.end_datetime and time(batch.end_datetime) <= end, end_date=end)
    naive = start.astimezone(timezone.utc).replace(tzinfo=None)
    expect_batches(lambda batch: batch.start_datetime and time(batch.start_datetime) >= start, start_date=naive)


@check("batches by several filters at once")
def _():
    expect_batches(
        lambda batch: batch.status == "DONE" and batch.queue_priority in ("HIGH", "LOW") and not batch.open,
        status=BatchStatus.DONE,
        queue_priority=[QueuePriority.HIGH, QueuePriority.LOW],
        open=False,
    )


@check("a page past the end is empty")
def _():
    page = demo.get_batches(pagination_params=PaginationParams(offset=1_000_000))
    assert (page.total, page.results) == (len(batches), [])


@check("jobs are listed, the latest first")
def _():
    created = [job.created_at for job in jobs]
    assert len(jobs) == sum(batch.jobs_count for batch in batches)
    assert created == sorted(created, reverse=True)


for job_status in JobStatus:

    @check(f"jobs by status {job_status.value}")
    def _():
        expect_jobs(lambda job: job.status == job_status.value, status=job_status)


@check("jobs by id")
def _():
    expect_jobs(lambda job: job.id == jobs[3].id, id=jobs[3].id)


@check("jobs by batch and project")
def _():
    wanted = [batch.id for batch in batches if batch.jobs_count][:2]
    expect_jobs(lambda job: job.batch_id in wanted, batch_id=wanted)
    expect_jobs(lambda job: job.project_id == jobs[0].project_id, project_id=jobs[0].project_id)


@check("jobs by user")
def _():
    expect_jobs(lambda job: False, user_id=guest_user["userId"])


@check("jobs by runs")
def _():
    expect_jobs(lambda job: 100 <= job.runs <= 200, min_runs=100, max_runs=200)


@check("jobs by errors")
def _():
    expect_jobs(lambda job: bool(job.errors), errors=True)
    expect_jobs(lambda job: not job.errors, errors=False)


@check("jobs by start and end")
def _():
    starts = sorted(time(job.start_timestamp) for job in jobs if job.start_timestamp)
    start, end = starts[len(starts) // 4], starts[3 * len(starts) // 4]
    expect_jobs(
        lambda job: job.start_timestamp and time(job.start_timestamp) >= start
        and job.end_timestamp and time(job.end_timestamp) <= end,
        start_date=start,
        end_date=end,
    )


@check("ordered_jobs of a batch with more jobs than two pages hold")
def _():
    batch = max(batches, key=lambda each: each.jobs_count)
    assert batch.jobs_count > 250
    ordered = batch.ordered_jobs
    assert [job.creation_order for job in ordered] == list(range(batch.jobs_count))
    assert {job.id for job in ordered} == {job.id for job in jobs if job.batch_id == batch.id}


@check("ordered_jobs of an empty batch")
def _():
    batch = next(each for each in batches if each.jobs_count == 0)
    assert batch.ordered_jobs == []


@check("results of a finished job")
def _():
    job = next(each for each in jobs if each.status == "DONE")
    assert sum(job.result.values()) == job.runs
    assert Counter(job.full_result["raw"]) == Counter(job.result)


@check("no results of a job that has not run")
def _():
    job = next(each for each in jobs if each.status == "PENDING")
    assert job.result is None


@check("the other user has other batches and jobs")
def _():
    others = every(guest.get_batches, BatchFilters())
    assert others and not {batch.id for batch in others} & {batch.id for batch in batches}
    assert every(guest.get_batches, BatchFilters(id=batches[0].id)) == []
    assert every(guest.get_jobs, JobFilters(batch_id=batches[0].id)) == []


print(f"{outcomes['passed']} passed, {outcomes['failed']} failed")
sys.exit(1 if outcomes["failed"] else 0)
