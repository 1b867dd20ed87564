"""`idp doctor`: how long it takes while other servers do not answer."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time

import pytest

from tests.support import patience
from tests.support.programs.program import environment

# No name server answers. The last line is how long the program waited for a processor.
SLOW_NAMES = """
import asyncio, atexit, pathlib, socket, sys, time
from dns.asyncresolver import Resolver
waited = lambda: pathlib.Path("/proc/self/schedstat").read_text().split()[1]
atexit.register(lambda: print(waited(), file=sys.stderr))
resolve = socket.getaddrinfo
def unanswered(host, *more, **options):
    if str(host) != "127.0.0.1":
        time.sleep(120)
    return resolve(host, *more, **options)
socket.getaddrinfo = unanswered
Resolver.resolve = lambda *_, **options: asyncio.sleep(120)
from idp.cli import main
main()
"""


@pytest.mark.load
@pytest.mark.parametrize("is_store_there", [True, False])
def test_servers_and_name_servers_that_do_not_answer_take_five_seconds_at_most(
    installed, is_store_there
):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"mongodb://127.0.0.1:{silent.getsockname()[1]}/idp?replicaSet=rs0"
        store = {} if is_store_there else {"IDP_STORE": url}
        settings = {"IDP_ISSUER": "https://login.example.com", "IDP_SMTP_HOST": "mail.example.com"}
        began = time.monotonic()
        ended = subprocess.run(
            [sys.executable, "-P", "-c", SLOW_NAMES, "doctor", "--json"],
            cwd=installed.parent,
            env=environment(**settings, IDP_SMTP_FROM="idp@example.com", **store),
            capture_output=True,
            text=True,
            timeout=patience.SECONDS,
        )
        took = time.monotonic() - began

    found = {each["id"]: each["state"] for each in json.loads(ended.stdout)["result"]}
    took -= int(ended.stderr.splitlines()[-1]) / 1e9
    assert took <= 5
    assert ended.returncode == (1 if is_store_there else 69), ended.stderr
    assert found["store.reach"] == ("ok" if is_store_there else "fail")
    assert {found[id] for id in ("issuer.dns", "issuer.tls", "mail.reach")} == {"fail"}
