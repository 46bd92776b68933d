"""Calls the local stack through a client that openapi-python-client generated. python.sh checks and runs it.

usage: python_client.py STACK_JSON
"""

import json
import sys
from urllib.request import urlopen
from uuid import UUID

from quantum_batch_api_client import AuthenticatedClient, Client
from quantum_batch_api_client.api.batches import list_batches
from quantum_batch_api_client.api.jobs import get_results_link, list_jobs
from quantum_batch_api_client.api.quizzes import submit_quizzes
from quantum_batch_api_client.api.service import get_health
from quantum_batch_api_client.models import (
    BatchOrder,
    BatchStatus,
    ConsumedMultipleQuizzesRequest,
    ErrorResponse,
    GetHealthResponse,
    GetResultsLinkResponse,
    HTTPValidationError,
    JobStatus,
    ListBatchesResponse,
    ListJobsResponse,
    SortDirection,
    SubmitQuizzesResponse,
)

stack = json.load(open(sys.argv[1]))
client = AuthenticatedClient(base_url=stack["baseUrl"], token=stack["users"][0]["token"])

batches = list_batches.sync(
    client=client, status=[BatchStatus.DONE, BatchStatus.RUNNING], order_by=BatchOrder.JOBS_COUNT, limit=5
)
assert isinstance(batches, ListBatchesResponse), batches
assert 0 < len(batches.data) <= batches.pagination.total
for batch in batches.data:
    assert batch.status in (BatchStatus.DONE, BatchStatus.RUNNING)
    assert isinstance(batch.id, UUID) and batch.created_at.tzinfo is not None
    assert isinstance(batch.jobs_count_per_status.done, int)

refused = list_batches.sync(client=client, limit=0)
assert isinstance(refused, HTTPValidationError), refused
assert refused.detail[0].loc == ["query", "limit"]

# The newest may have been erased by other checks.
jobs = list_jobs.sync(client=client, status=[JobStatus.DONE], order_by_direction=SortDirection.ASC, limit=1)
assert isinstance(jobs, ListJobsResponse), jobs
link = get_results_link.sync(str(jobs.data[0].id), client=client)
assert isinstance(link, GetResultsLinkResponse), link
assert link.data.results_link is not None
assert urlopen(link.data.results_link).status == 200

body = ConsumedMultipleQuizzesRequest.from_dict({"data": {"quiz-1": [{"answer": 1}, {"answer": None}]}})
quizzes = submit_quizzes.sync(client=client, body=body)
assert isinstance(quizzes, SubmitQuizzesResponse), quizzes
assert [record.data.to_dict() for record in quizzes.data] == [{"answer": 1}, {"answer": None}]

stranger = Client(base_url=stack["baseUrl"])
unauthorized = list_batches.sync(client=stranger)  # type: ignore[arg-type]
assert isinstance(unauthorized, ErrorResponse) and unauthorized.code == "401", unauthorized
health = get_health.sync(client=stranger)
assert isinstance(health, GetHealthResponse), health
print("The generated Python client works.")
