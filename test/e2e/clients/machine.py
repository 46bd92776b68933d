"""A machine that runs jobs: it reports what happens by lifecycle events and uploads results, as the real ones do."""

import json
from collections import Counter
from contextlib import contextmanager
from datetime import datetime, timezone
from functools import cache
from threading import Event, Thread
from urllib.parse import urlsplit
from uuid import uuid4

import boto3
import requests

counts = {"000": 8, "011": 1, "101": 1}


@cache
def results_bucket(stack_url, token):
    """The bucket's name, from the link to the results of any finished job of the demo data."""
    headers = {"Authorization": f"Bearer {token}"}
    jobs = requests.get(f"{stack_url}/api/v2/jobs?status=DONE&limit=1", headers=headers).json()["data"]
    link = requests.get(f"{stack_url}/api/v1/jobs/{jobs[0]['id']}/results_link", headers=headers).json()["data"]
    return urlsplit(link["results_link"]).path.split("/")[1]


class Machine:
    def __init__(self, stack, user):
        self.stack = stack
        self.user = user

    def report(self, event_type, **data):
        """Sends one event and waits until it has been applied."""
        self.send([self.event(event_type, **data)])

    def event(self, event_type, **data):
        return {
            "id": str(uuid4()),
            "type": event_type,
            "time": now(),
            "user_id": self.user["userId"],
            "data": data,
        }

    def send(self, events):
        answer = requests.post(f"{self.stack.baseUrl}/_local/events", json=events).json()
        assert answer["accepted"] == len(events), answer

    def start(self, *job_ids):
        self.send([self.event("job.updated", job_id=each, status="RUNNING", start_timestamp=now()) for each in job_ids])

    def finish(self, *job_ids, **results):
        """Uploads the results, by default only `counts`, and ends the jobs."""
        events = []
        for job_id in job_ids:
            key = f"results/{self.user['userId']}/{job_id}.json"
            self.upload(key, results or {"counter": counts})
            data = {"status": "DONE", "end_timestamp": now(), "results_key": key}
            events.append(self.event("job.updated", job_id=job_id, **data))
        self.send(events)

    def fail(self, job_id, *errors):
        self.report("job.updated", job_id=job_id, status="ERROR", end_timestamp=now(), errors=list(errors))

    def upload(self, key, document):
        bucket = results_bucket(self.stack.baseUrl, self.stack.users[0]["token"])
        self.object_store().put_object(
            Bucket=bucket, Key=key, Body=json.dumps(document).encode(), ContentType="application/json"
        )

    def object_store(self):
        return boto3.client(
            "s3",
            endpoint_url=self.stack.objectStoreEndpoint,
            region_name="us-east-1",
            aws_access_key_id="local",
            aws_secret_access_key="local",
        )

    @contextmanager
    def working_on(self, project_id, **results):
        """Meanwhile, runs every job that appears in the project. Yields how often it has run each job."""
        runs = Counter()
        done = Event()
        faults = []

        def work():
            try:
                while not done.wait(0.2):
                    if job_ids := [job["id"] for job in self.pending_jobs(project_id)]:
                        self.start(*job_ids)
                        self.finish(*job_ids, **results)
                        runs.update(job_ids)
            except Exception as fault:
                faults.append(fault)

        thread = Thread(target=work)
        thread.start()
        try:
            yield runs
        finally:
            done.set()
            thread.join()
        assert not faults, faults

    def pending_jobs(self, project_id):
        query = {"project_id": project_id, "status": "PENDING", "order_by_direction": "ASC"}
        headers = {"Authorization": f"Bearer {self.user['token']}"}
        answer = requests.get(f"{self.stack.baseUrl}/api/v2/jobs", params=query, headers=headers)
        answer.raise_for_status()
        return answer.json()["data"]


def now():
    return datetime.now(timezone.utc).isoformat()
