import threading
import time

from service import Conflict, Refusal, Service, Unreachable


class Heartbeats:
    """
    Keeps a lease alive from a thread of its own, and learns whether the running job is still wanted. Claims, reports and questions for
    the next job count as heartbeats: one goes out only when none of them has for `seconds`.
    """

    def __init__(self, service: Service, lease: str, seconds: float, job_id: str):
        self._service = service
        self._lease = lease
        self._seconds = seconds
        self.begin(job_id)
        self._is_lost = False
        self._canceled: str | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> "Heartbeats":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def begin(self, job_id: str | None) -> None:
        """The answer to a call that counts as a heartbeat has brought this job, or none yet."""
        self.job_id = job_id
        self._due = time.monotonic() + self._seconds

    def is_over(self) -> bool:
        """Whether nobody waits for the running job any more: it was canceled, or the lease is lost."""
        return self._is_lost or self._canceled == self.job_id

    def _beat(self) -> None:
        while not self._ended.wait(max(0.0, self._due - time.monotonic())):
            if time.monotonic() < self._due:
                continue  # Another call counted meanwhile.
            job_id = self.job_id
            self._due = time.monotonic() + self._seconds
            try:
                answer = self._service.call("POST", f"/api/v1/leases/{self._lease}/heartbeat", {"job_id": job_id})
                if answer.data["cancel"]:
                    self._canceled = job_id
            except Conflict:
                self._is_lost = True
                return
            except (Refusal, Unreachable):
                pass
