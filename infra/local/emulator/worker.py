"""A worker: claims batches for one device type, runs their jobs in order, reports each. It may die at any moment."""

import hashlib
import json
import threading
from contextlib import suppress
from datetime import datetime, timezone

from child import Model, run_in_child
from heartbeats import Heartbeats
from service import Conflict, Refusal, Service, Unreachable, upload

RETRY_SECONDS = 5
# A report carries results of this size. Larger ones are uploaded by a link.
MAX_REPORTED_BYTES = 1024 * 1024
# On AWS each call of an idle worker costs money. A new batch waits so long for it at most.
MAX_IDLE_SECONDS = 20


class Worker:
    def __init__(
        self,
        service: Service,
        device_type: str,
        model: Model,
        name: str,
        job_seconds: float,
        stopping: threading.Event,
        max_idle_seconds: float = MAX_IDLE_SECONDS,
    ):
        self._service = service
        self._device_type = device_type
        self._device = f"/api/v1/devices/{device_type}"
        self._model = model
        self._name = name
        self._job_seconds = job_seconds
        self._stopping = stopping
        self._max_idle_seconds = max_idle_seconds

    def work(self) -> None:
        """Until `stopping` is set. Raises Refusal where the service lets this worker announce or claim nothing."""
        announced, calibrated, pause = False, self._model.noise_numbers is None, 0.0
        while not self._stopping.is_set():
            try:
                if not announced:
                    self._service.call("PUT", self._device, {"status": "UP", "specs": self._model.specs})
                    if not calibrated:
                        numbers = self._model.noise_numbers
                        self._service.call("POST", f"{self._device}/calibrations", {"numbers": numbers})
                    self._log("waits for work.")
                    announced = calibrated = True
                claim, retry_after = self._service.call("POST", f"{self._device}/claim", {"worker": self._name})
                if claim is None:
                    pause = max(retry_after, min(2 * pause, self._max_idle_seconds))
                    self._stopping.wait(pause)
                else:
                    pause = 0.0
                    self._run_batch(claim)
            except Unreachable as problem:
                self._log(f"cannot reach the service ({problem}), and tries again in {RETRY_SECONDS} s.")
                announced = False
                self._stopping.wait(RETRY_SECONDS)

    def _run_batch(self, claim: dict) -> None:
        """Runs the batch's jobs until it is done, the lease is lost, or the worker stops."""
        lease, batch = claim["lease"], claim["batch"]
        answer = {"job": claim["job"], "done": False}
        try:
            with Heartbeats(self._service, lease, claim["heartbeat_seconds"], claim["job"]["id"]) as heartbeats:
                while not answer["done"] and not self._stopping.is_set():
                    job = answer["job"]
                    heartbeats.begin(job and job["id"])
                    if job is not None:
                        answer = self._run_job(lease, batch, job, heartbeats)
                    elif not self._stopping.wait(answer["retry_after"]):
                        # An open batch, which may get more jobs.
                        answer = self._call(lease, "next")
                if not answer["done"]:
                    self._service.call("DELETE", f"/api/v1/leases/{lease}")
        except Conflict:
            self._log(f"lost batch {batch['id']}: it ended, or another worker goes on with it.")
        except Exception as problem:
            # Shows that the answer to the claim has arrived: so this counts as a lost worker.
            with suppress(Refusal, Unreachable):
                self._call(lease, "heartbeat", {"job_id": None})
            # Nothing keeps the lease alive from here on: the batch can be claimed again within a
            # minute.
            self._log(f"gives up batch {batch['id']}: {problem!r}")

    def _run_job(self, lease: str, batch: dict, job: dict, heartbeats: Heartbeats) -> dict:
        """Runs and reports a job. The answer holds the next one. Raises Conflict when the lease is lost."""
        started = datetime.now(timezone.utc)
        outcome = run_in_child(
            batch, job, self._model, self._job_seconds, lambda: self._stopping.is_set() or heartbeats.is_over()
        )
        ended = datetime.now(timezone.utc)
        if outcome is None:
            self._log(f"ends job {job['id']} before its time.")
            return {"job": job, "done": False} if self._stopping.is_set() else self._call(lease, "next")
        report = {"start_timestamp": started.isoformat(), "end_timestamp": ended.isoformat()}
        try:
            if "results" in outcome:
                report |= {"status": "DONE", **self._hand_over(lease, job["id"], outcome["results"])}
            else:
                report |= {"status": "ERROR", "errors": [outcome["error"]]}
            answer = self._call(lease, f"jobs/{job['id']}", report)
        except Conflict:
            # Another call ended the job. If the lease is lost as well, this raises again.
            return self._call(lease, "next")
        seconds = (ended - started).total_seconds()
        self._log(f"job {job['id']}: {report['status']} after {seconds:.1f} s. {outcome.get('error', '')}")
        return answer

    def _hand_over(self, lease: str, job_id: str, results: dict) -> dict:
        """What the report says of the results: the document itself, or that it was uploaded because it is large."""
        content = json.dumps(results).encode()
        if len(content) <= MAX_REPORTED_BYTES:
            return {"results_document": results}
        checksum = hashlib.sha256(content).hexdigest()
        link = self._call(lease, f"jobs/{job_id}/results", {"bytes": len(content), "sha256": checksum})
        upload(link["url"], link["headers"], content)
        return {"results": True}

    def _call(self, lease: str, path: str, body: dict | None = None) -> dict:
        return self._service.call("POST", f"/api/v1/leases/{lease}/{path}", body or {}).data

    def _log(self, text: str) -> None:
        print(f"{datetime.now():%H:%M:%S} {self._device_type} {text}".rstrip(), flush=True)
