"""What a request may hold, and that no body keeps the event loop from others."""

from __future__ import annotations

import base64
import random

import msgspec
import pytest
from PIL import ImageFile

from tests.support.management.callers import refused
from tests.support.measured.stalls import watched
from tests.support.pictures import encoded
from tests.support.store.both_stores import settings as stores  # noqa: F401 - a fixture
from tests.support.store.stored import everything

PROJECT = "/management/v1/projects"
PICTURE = "/admin/v1/policies/label/logo"
MEGABYTE = 1024 * 1024
MOST_SECONDS = 0.05


@pytest.fixture
def settings(stores):  # noqa: F811
    return stores | {"max_json_bytes": 8 * MEGABYTE}


def members(n: int) -> bytes:
    return msgspec.json.encode({f"unknown-{i:06}": i for i in range(n)})


HOSTILE = {
    "members": (members(300_000), "json.too_many_members"),
    "values": (b'{"name": [' + b"0," * 3_900_000 + b"0]}", "json.too_many_members"),
    "texts": (b'{"name": [' + b'"",' * 2_600_000 + b'""]}', "json.too_many_members"),
    "lists": (b"[" * 8_000_000, "json.too_deep"),
    "objects": (b'{"a":' * 1_600_000, "json.too_deep"),
    "closed nests": (b"[" + b"[]," * 2_600_000 + b"[]]", "json.too_many_members"),
    "commas": (b'{"name": 1' + b"," * 8_000_000, "json.too_many_members"),
    "colons": (b":" * 8_000_000, "json.too_many_members"),
    "one text": (b'{"name": "' + b"x" * 8_000_000 + b'"}', "field.too_long"),
    "open text": (b'{"name": "' + b"x" * 8_000_000, "json.malformed"),
    "blanks": (b" " * 8_000_000, "json.malformed"),
    "a few members too many": (members(10_001), "json.too_many_members"),
}


@pytest.mark.promise("faults: bounds")
@pytest.mark.load
@pytest.mark.parametrize("name", HOSTILE)
async def test_no_body_holds_the_loop_for_more_than_fifty_milliseconds(server, owner, name):
    async with watched() as stalls:
        await owner.post(PROJECT, HOSTILE[name][0])

    assert stalls.busiest < MOST_SECONDS


@pytest.mark.full
@pytest.mark.promise("faults: bounds")
@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_body_is_refused_and_changes_nothing(server, owner, name):
    body, error_code = HOSTILE[name]
    assert len(body) <= 8 * MEGABYTE
    before = await everything(server.store)
    page = await owner.post(PROJECT, body)

    assert list(refused(page, 400, 3).values()) == [error_code]
    assert await everything(server.store) == before


@pytest.mark.promise("faults: bounds")
async def test_unknown_names_of_one_object_are_reported_one_by_one_up_to_twenty(owner):
    told = {f"x{n}": 1 for n in range(20)}
    few = refused(await owner.post(PROJECT, {"name": "P", **told}), 400, 3)
    page = await owner.post(PROJECT, {"name": "P", **told, "y": 1})

    assert few == dict.fromkeys(told, "field.unknown")
    assert refused(page, 400, 3) == {"": "field.unknown"}
    assert "21 unknown members" in page.json()["message"]


@pytest.mark.promise("faults: bounds")
async def test_of_very_many_problems_a_hundred_are_reported_and_that_there_are_more(owner):
    metadata = [{"key": "", "value": ""} for _ in range(100)]
    page = await owner.post("/v2/users/human", {"metadata": metadata})
    *problems, more, _ = page.json()["details"]

    assert page.status == 400
    assert len(problems) == 100
    assert (more["id"], "field" in more) == ("fields.too_many", False)


@pytest.mark.promise("faults: bounds")
async def test_ten_thousand_members_are_read(owner):
    page = await owner.post(PROJECT, members(10_000))

    assert set(refused(page, 400, 3).values()) == {"field.unknown", "field.required"}


@pytest.mark.promise("faults: images")
async def test_an_image_of_very_many_pixels_is_refused_before_it_is_decoded(owner, monkeypatch):
    content = encoded(size=(20_000, 20_000), mode="1", colour=0)
    assert len(content) < 512 * 1024
    decoded = []
    monkeypatch.setattr(ImageFile.ImageFile, "load", decoded.append)
    body = {"content": base64.b64encode(content).decode()}
    page = await owner.request("PUT", PICTURE, body)

    assert refused(page, 400, 3) == {"content": "image.too_large"}
    assert not decoded


@pytest.mark.promise("faults: images")
@pytest.mark.load
async def test_a_picture_of_noise_does_not_hold_the_loop(owner):
    noise = base64.b64encode(random.Random(1).randbytes(380_000)).decode()
    async with watched() as stalls:
        page = await owner.request("PUT", PICTURE, {"content": noise})

    assert refused(page, 400, 3) == {"content": "picture.kind"}
    assert stalls.busiest < MOST_SECONDS
