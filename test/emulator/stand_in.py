"""A stand-in for the service's device endpoints, which can be made to fail."""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class StandIn:
    """One batch of `jobs`, for the first one who claims."""

    def __init__(self, batch: dict, jobs: list[dict]):
        self.batch = batch
        self.waiting = list(jobs)
        self.running: dict | None = None
        self.open = False
        self.lease_lost = False
        self.heartbeat_seconds = 0.1
        self.canceled: set[str] = set()
        self.released = threading.Event()
        self.finished = threading.Event()
        self.calls: list[str] = []
        self.beats: list[str | None] = []
        self.announced: dict[str, dict] = {}
        self.calibrations: list[dict] = []
        self.reports: dict[str, dict] = {}
        self.uploads: dict[str, bytes] = {}
        # By job, whichever way they came.
        self.results: dict[str, dict] = {}
        self.tokens = 0
        self.token_seconds = 3600
        # Statuses to answer instead, by the last part of the path, each of them once; None drops
        # the connection.
        self.failures: dict[str, list[int | None]] = {}
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                stand_in._handle(self)

            do_GET = do_POST = do_PUT = do_DELETE = handle_any

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handle(self, request: BaseHTTPRequestHandler) -> None:
        content = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        name = request.path.rpartition("/")[2]
        self.calls.append(f"{request.command} {request.path}")
        if failures := self.failures.get(name):
            status = failures.pop(0)
            if status is None:
                request.close_connection = True
                return
        else:
            status = None
        if status is None:
            status, body = self._answer(request, name, content)
        else:
            body = {"data": {"description": "as the test wants it"}}
        text = json.dumps(body).encode()
        request.send_response(status)
        request.send_header("Content-Length", str(len(text)))
        request.send_header("Retry-After", "0.05")
        request.end_headers()
        request.wfile.write(text)

    def _answer(self, request: BaseHTTPRequestHandler, name: str, content: bytes) -> tuple[int, dict]:
        parts = request.path.strip("/").split("/")
        if name == "token":
            self.tokens += 1
            assert request.headers["Authorization"] == "Basic aWQ6c2VjcmV0"
            return 200, {"access_token": f"token-{self.tokens}", "expires_in": self.token_seconds}
        if parts[0] == "upload":
            assert request.headers["X-Checksum"] == hashlib.sha256(content).hexdigest()
            self.uploads[parts[1]] = content
            self.results[parts[1]] = json.loads(content)
            return 200, {}
        assert request.headers["Authorization"] == f"Bearer token-{self.tokens}"
        body = json.loads(content or b"{}")
        if request.command == "PUT":
            self.announced[name] = body
            return 200, {"data": body}
        if name == "calibrations":
            self.calibrations.append(body)
            return 201, {"data": body}
        if name == "claim":
            if self.running is not None or not self.waiting:
                return 200, {"data": None}
            claim = {"lease": "the-lease", "heartbeat_seconds": self.heartbeat_seconds, "batch": self.batch}
            return 200, {"data": {**claim, "job": self._start_next()}}
        assert parts[:4] == ["api", "v1", "leases", "the-lease"], request.path
        if self.lease_lost:
            return 409, {"data": {"description": "The lease is lost."}}
        if request.command == "DELETE":
            self.released.set()
            return 200, {"data": {}}
        if name == "heartbeat":
            self.beats.append(body["job_id"])
            return 200, {"data": {"expires_at": "", "cancel": body["job_id"] in self.canceled}}
        if name == "next":
            return 200, {"data": self._next()}
        job_id = parts[5]
        if job_id in self.canceled:
            return 409, {"data": {"description": "The job is CANCELED."}}
        if name == "results":
            headers = {"X-Checksum": body["sha256"], "Content-Type": "application/json"}
            return 200, {"data": {"url": f"{self.url}/upload/{job_id}", "headers": headers}}
        self.reports[job_id] = body
        if "results_document" in body:
            self.results[job_id] = body["results_document"]
        return 200, {"data": self._next()}

    def _next(self) -> dict:
        job = self._start_next()
        done = job is None and not self.open
        if done:
            self.running = None
            self.finished.set()
        return {"job": job, "done": done, "retry_after": 0.05}

    def _start_next(self) -> dict | None:
        self.running = self.waiting.pop(0) if self.waiting else None
        return self.running
