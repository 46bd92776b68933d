"""The most jobs that a call may have. Runs alone: beside other creations of the user it would not end within the client's 30 s."""

from pasqal_cloud.errors import BatchCreationError
from pulser import QPUBackend
from pulser_sequences import plain


def test_5000_jobs_at_once(connection, fresnel):
    backend = QPUBackend(plain(fresnel), connection)
    try:
        results = backend.run([{"runs": 10}] * 5_000)
        jobs = 5_000
    except BatchCreationError as refused:
        # A slow machine does not take 5,000 in the time of a call, and the client sends no key.
        assert "413: There was no time for all jobs" in str(refused)
        assert "send fewer in a call" in str(refused)
        results = backend.run([{"runs": 10}] * 1_000)
        jobs = 1_000
    assert len(set(results.job_ids)) == jobs
