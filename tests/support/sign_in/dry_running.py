"""Tests of connections, as a browser without scripts makes them."""

from __future__ import annotations


async def started(federation) -> tuple[str, str]:
    """A new test: its id, and the address by which a browser begins it."""
    path = f"/idps/{federation.connection}/_test"
    answer = await federation.connecting.call("POST", path, {})
    return answer["testId"], answer["url"]


async def result_of(federation, test: str) -> dict:
    path = f"/idps/{federation.connection}/tests/{test}"
    return await federation.connecting.call("GET", path)


async def left(federation, url: str, visitor=None):
    """The redirect to the provider."""
    visitor = visitor or federation.visitor
    return await visitor.send(await visitor.open(url))


async def dry_run(federation, **changes) -> dict:
    """The result of a test that a browser makes from its beginning to its end."""
    test, url = await started(federation)
    page = await federation.come_back(await left(federation, url), **changes)
    assert (page.status, page.name) == (200, "connection-test"), page.text
    return await result_of(federation, test)


def failed(result: dict) -> list[str]:
    return [each["name"] for each in result["checks"] if each["outcome"] == "failed"]
