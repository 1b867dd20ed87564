"""Requests that schemathesis makes of /openapi.json, and whether the answers are as described."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import jsonschema_rs
import schemathesis
from schemathesis import GenerationMode

from tests.fuzz.described import drawn
from tests.fuzz.request import Answer, Connection, Pair, Request

_MODES: Final = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
_NAME: Final = re.compile(r"\{(\w+)\}")
_ANSWER_SECONDS: Final = 20
_CONNECTIONS: Final = 4


class Described:
    """The API as its description has it. `ids` are what stands in addresses, by their names;
    `headers` are those of a caller who may do everything."""

    def __init__(self, document: dict[str, Any], ids: dict[str, str], headers: list[Pair]) -> None:
        self._document = document
        self._validators: dict[str, Any] = {}
        self._schema = schemathesis.openapi.from_dict(document)
        self._ids = ids
        self._headers = headers
        self.counts: Counter[int] = Counter()

    def requests(
        self, base: str, examples: int, part: slice
    ) -> Iterator[tuple[str, str, Request]]:
        """So many of each call in this part and either mode, with the call that each is of."""
        calls = [(path, each) for path, known in self._document["paths"].items() for each in known]
        for path, method in sorted(calls, key=_harm)[part]:
            for mode in _MODES:
                strategy = self._schema[path][method.upper()].as_strategy(generation_mode=mode)
                for n, request in enumerate(drawn(strategy, base, examples)):
                    yield path, method, self._addressed(path, request, is_genuine=n % 4 != 0)

    def _addressed(self, path: str, request: Request, *, is_genuine: bool) -> Request:
        """The request as the caller sends it; a genuine one goes to something that is there."""
        for name, value in self._headers if is_genuine else self._headers[:1]:
            request = request.with_header(name, value)
        filled = _NAME.sub(lambda found: self._ids.get(found[1], found[0]), path)
        if not is_genuine or "{" in filled:
            return request
        return request.changed(path=filled.encode()).without_header(b"If-Match")

    async def send(self, host: bytes, requests: Iterator[tuple[str, str, Request]]) -> None:
        """Send them all. Raises AssertionError with the request that was answered wrongly."""
        port = int(host.rpartition(b":")[2])
        connections = [Connection(port) for _ in range(_CONNECTIONS)]
        turn = asyncio.Lock()
        try:
            await asyncio.gather(
                *(self._send_all(each, host, requests, turn) for each in connections)
            )
        finally:
            for each in connections:
                await each.close()

    async def _send_all(
        self, connection: Connection, host: bytes, requests, turn: asyncio.Lock
    ) -> None:
        while True:
            async with (
                turn
            ):  # drawing takes long: the loop goes on, which serves and times answers
                call = await asyncio.to_thread(next, requests, None)
            if call is None:
                return
            path, method, request = call
            answer = None
            try:
                answer = await asyncio.wait_for(connection.send(request, host), _ANSWER_SECONDS)
                self.check(path, method, request, answer)
            except Exception as error:
                octets = request.octets(host)[:4000]
                raise AssertionError(f"{octets!r}\nwas answered\n{answer!r}\n{error!r}") from error
            self.counts[answer.status] += 1

    def check(self, path: str, method: str, request: Request, answer: Answer) -> None:
        """The answer is one that the description tells of."""
        if request.method.decode().lower() != method or answer.status == 405:
            return
        assert answer.status < 500
        described = self._document["paths"][path][method]["responses"]
        response = self._resolved(described[str(answer.status)])
        assert set(response.get("headers", {})) >= {"X-Request-Id"}
        assert answer.get("Content-Type") in response["content"]
        schema = response["content"][answer.get("Content-Type")]["schema"]
        if "$ref" in schema:
            self._validator(schema["$ref"]).validate(answer.json())

    def _resolved(self, described: dict[str, Any]) -> dict[str, Any]:
        name = described.get("$ref", "").rpartition("/")[2]
        return self._document["components"]["responses"][name] if name else described

    def _validator(self, reference: str) -> Any:
        if reference not in self._validators:
            components = {"components": self._document["components"]}
            self._validators[reference] = jsonschema_rs.Draft202012Validator(
                {"$ref": reference, **components}
            )
        return self._validators[reference]


def _harm(call: tuple[str, str]) -> tuple[bool, bool, int]:
    """How much of what others need is gone after the call: that comes last."""
    path, method = call
    is_end = path.endswith(("deactivate", "/lock"))
    return method == "delete", is_end, -path.count("/")
