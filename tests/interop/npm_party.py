"""A relying party that is a program of Node: one call is one line each way, as JSON."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.interop.node import Node, environment
from tests.support import patience

SCOPE = "openid profile email offline_access"


class Refused(Exception):
    """What the party threw, with its causes. `reasons`: their codes, and what the server said."""

    def __init__(self, error: dict[str, Any]) -> None:
        chain = list(_causes(error))
        super().__init__(": ".join(one["message"] for one in chain))
        self.reasons = {one.get(name) for one in chain for name in ("code", "answered")} - {None}


def _causes(error: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    while error:
        yield error
        error = error.get("cause")


class Party:
    """The running program: one of those in the directory `npm`."""

    def __init__(self, node: Node, directory: Path, program: str) -> None:
        self._process = subprocess.Popen(
            [node.program, program],
            cwd=directory,
            env=environment(node),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    async def call(self, name: str, **values: object) -> Any:
        """What the party answers. Raises Refused."""
        answer = json.loads(await asyncio.to_thread(self._ask, {"call": name, "with": values}))
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["value"]

    def _ask(self, question: dict[str, object]) -> str:
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def close(self) -> None:
        with self._process:
            self._process.stdin.close()
            self._process.wait(patience.SECONDS)


async def introduced(place, party, method="client_secret_basic", new_key=None, **changes):
    """Register the party's application; of the issuer it learns from discovery alone."""
    values = {"post_logout_redirect_uris": [f"{place.issuer}/goodbye"], **changes}
    client = await place.register(auth_method=method, **values)
    await meet(place, party, client, method, privateKey=new_key and await new_key(client))
    return client


async def meet(place, party, client, method="client_secret_basic", **options):
    """The party goes on as `client`."""
    known = {"clientId": client.client_id, "clientSecret": client.client_secret}
    metadata = await party.call("discover", issuer=place.issuer, method=method, **known, **options)
    assert method in metadata["token_endpoint_auth_methods_supported"]


async def signed_in(place, party, browser, client) -> str:
    """The address to which the browser comes back."""
    url = await party.call("authorize", redirectUri=client.redirect_uri, scope=SCOPE)
    return (await browser.sign_in(url, *place.user)).location
