import pytest
from pasqal_cloud.device import DeviceTypeName
from pasqal_cloud.errors import JobCreationError, JobRetryError
from refusals import has_fault_in, refused
from sequence import sequence


@pytest.fixture
def open_batch(create):
    return create(1, open=True)


def test_jobs_are_added_behind_those_that_are_there(client, open_batch):
    [first] = open_batch.ordered_jobs
    open_batch.add_jobs([{"runs": 7, "variables": {"omega": 2}}, {"runs": 8, "variables": None}])
    assert [job.runs for job in open_batch.ordered_jobs] == [100, 7, 8]
    assert [job.creation_order for job in open_batch.ordered_jobs] == [0, 1, 2]
    assert open_batch.ordered_jobs[0].id == first.id
    assert (open_batch.jobs_count, open_batch.jobs_count_per_status["PENDING"]) == (3, 3)
    read = client.get_batch(open_batch.id)
    assert [job.id for job in read.ordered_jobs] == [job.id for job in open_batch.ordered_jobs]


def test_jobs_are_added_by_the_batchs_id(client, open_batch):
    batch = client.add_jobs(open_batch.id, [{"runs": 9}])
    assert [job.runs for job in batch.ordered_jobs] == [100, 9]
    assert batch.sequence_builder == open_batch.sequence_builder


def test_a_job_with_a_sequence_of_its_own(client, open_batch):
    batch = client.add_jobs(open_batch.id, [{"runs": 9, "serialized_sequence": sequence(name="own")}])
    assert client.get_job(batch.ordered_jobs[1].id).sequence == sequence(name="own")


def test_so_many_jobs_that_an_answer_does_not_hold_them(client):
    batch = client.create_batch(sequence(), [], open=True, device_type=DeviceTypeName.EMU_FREE)
    for call in range(3):
        batch.add_jobs([{"runs": 50 * call + index + 1} for index in range(50)])
    assert [job.runs for job in batch.ordered_jobs] == list(range(1, 151))


def test_a_job_is_run_again(client, open_batch, machine):
    [job] = open_batch.ordered_jobs
    machine.fail(job.id, "The register could not be assembled.")
    open_batch.retry(client.get_job(job.id))
    failed, again = client.get_batch(open_batch.id).ordered_jobs
    assert (failed.status, failed.errors) == ("ERROR", ["The register could not be assembled."])
    assert (again.status, again.runs, again.variables) == ("PENDING", job.runs, job.variables)


def test_a_closed_batch_takes_no_more_jobs(client, create):
    batch = create()
    with refused(JobCreationError, 409):
        client.add_jobs(batch.id, [{"runs": 1}])
    with pytest.raises(JobRetryError):
        batch.retry(batch.ordered_jobs[0])
    assert client.get_batch(batch.id).jobs_count == 1


@pytest.mark.parametrize(
    "jobs, place",
    [
        ([{"runs": 0}], ["body", 0, "runs"]),
        ([{"runs": 1}, {"runs": 1, "variables": {"ogema": 1}}], ["body", 1, "variables"]),
        ([{"runs": 1, "serialized_sequence": "[1]"}], ["body", 0, "sequence"]),
        ([{"runs": 1}] * 5_001, ["body"]),
    ],
)
def test_wrong_jobs_are_refused_all_together(client, open_batch, jobs, place):
    with refused(JobCreationError, 422) as answer:
        client.add_jobs(open_batch.id, jobs)
    assert has_fault_in(answer, *place), answer["detail"]
    assert client.get_batch(open_batch.id).jobs_count == 1


def test_a_job_without_any_sequence_is_refused(client):
    own = [{"runs": 1, "serialized_sequence": sequence()}]
    batch = client.create_batch(None, own, open=True, device_type=DeviceTypeName.EMU_FREE)
    with refused(JobCreationError, 422) as answer:
        client.add_jobs(batch.id, [{"runs": 1}])
    assert has_fault_in(answer, "body", 0)
