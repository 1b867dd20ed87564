"""A client that floods a service: as a program, so that it has a processor of its own.

python -m tests.fire.floods.flooding PORT KIND CONNECTIONS CLIENT_ID REDIRECT_URI

It sends the next request on each connection as soon as the one before is answered, until its
standard input ends, and then prints how many answers had which status.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections import Counter
from contextlib import asynccontextmanager
from urllib.parse import urlencode

from idp.foundation.opaque_tokens import ID_LENGTH, SECRET_LENGTH

FORM = "application/x-www-form-urlencoded"
KINDS = ("wrong secret", "wrong token", "authorization", "wrong personal access token")


def request(port, method, target, *lines, body="") -> bytes:
    head = [f"{method} {target} HTTP/1.1", f"Host: localhost:{port}", *lines]
    if body:
        head += [f"Content-Type: {FORM}", f"Content-Length: {len(body)}"]
    return "\r\n".join([*head, "", body]).encode()


def flood_request(kind, port, client_id, redirect_uri) -> bytes:
    """A request of a flood, which the service refuses or answers by a redirect."""
    if kind == "wrong secret":
        basic = base64.b64encode(f"{client_id}:x".encode()).decode()
        form = urlencode({"grant_type": "client_credentials"})
        return request(port, "POST", "/oauth/v2/token", f"Authorization: Basic {basic}", body=form)
    if kind == "wrong token":
        return request(port, "GET", "/oidc/v1/userinfo", "Authorization: Bearer x")
    if kind == "wrong personal access token":
        token = f"idp_pat_{'A' * (ID_LENGTH + SECRET_LENGTH)}"
        return request(port, "GET", "/management/v1/orgs/me", f"Authorization: Bearer {token}")
    query = {"client_id": client_id, "redirect_uri": redirect_uri, "response_type": "code"}
    query |= {"scope": "openid", "code_challenge": "A" * 43, "code_challenge_method": "S256"}
    return request(port, "GET", f"/oauth/v2/authorize?{urlencode(query)}")


async def answer(reader) -> tuple[int, bytes]:
    """The status and the body of the next answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return int(head[9:12]), await reader.readexactly(length)


async def flood(port, data, counts) -> None:
    """Sends `data` again and again on one connection, and on a new one when that was closed."""
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            while True:
                writer.write(data)
                counts[(await answer(reader))[0]] += 1
        except (OSError, asyncio.IncompleteReadError):
            writer.close()


async def main(port, kind, connections, client_id, redirect_uri) -> None:
    counts = Counter()
    data = flood_request(kind, port, client_id, redirect_uri)
    floods = [asyncio.ensure_future(flood(port, data, counts)) for _ in range(int(connections))]
    while not counts:
        await asyncio.sleep(0.01)
    print("flooding", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for each in floods:
        each.cancel()
    await asyncio.gather(*floods, return_exceptions=True)
    print(json.dumps(counts), flush=True)


@asynccontextmanager
async def flooded(program, kind, connections):
    """Floods a program; the yielded counter gets the statuses at the end."""
    demo, counts = program.demo(), Counter()
    flooder = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", __file__),
        *(str(program.port), kind, str(connections), demo.client_id, demo.redirect_uri),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert await flooder.stdout.readline() == b"flooding\n"
    try:
        yield counts
    finally:
        rest, _ = await flooder.communicate(b"")
        counts.update({int(status): count for status, count in json.loads(rest).items()})


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
