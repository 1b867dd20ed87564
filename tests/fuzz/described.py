"""Requests that schemathesis makes of the description, by its rules and against them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import requests
import schemathesis
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import Unsatisfiable
from requests.exceptions import RequestException
from schemathesis import GenerationMode

from tests.fuzz import openapi
from tests.fuzz.request import Request
from tests.fuzz.world import World

_MODES: Final = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
_NAMES: Final = ("method", "url", "params", "headers", "data")
_OWN: Final = ("User-Agent", "Accept-Encoding", "Content-Length", "X-Schemathesis-TestCaseId")


def cases(world: World, examples: int) -> Iterator[Request]:
    """So many for each operation and either mode, the same at every run."""
    schema = schemathesis.openapi.from_dict(openapi.description(world))
    for path, (methods, _, _) in openapi.ENDPOINTS.items():
        for method in methods:
            for mode in _MODES:
                strategy = schema[path][method.upper()].as_strategy(generation_mode=mode)
                yield from drawn(strategy, world.server.issuer, examples)


def drawn(strategy, base: str, examples: int) -> list[Request]:
    """So many requests of a strategy, the same at every run."""
    found: list[Request] = []

    @hypothesis_settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def collect(case) -> None:
        with suppress(RequestException, UnicodeError):  # no HTTP client would send it
            found.append(_as_request(case.as_transport_kwargs(base_url=base)))

    with suppress(Unsatisfiable):  # where there are no rules, none can be broken
        collect()
    return found


def _as_request(values: dict) -> Request:
    sent = requests.Request(**{name: values.get(name) for name in _NAMES}).prepare()
    path, _, query = sent.path_url.partition("?")
    fields = [field.partition("=") for field in query.split("&") if field]
    headers = [(name, value) for name, value in sent.headers.items() if name not in _OWN]
    return Request(
        f"{sent.method} {path}",
        sent.method.encode(),
        path.encode(),
        tuple((name.encode(), value.encode()) for name, _, value in fields),
        None,
        tuple((name.encode(), _octets(value)) for name, value in headers),
        sent.body and _octets(sent.body),
    )


def _octets(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")
