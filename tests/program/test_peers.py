"""What a trial shows is for this machine: whoever connects from another one gets 404."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support import patience
from tests.support.programs.program import listening_port
from tests.support.skips import skip

HERE, THERE = "10.213.77.1", "10.213.77.2"
ASK = """
import http.client, sys
host, port, path, *fields = sys.argv[1:]
connection = http.client.HTTPConnection(host, int(port), timeout=300)
connection.request("GET", path, headers=dict(field.split(": ", 1) for field in fields))
answer = connection.getresponse()
sys.stdout.buffer.write(b"%d " % answer.status + answer.read())
"""
LOCAL = ["/dev/mail", "/demo", "/demo/sign-in", "/demo/callback", "/ui/setup"]
BROKEN = "/oauth/v2/authorize?client_id=nobody"
DETAIL = "No application has this client_id."
FORGED = ["X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1", "Forwarded: for=127.0.0.1"]


def ip(*arguments: str) -> None:
    subprocess.run(
        ["ip", *arguments], check=True, capture_output=True, text=True, timeout=patience.SECONDS
    )


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """A second network namespace, joined to this one by a pair of virtual cards."""
    if os.getuid() != 0 or shutil.which("ip") is None:
        skip("a network namespace takes root and the program ip (Debian: iproute2)")
    name, card = f"idp-{os.getpid()}", f"idp{os.getpid() % 10**8}"
    try:
        ip("netns", "add", name)
    except subprocess.CalledProcessError as error:
        skip(f"no network namespace can be made here: {error.stderr}")
    try:
        ip("link", "add", f"{card}a", "type", "veth", "peer", "name", f"{card}b", "netns", name)
        ip("addr", "add", f"{HERE}/30", "dev", f"{card}a")
        ip("link", "set", f"{card}a", "up")
        ip("-n", name, "addr", "add", f"{THERE}/30", "dev", f"{card}b")
        ip("-n", name, "link", "set", f"{card}b", "up")
        yield name
    finally:
        ip("netns", "del", name)  # and its card, and with that the other


def ask(port: int, path: str, *fields: str, host: str = "127.0.0.1", inside: str = "") -> str:
    """Status and body, asked for with `Host: localhost` by a process in this network or inside
    of another."""
    start = ["ip", "netns", "exec", inside] if inside else []
    command = [*start, sys.executable, "-I", "-c", ASK, host, str(port), path]
    fields = (f"Host: localhost:{port}", "Accept: text/html", *fields)
    ran = subprocess.run(
        [*command, *fields], capture_output=True, text=True, timeout=patience.SECONDS
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.promise("start: trial network")
def test_another_network_gets_nothing_that_is_for_this_machine(start_program, elsewhere):
    settings = {"IDP_ALLOW_TRIAL_NETWORK": "true"}
    program = start_program("--host", "0.0.0.0", "--store", "memory://", **settings)
    port = listening_port(program.pid)

    def there(path, *fields):
        return ask(port, path, *fields, host=HERE, inside=elsewhere)

    assert there("/.well-known/openid-configuration").startswith("200 ")
    assert there("/ui/login").startswith("200 ")
    assert {path: there(path)[:4] for path in LOCAL} == dict.fromkeys(LOCAL, "404 ")
    assert there("/dev/mail", *FORGED).startswith("404 ")
    assert there(BROKEN).startswith("400 ")
    assert DETAIL not in there(BROKEN, *FORGED)
    assert {path: ask(port, path)[:1] in "23" for path in LOCAL} == dict.fromkeys(LOCAL, True)
    assert DETAIL in ask(port, BROKEN)
