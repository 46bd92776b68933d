"""The results of a whole batch, which only QRMI asks for; it takes those of one job alone."""

from uuid import uuid4

import pytest
import requests
from machine import counts


@pytest.fixture
def full_results(stack, writer):
    """The status and the body of the answer about a batch, to the creating user unless it says otherwise."""

    def get(batch_id, user=writer):
        url = f"{stack.baseUrl}/core-fast/api/v1/batches/{batch_id}/full_results"
        answer = requests.get(url, headers={"Authorization": f"Bearer {user['token']}"})
        return answer.status_code, answer.json()

    return get


def results_of(answer):
    status, body = answer
    assert status == 200, body
    return body["data"]


def test_one_job(create, machine, full_results):
    batch = create()
    [job] = batch.ordered_jobs
    document = {"counter": counts, "raw": ["000", "011"], "serialised_results": '{"atom_order": []}'}
    machine.finish(job.id, **document)
    assert results_of(full_results(batch.id)) == {job.id: document}


def test_those_of_several_jobs_that_have_any(create, machine, full_results):
    batch = create(4)
    done, failed, _, also_done = [job.id for job in batch.ordered_jobs]
    machine.finish(done)
    machine.fail(failed, "The register could not be assembled.")
    machine.finish(also_done, counter={"000": 400})
    results = results_of(full_results(batch.id))
    assert list(results.items()) == [(done, {"counter": counts}), (also_done, {"counter": {"000": 400}})]


def test_none_so_far(create, full_results):
    assert results_of(full_results(create(2).id)) == {}
    assert results_of(full_results(create(0, open=True).id)) == {}


def test_results_that_exceed_an_answer_lead_to_the_links(client, create, machine, full_results):
    batch = create(2)
    job_ids = [job.id for job in batch.ordered_jobs]
    raw = ["0" * 100] * 40_000
    machine.finish(*job_ids, counter=counts, raw=raw)
    status, body = full_results(batch.id)
    assert (status, body["code"]) == (422, "422")
    assert "results_link" in body["data"]["description"][0]["msg"]
    assert client.get_job(job_ids[0]).full_result["raw"] == raw


def test_nothing_of_that_id_and_another_users(create, machine, full_results, reader):
    batch = create()
    machine.finish(batch.ordered_jobs[0].id)
    assert full_results(batch.id, reader)[0] == full_results(uuid4())[0] == 404
    assert full_results("no-uuid")[0] == 422
