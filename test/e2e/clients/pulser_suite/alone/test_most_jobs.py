"""The most jobs that a call may have. Runs alone: beside other creations of the user it would not end within the client's 30 s."""

from pulser import QPUBackend
from pulser_sequences import plain


def test_5000_jobs_at_once(connection, fresnel):
    results = QPUBackend(plain(fresnel), connection).run([{"runs": 10}] * 5_000)
    assert len(set(results.job_ids)) == 5_000
