"""A message that always fails is put aside, with pytest and curl.

The lab makes the visibility timeout pass at once, so that the test does not wait for it. Start a
server first: lazuli --inMemoryPersistence --lab. LAZULI_QUEUE and LAZULI_LAB name other addresses.
"""

import base64
import datetime
import hashlib
import hmac
import json
import os
import re
import subprocess
import urllib.parse

ACCOUNT = "devstoreaccount1"
KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
QUEUE = os.environ.get("LAZULI_QUEUE", "http://127.0.0.1:10001") + "/" + ACCOUNT
LAB = os.environ.get("LAZULI_LAB", "http://127.0.0.1:10006")
DEQUEUES_MAX = 3


def curl(*args):
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--fail-with-body", *args],
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout


def lab(path, body=None):
    return json.loads(curl("--request", "POST", "--data", json.dumps(body or {}), LAB + path))


def sas():
    """An account SAS for queues, which is good for the day."""
    now = datetime.datetime.now(datetime.timezone.utc)
    expiry = (now + datetime.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    version = "2022-11-02"
    lines = [ACCOUNT, "rwdlacup", "q", "sco", "", expiry, "", "", version, "", ""]
    mac = hmac.new(base64.b64decode(KEY), "\n".join(lines).encode(), hashlib.sha256).digest()
    fields = {"sv": version, "ss": "q", "srt": "sco", "sp": "rwdlacup", "se": expiry}
    return urllib.parse.urlencode({**fields, "sig": base64.b64encode(mac).decode()})


def queue(method, path, query="", body=None):
    url = f"{QUEUE}/{path}?{query}&{sas()}"
    data = [] if body is None else ["--data", body]
    length = [] if body is not None or method == "GET" else ["--header", "content-length: 0"]
    return curl("--request", method, *length, *data, url)


def put(name, text):
    message = f"<QueueMessage><MessageText>{text}</MessageText></QueueMessage>"
    queue("POST", f"{name}/messages", body=message)


def work(handle):
    """The code under test: handles one message; puts aside one that has failed too often."""
    found = queue("GET", "jobs/messages", "visibilitytimeout=30")
    if "<QueueMessage>" not in found:
        return None
    field = lambda tag: re.search(f"<{tag}>(.*?)</{tag}>", found).group(1)
    text = field("MessageText")
    receipt = urllib.parse.quote(field("PopReceipt"), safe="")
    if int(field("DequeueCount")) > DEQUEUES_MAX:
        put("poison", text)
    else:
        try:
            handle(text)
        except ValueError:
            return "failed"
    queue("DELETE", f"jobs/messages/{field('MessageId')}", f"popreceipt={receipt}")
    return "done"


def test_a_message_that_always_fails_is_put_aside():
    lab("/reset")
    for name in ("jobs", "poison"):
        queue("PUT", name)
    put("jobs", "bad")

    def fail(text):
        raise ValueError(text)

    for _ in range(DEQUEUES_MAX):
        assert work(fail) == "failed"
        # Hidden until its timeout passes: nobody else gets it now.
        assert work(fail) is None
        lab("/clock", {"move": "30s"})
    assert work(fail) == "done"
    assert work(fail) is None
    assert "bad" in queue("GET", "poison/messages", "peekonly=true")
