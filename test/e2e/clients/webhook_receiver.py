"""A receiver of webhooks that verifies them with the Python that docs/guides/webhooks.md gives to receivers.

usage: webhook_receiver.py STACK_JSON      (a local stack that was started with --deliver-webhooks)
"""

import json
import re
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

page = (Path(__file__).parents[3] / "docs/guides/webhooks.md").read_text()
snippet = {}
exec(re.search(r"^```python\n(.*?)^```$", page, re.S | re.M)[1], snippet)
verify = snippet["verify"]

stack = json.loads(Path(sys.argv[1]).read_text())
received = []


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        received.append((dict(self.headers), body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def call(method, path, body=None):
    headers = {"Authorization": f"Bearer {stack['users'][0]['token']}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(stack["baseUrl"] + path, data, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["data"]


def refuses(*arguments):
    try:
        verify(*arguments)
    except ValueError:
        return True
    return False


server = HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
batch = call("POST", "/api/v1/batches", {
    "project_id": "28f69c3b-e076-4ad3-b3f9-cbfc3f84e51e",
    "device_type": "EMU_MPS",
    "sequence_builder": json.dumps({"variables": {}}),
    "webhook": f"http://127.0.0.1:{server.server_port}/hooks",
    "jobs": [{"runs": 1}, {"runs": 2}],
})
call("PATCH", f"/api/v2/batches/{batch['id']}/cancel")
deadline = time.time() + 30
while len(received) < 3 and time.time() < deadline:
    time.sleep(0.1)

key = call("GET", "/api/v1/webhooks/public-key")["public_key"]
messages = [verify(headers, body, [key]) for headers, body in received]
assert sorted(message["type"] for message in messages) == ["batch.updated", "job.updated", "job.updated"], messages
assert {message["data"]["batch_id"] for message in messages} == {batch["id"]}
headers, body = received[0]
other_key = "whpk_" + "A" * 43 + "="
assert refuses(headers, body + b" ", [key])
assert refuses({**headers, "webhook-id": "msg_other"}, body, [key])
assert refuses({**headers, "webhook-timestamp": str(int(time.time()) - 301)}, body, [key])
for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
    assert refuses({each: value for each, value in headers.items() if each != name}, body, [key]), name
assert refuses(headers, body, [other_key])
assert not refuses(headers, body, [other_key, key])
print(f"{len(messages)} webhooks verified in Python")
