import json
from contextlib import contextmanager

import pytest


@contextmanager
def refused(error_class, status):
    """Expects the client's error about an answer with this status; yields the answer's body, filled at the end."""
    body = {}
    with pytest.raises(error_class) as raised:
        yield body
    body.update(json.loads(str(raised.value).split("\nDetails: ", 1)[1]))
    assert body["code"] == str(status), body


def fault_places(body):
    return [item["loc"] for item in body["detail"]]


def has_fault_in(body, *place):
    """Whether something at this place of the input, or within it, was refused."""
    return any(loc[: len(place)] == list(place) for loc in fault_places(body))
