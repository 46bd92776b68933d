"""A worker for one machine. Replace the end of `run`, and it works.

Needs Python 3.10 and `pip install requests pulser`.

Environment: API, TOKEN_ENDPOINT, DEVICE_CLIENT_ID, DEVICE_CLIENT_SECRET, DEVICE_TYPE, and DEVICE_SPECS:
a file with the text of Pulser's `device.to_abstract_repr()`. SIGTERM and Ctrl-C end it: its batch can be
claimed again at once. It ends by itself, with exit code 1, if the service refuses its first call.
"""

import hashlib
import json
import os
import signal
import socket
import sys
import threading
import time
import traceback
from datetime import datetime
from pathlib import Path

import requests

API, TYPE = os.environ["API"], os.environ["DEVICE_TYPE"]
CLIENT = os.environ["DEVICE_CLIENT_ID"], os.environ["DEVICE_CLIENT_SECRET"]
NAME = f"{socket.gethostname()}-{os.getpid()}"  # For operators, who may see several workers of a host.
WAITS_SECONDS = (1, 2, 4, 8)
REPEATED_STATUSES = (408, 425, 429, 500, 502, 503, 504)
MAX_IDLE_SECONDS = 20
DEFAULT_RUNS = 100
MAX_REPORTED_BYTES = 1024 * 1024  # A report carries results of this size. Larger ones are uploaded by a link.
MAX_ERROR_LENGTH = 2_000  # The service takes 16,000 bytes of escaped JSON: as many as 7 for a character.
token = {"ends": 0.0}


class JobFault(Exception):
    """The job is at fault: it becomes ERROR, and its user reads this text."""


class Stopped(BaseException):
    """SIGTERM or Ctrl-C."""


def run(batch, job, canceled):
    """Runs the job and returns its results. Nobody wants them once the event `canceled` is set.

    The sequence is job["sequence"] or batch["sequence_builder"]: JSON text that Pulser wrote. job["variables"]
    is None or a dict: of numbers, lists of numbers, and for a mappable register "qubits". job["runs"] may be None.
    Raise JobFault for a job that cannot run. Anything else that is raised is the machine's fault.
    """
    from pulser import Sequence
    from pulser.sampler import sample

    try:
        sequence = Sequence.from_abstract_repr(job["sequence"] or batch["sequence_builder"])
        if sequence.is_parametrized() or sequence.is_register_mappable():
            sequence = sequence.build(**(job["variables"] or {}))
        samples = sample(sequence)  # For each channel, amplitude, detuning and phase at each nanosecond.
    except Exception as error:
        raise JobFault(f"The sequence cannot be built: {error!r}") from error
    # The first bit of a bitstring is the first of these qubits, and so on.
    qubits = sequence.register.qubit_ids
    runs = job["runs"] or DEFAULT_RUNS
    # Here your control system plays the samples, and counts. This machine always measures zeros.
    log(f"plays {samples.max_duration} ns on {len(qubits)} qubits, {runs} times")
    return {"counter": {"0" * len(qubits): runs}}


def log(text):
    print(f"{datetime.now():%H:%M:%S} {TYPE} {text}", flush=True)


def send(method, url, **options):
    """Every call may be repeated: after a dropped connection, 408, 429 and 5xx. Raises RequestException."""
    for wait in (*WAITS_SECONDS, None):
        try:
            answer = requests.request(method, url, timeout=30, **options)
            if wait is None or answer.status_code not in REPEATED_STATUSES:
                answer.raise_for_status()
                return answer
        except (requests.ConnectionError, requests.Timeout):
            if wait is None:
                raise
        time.sleep(wait)


def call(method, path, body=None):
    if time.monotonic() > token["ends"]:
        grant = {"grant_type": "client_credentials"}
        answer = send("POST", os.environ["TOKEN_ENDPOINT"], data=grant, auth=CLIENT).json()
        token.update(text=answer["access_token"], ends=time.monotonic() + answer["expires_in"] - 60)
    return send(method, f"{API}/api/v1/{path}", json=body, headers={"Authorization": "Bearer " + token["text"]})


def beat(lease, job, seconds, canceled, ended):
    # The claim or report that brought the job counts as a heartbeat: shorter jobs send none.
    while not ended.wait(seconds):
        try:
            if call("POST", f"leases/{lease}/heartbeat", {"job_id": job["id"]}).json()["data"]["cancel"]:
                canceled.set()
        except requests.RequestException as problem:
            if problem.response is not None and problem.response.status_code == 409:
                canceled.set()  # The lease is lost.
            log(f"had no answer to a heartbeat: {problem}")


def hand_over(lease, job, results):
    """What the report says of the results: the document itself, or that it was uploaded because it is large."""
    content = json.dumps(results, allow_nan=False).encode()
    if len(content) <= MAX_REPORTED_BYTES:
        return {"results_document": results}
    checksum = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    link = call("POST", f"leases/{lease}/jobs/{job['id']}/results", checksum).json()["data"]
    send("PUT", link["url"], data=content, headers=link["headers"])
    return {"results": True}


def run_job(lease, batch, job, seconds):
    """Runs a job and reports it. Returns the answer, which holds the next job."""
    log(f"begins job {job['id']} of batch {batch['id']}")
    began = time.monotonic()
    canceled, ended = threading.Event(), threading.Event()
    threading.Thread(target=beat, args=(lease, job, seconds, canceled, ended), daemon=True).start()
    try:
        results = run(batch, job, canceled)
        if canceled.is_set():
            log(f"leaves job {job['id']}: it was canceled, or the lease is lost")
            return call("POST", f"leases/{lease}/next", {}).json()["data"]
        report = {"status": "DONE", **hand_over(lease, job, results)}
    except JobFault as fault:
        report = {"status": "ERROR", "errors": [str(fault)[:MAX_ERROR_LENGTH]]}
    finally:
        ended.set()
    answer = call("POST", f"leases/{lease}/jobs/{job['id']}", report).json()["data"]
    log(f"reported job {job['id']}: {report['status']} after {time.monotonic() - began:.1f} s")
    return answer


def run_batch(claim):
    """Runs the jobs of a batch in their order, until it is done or another worker has it."""
    lease, answer = claim["lease"], {"done": False, "job": claim["job"]}
    try:
        while not answer["done"]:
            try:
                if answer["job"] is not None:
                    answer = run_job(lease, claim["batch"], answer["job"], claim["heartbeat_seconds"])
                    continue
                time.sleep(answer["retry_after"])  # An open batch, which may get more jobs.
            except requests.HTTPError as problem:
                if problem.response.status_code != 409:
                    raise
            # After 409 this says how to go on: with the next job, not at all, or 409 again.
            answer = call("POST", f"leases/{lease}/next", {}).json()["data"]
    except Stopped:
        call("DELETE", f"leases/{lease}")
        log(f"gave back batch {claim['batch']['id']}")
        raise
    except requests.RequestException:
        raise
    except Exception:
        # Shows that the answer to the claim has arrived: so this counts as a lost worker.
        call("POST", f"leases/{lease}/heartbeat", {"job_id": None})
        raise


def stop(number, _):
    raise Stopped(signal.Signals(number).name)


def main():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    specs = Path(os.environ["DEVICE_SPECS"]).read_text(encoding="utf-8")
    announced, pause = False, 0.0
    while True:
        try:
            if not announced:
                call("PUT", f"devices/{TYPE}", {"status": "UP", "specs": specs})
                announced = True
                log(f"waits for work, as {NAME}")
            answer = call("POST", f"devices/{TYPE}/claim", {"worker": NAME})
            claim = answer.json()["data"]
            if claim is None:
                # While the queue stays empty, each pause is twice the one before: calls cost money.
                pause = max(float(answer.headers["Retry-After"]), min(2 * pause, MAX_IDLE_SECONDS))
                time.sleep(pause)
            else:
                pause = 0.0
                run_batch(claim)
        except Exception as problem:
            refusal = getattr(problem, "response", None)
            if not announced and refusal is not None and refusal.status_code not in REPEATED_STATUSES:
                sys.exit(f"{TYPE} is refused: {problem}: {refusal.text[:MAX_ERROR_LENGTH]}")
            if refusal is not None and refusal.status_code == 409:
                log("lost the batch: it ended, or another worker goes on with it")
                continue
            # Nothing keeps the lease: a worker can take the batch over after a minute. A job that
            # three workers have lost in this way becomes ERROR.
            traceback.print_exc()
            token["ends"] = 0.0
            log("goes on in 5 s")
            time.sleep(5)


if __name__ == "__main__":
    try:
        main()
    except Stopped as signal_name:
        log(f"ends: {signal_name}")
