"""Three people of one project: an administrator, a member and a viewer."""

from uuid import uuid4

import pytest
from cloud_client import log_in
from pasqal_cloud.device import DeviceTypeName
from pasqal_cloud.errors import (
    BatchCancellingError,
    BatchCreationError,
    BatchFetchingError,
    BatchSetTagsError,
    JobCancellingError,
    JobCreationError,
)
from pasqal_cloud.utils.filters import BatchFilters, JobFilters, PaginationParams
from refusals import refused
from sequence import sequence


@pytest.fixture(scope="module")
def users(stack):
    return {user["username"]: user for user in stack.users if "project" in user}


@pytest.fixture(scope="module")
def people(stack, users):
    return {name: log_in(stack, user, user["project"]["id"]) for name, user in users.items()}


@pytest.fixture
def tag():
    return str(uuid4())


def create(client, tag, **options):
    return client.create_batch(
        sequence("omega"),
        [{"runs": 100, "variables": {"omega": 1}}, {"runs": 200, "variables": {"omega": 2}}],
        device_type=DeviceTypeName.EMU_FREE,
        tags=[tag],
        **options,
    )


def every(fetch, filters):
    items, total = [], 1
    while len(items) < total:
        page = fetch(filters, PaginationParams(offset=len(items), limit=3))
        assert page.results
        items, total = items + page.results, page.total
    return [item.id for item in items]


def test_lists_of_two_users_are_their_union(people, users, tag):
    created = [create(people[("admin", "member")[at % 2]], tag).id for at in range(5)]
    both = [users[name]["userId"] for name in ("admin", "member")]
    for client in people.values():
        assert every(client.get_batches, BatchFilters(user_id=both, tag=tag)) == created[::-1]
    of_member = BatchFilters(user_id=both[1], tag=tag)
    assert every(people["viewer"].get_batches, of_member) == [created[3], created[1]]
    # Without more, everyone has their own.
    assert every(people["admin"].get_batches, BatchFilters(tag=tag)) == [created[4], created[2], created[0]]
    assert people["viewer"].get_batches(BatchFilters(tag=tag)).total == 0
    jobs = JobFilters(user_id=both, batch_id=created)
    assert len(every(people["viewer"].get_jobs, jobs)) == 10


def test_a_fellows_batch_is_read_with_its_jobs(people, tag):
    batch = create(people["member"], tag)
    for client in people.values():
        found = client.get_batch(batch.id)
        assert [job.id for job in found.ordered_jobs] == [job.id for job in batch.ordered_jobs]
        assert client.get_job(batch.ordered_jobs[0].id).batch_id == batch.id


def test_members_do_not_end_what_fellows_have_begun(people, tag):
    batch = create(people["admin"], tag, open=True)
    for name in ("member", "viewer"):
        client = people[name]
        for error, call in [
            (BatchCancellingError, lambda: client.cancel_batch(batch.id)),
            (JobCancellingError, lambda: client.cancel_job(batch.ordered_jobs[0].id)),
            (JobCreationError, lambda: client.add_jobs(batch.id, [{"runs": 1}])),
            (BatchSetTagsError, lambda: client.set_batch_tags(batch.id, ["mine"])),
        ]:
            with refused(error, 403) as body:
                call()
            assert body["data"]["reason"] == "not_the_owner"
    assert people["admin"].get_batch(batch.id).status == "PENDING"


def test_administrators_do_and_the_owner_reads_who(people, users, tag):
    batch = create(people["member"], tag)
    assert people["admin"].cancel_batch(batch.id).status == "CANCELED"
    canceled = people["member"].get_batch(batch.id)
    assert canceled.status == "CANCELED"
    said = f"{users['admin']['name']}, who administers the project, canceled the batch."
    assert [job.errors for job in canceled.ordered_jobs] == [[said], [said]]


def test_viewers_do_not_submit(people, tag):
    with refused(BatchCreationError, 403):
        create(people["viewer"], tag)


def test_strangers_find_nothing(people, reading_client, users, tag):
    batch = create(people["member"], tag)
    with refused(BatchFetchingError, 404):
        reading_client.get_batch(batch.id)
    assert reading_client.get_batches(BatchFilters(user_id=users["member"]["userId"])).total == 0
