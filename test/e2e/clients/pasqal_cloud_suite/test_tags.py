import pytest
from pasqal_cloud.errors import BatchSetTagsError
from pasqal_cloud.utils.filters import BatchFilters
from refusals import has_fault_in, refused


def test_tags_replace_those_that_were_there(client, create, project_id):
    batch = create(tags=["old"])
    batch.set_tags(["new", "ÅÄÖ 量子"])
    assert sorted(batch.tags) == ["new", "ÅÄÖ 量子"]
    assert sorted(client.get_batch(batch.id).tags) == ["new", "ÅÄÖ 量子"]
    [found] = client.get_batches(BatchFilters(project_id=project_id, tag="new")).results
    assert found.id == batch.id
    assert client.get_batches(BatchFilters(project_id=project_id, tag="old")).total == 0


def test_again_and_none(client, create):
    batch = create(tags=["old"])
    for tags in (["a"], ["a"], []):
        assert client.set_batch_tags(batch.id, tags).tags == tags


def test_a_batch_that_has_ended(client, create):
    batch = create()
    batch.cancel()
    batch.set_tags(["late"])
    assert (batch.tags, batch.status) == (["late"], "CANCELED")


@pytest.mark.parametrize("tags, place", [([7], ["body", 0]), ("text", ["body"]), (["x" * 10_000], ["body", 0])])
def test_wrong_tags(client, create, tags, place):
    batch = create(tags=["old"])
    with refused(BatchSetTagsError, 422) as answer:
        client.set_batch_tags(batch.id, tags)
    assert has_fault_in(answer, *place)
    assert client.get_batch(batch.id).tags == ["old"]
