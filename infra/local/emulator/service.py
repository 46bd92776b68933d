"""Calls the service: tokens, JSON, and repetition. Every call may be repeated without harm."""

import base64
import json
import threading
import time
from collections.abc import Callable
from http.client import HTTPException
from typing import Any, NamedTuple, TypeVar
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

TIMEOUT_SECONDS = 30
WAITS_SECONDS = (1, 2, 4, 8)
REPEATED_STATUSES = {408, 425, 429, 500, 502, 503, 504}

Value = TypeVar("Value")


class Refusal(Exception):
    """An answer that a repetition does not change."""

    def __init__(self, status: int, text: str):
        super().__init__(f"{status}: {text}")
        self.status = status


class Conflict(Refusal):
    """409: the lease is lost, or the job has ended in another way."""


class Unreachable(Exception):
    """No answer, or only failures, however often the call was repeated."""


class Answer(NamedTuple):
    data: Any
    retry_after: float


class Service:
    """May be used by several threads."""

    def __init__(self, base_url: str, token_endpoint: str, client_id: str, client_secret: str):
        self._base_url = base_url.rstrip("/")
        self._token_endpoint = token_endpoint
        self._credentials = base64.b64encode(f"{client_id}:{client_secret}".encode()).decode()
        self._token = ""
        self._token_ends = 0.0
        self._lock = threading.Lock()

    def call(self, method: str, path: str, body: dict | None = None) -> Answer:
        """Raises Refusal or Unreachable."""
        try:
            return repeat(lambda: self._send(method, path, body))
        except Refusal as refusal:
            if refusal.status != 401:
                raise
            self._token_ends = 0.0
            return repeat(lambda: self._send(method, path, body))

    def _send(self, method: str, path: str, body: dict | None) -> Answer:
        content = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._get_token()}", "Content-Type": "application/json"}
        with open_url(Request(self._base_url + path, content, headers, method=method)) as response:
            return Answer(json.load(response)["data"], float(response.headers.get("Retry-After", 1)))

    def _get_token(self) -> str:
        """The same for a long time, until a minute before it expires: each one is billed."""
        with self._lock:
            if time.monotonic() > self._token_ends:
                form = urlencode({"grant_type": "client_credentials"}).encode()
                headers = {"Authorization": f"Basic {self._credentials}"}
                with open_url(Request(self._token_endpoint, form, headers)) as response:
                    answer = json.load(response)
                self._token = answer["access_token"]
                self._token_ends = time.monotonic() + answer["expires_in"] - 60
            return self._token


def upload(url: str, headers: dict[str, str], content: bytes) -> None:
    """Puts content where a pre-signed link points. Raises Refusal or Unreachable."""
    repeat(lambda: open_url(Request(url, content, headers, method="PUT")).close())


def repeat(attempt: Callable[[], Value]) -> Value:
    """Tries again after a dropped connection and after what the service could not help."""
    for wait in (*WAITS_SECONDS, None):
        try:
            return attempt()
        except HTTPError as error:
            if error.code not in REPEATED_STATUSES:
                raise (Conflict if error.code == 409 else Refusal)(error.code, read_description(error)) from None
            problem: Exception = error
        except (OSError, HTTPException, ValueError) as error:
            problem = error
        if wait is None:
            raise Unreachable(str(problem)) from problem
        time.sleep(wait)
    raise AssertionError


def open_url(request: Request):
    return urlopen(request, timeout=TIMEOUT_SECONDS)


def read_description(error: HTTPError) -> str:
    """Of the service's own errors; the reason phrase of any other."""
    try:
        description = json.load(error)["data"]["description"]
        return description if isinstance(description, str) else json.dumps(description)
    except (OSError, ValueError, LookupError, TypeError):
        return error.reason
