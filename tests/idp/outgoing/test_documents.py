"""Documents of other servers: cached, and bounded whatever those servers answer."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from idp.outgoing import documents
from idp.outgoing.failures import Failed

NOW = datetime(2026, 1, 2, tzinfo=UTC)
MIB = 1024 * 1024


class Servers:
    """Other servers, whose answers are as long as `size`; `asked` are the addresses in order."""

    owner = None

    def __init__(self):
        self.size, self.asked = 100, []

    def of(self, owner):
        made = copy.copy(self)
        made.owner = owner
        return made

    async def exchange(self, config, method, url, headers, body, *, max_bytes, seconds):
        self.asked.append(url)
        empty = len(json.dumps({"x": ""}))
        return SimpleNamespace(
            status=200, body=json.dumps({"x": "y" * (self.size - empty)}).encode()
        )


@pytest.fixture
def servers():
    return Servers()


@pytest.fixture
def fetched():
    return documents.FetchedDocuments()


async def get(fetched, servers, name):
    url = f"https://{name}.example/"
    return await fetched.get(servers, None, url, NOW, max_bytes=MIB)


async def test_a_document_is_asked_for_once(fetched, servers):
    await get(fetched, servers, "a")
    await get(fetched, servers, "a")

    assert len(servers.asked) == 1


async def test_long_documents_replace_only_the_oldest(fetched, servers):
    for name in "abcdef":
        await get(fetched, servers, name)
    servers.size = documents.MAX_CACHED_BYTES // 4 - 200
    for name in "ghij":
        await get(fetched, servers, name)
    before = len(servers.asked)
    for name in "cdefghij":
        await get(fetched, servers, name)
    assert len(servers.asked) == before

    await get(fetched, servers, "k")
    for name in "hijk":
        await get(fetched, servers, name)

    assert len(servers.asked) == before + 1
    await get(fetched, servers, "g")
    assert len(servers.asked) == before + 2


async def test_a_document_that_is_too_long_is_refused(fetched, servers):
    servers.size = MIB + 1

    with pytest.raises(Failed, match="longer than"):
        await get(fetched, servers, "a")


async def test_the_documents_of_one_organization_displace_none_of_another(fetched, servers):
    await get(fetched, servers.of("org-1"), "a")
    greedy = servers.of("org-2")
    greedy.size = MIB
    for name in "bcdefg":
        await get(fetched, greedy, name)
    before = len(servers.asked)

    await get(fetched, servers.of("org-1"), "a")

    assert len(servers.asked) == before


@pytest.mark.parametrize("value", ["0", "{}", "[]", '{"":0,"":0}'])
def test_a_document_of_too_many_values_is_not_parsed(value):
    number = documents.MAX_VALUES // 2
    body = f'{{"a":[{",".join([value] * number)}]}}'.encode()
    longer = f'{{"a":[{",".join([value] * number * 2)}]}}'.encode()

    with pytest.raises(Failed, match="no well-formed JSON"):
        documents.decoded(longer, MIB)
    if value == "0":
        assert documents.decoded(body, MIB) == {"a": [0] * number}
