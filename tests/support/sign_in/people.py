"""A person as POST /v2/users/human takes them, and where it is sent."""

from __future__ import annotations

import copy
import re

from tests.support.management.api_samples import FULL_HUMAN

PATH = "/v2/users/human"
PASSWORD = "a lamp in the attic"

# Every member, each with a value of the largest length.
FULL = {
    "userId": "mini-1",
    "username": "mini",
    "organization": {"orgDomain": "localhost"},
    "profile": {
        "givenName": "Minnie",
        "familyName": "Mouse",
        "nickName": "Mini",
        "displayName": "Minnie M.",
        "preferredLanguage": "en-GB",
        "gender": "GENDER_FEMALE",
        "middleName": "M.",
        "profile": "https://mouse.example/",
        "picture": "https://mouse.example/me.png",
        "website": "https://mouse.example/blog",
        "birthdate": "1990-01-31",
        "zoneinfo": "Europe/Vienna",
    },
    "email": {"email": "mini@mouse.example", "sendCode": {"urlTemplate": "https://a.example/v"}},
    "phone": {"phone": "+41791234567", "isVerified": True},
    "address": FULL_HUMAN["address"],
    "metadata": [{"key": "shoes", "value": "cmVk"}],
    "password": {"password": PASSWORD, "changeRequired": True},
    "idpLinks": [{"idpId": "google", "userId": "65168498", "userName": "m@g"}],
}


def person(**changes):
    """The smallest body that creates a person, changed by top-level member; None leaves one
    out."""
    body = {
        "profile": {"givenName": "Mini", "familyName": "Mouse"},
        "email": {"email": "mini@mouse.example", "isVerified": True},
    } | changes
    return {name: value for name, value in body.items() if value is not None}


def objects(value, path=""):
    """The paths of all objects in a body; the body's own is empty."""
    if isinstance(value, dict):
        yield path
        for name, each in value.items():
            yield from objects(each, f"{path}.{name}" if path else name)
    if isinstance(value, list):
        for n, each in enumerate(value):
            yield from objects(each, f"{path}[{n}]")


def having(body, path, value):
    """A copy of the body with `value` at a path such as `metadata[0].key`."""
    body = at = copy.deepcopy(body)
    *steps, last = [int(n) if n else name for name, n in re.findall(r"(\w+)|\[(\d+)\]", path)]
    for step in steps:
        at = at.setdefault(step, {}) if isinstance(step, str) else at[step]
    at[last] = value
    return body


def without(body, path):
    """A copy of the body that lacks a member."""
    body = copy.deepcopy(body)
    at = body
    *steps, last = path.split(".")
    for step in steps:
        at = at[step]
    del at[last]
    return body


async def create(caller, **changes):
    """The answer to the creation of a person."""
    page = await caller.post(PATH, person(**changes))
    assert page.status == 200, page.text
    return page.json()
