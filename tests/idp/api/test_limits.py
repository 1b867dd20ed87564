"""Specification 8: every limit, in characters, at both edges, for every call that takes the field.

The calls are those of `idp.api`, so that a new one is held to the same limits.
"""

from __future__ import annotations

from typing import get_args, get_origin

import pytest

from idp.api import OPERATIONS
from idp.schema import reading
from idp.schema.reading import Request, declared

LONG = "😀"  # one character: four octets, and two units of UTF-16

# By the name of a field: how many characters it may have, and whether it may be empty.
LIMITS = {
    "userName": (200, False),
    "username": (200, False),
    "firstName": (200, False),
    "lastName": (200, False),
    "givenName": (200, False),
    "familyName": (200, False),
    "nickName": (200, True),
    "displayName": (200, True),
    "preferredLanguage": (10, True),
    "email": (200, False),
    "urlTemplate": (200, False),
    "password": (200, False),
    "hash": (200, False),
    "value": (200, False),
    "userId": (200, False),
    "orgId": (200, False),
    "idpId": (200, False),
    "configId": (200, False),
    "externalUserId": (200, False),
    "key": (200, False),
    "phone": (200, False),
}
# Where a call differs, by its path and the field.
OTHERWISE = {
    ("/admin/v1/orgs/_setup", "human.phone.phone"): (50, False),
    ("/management/v1/users/human/_import", "phone.phone"): (50, False),
    ("/management/v1/users/human/_import", "idps[0].displayName"): (200, False),
    ("/v2/users/human", "metadata[0].value"): (500_000, False),
    ("/management/v1/users/{userId}/metadata/{key}", "value"): (500_000, False),
}
# The documented bodies, and those that change the same fields later.
PATHS = (
    "/admin/v1/orgs/_setup",
    "/v2/users/human",
    "/v2/users/human/{userId}",
    "/v2/users/{userId}/email",
    "/v2/users/{userId}/email/resend",
    "/v2/users/{userId}/phone",
    "/v2/users/{userId}/password",
    "/v2/users/{userId}/password_reset",
    "/management/v1/users/human/_import",
    "/management/v1/users/machine",
    "/management/v1/users/{userId}/machine",
    "/management/v1/users/{userId}/metadata/{key}",
)


def leaves(kind, path=""):
    """The paths of all texts that a request may have, with their names."""
    for field in declared(kind):
        at = f"{path}.{field.wire_name}" if path else field.wire_name
        type, rule = field.type, field.rule
        if get_origin(type) is list:
            (hint,) = get_args(type)
            at, (type, rule, *_) = f"{at}[0]", reading._split(hint)
        if isinstance(type, type_) and issubclass(type, Request):
            yield from leaves(type, at)
        elif rule is not None:
            yield at, field.wire_name


type_ = type


def body(path, value):
    """A body that holds the value at this path, and nothing else."""
    *outer, last = path.split(".")
    made = [value] if last.endswith("[0]") else value
    made = {last.removesuffix("[0]"): made}
    for name in reversed(outer):
        made = {name.removesuffix("[0]"): [made] if name.endswith("[0]") else made}
    return made


def error_codes(kind, path, value):
    """What is wrong with the value at this path."""
    problems = reading.collect(kind, body(path, value))[1]
    return {(each.error_code, each.limit) for each in problems if each.field == path}


CASES = [
    (one, path, *OTHERWISE.get((one.path, path), LIMITS.get(name, (None, None))))
    for one in OPERATIONS
    if one.path in PATHS and one.request is not None
    for path, name in leaves(one.request)
    if name in LIMITS and path.rpartition(".")[2] == name
]


def test_the_paths_are_calls_and_their_fields_are_found():
    assert {one.path for one, *_ in CASES} >= set(PATHS) - {"/v2/users/{userId}/phone/resend"}
    assert len(CASES) > 40


@pytest.mark.promise(
    "user creation: username",
    "user creation: profile",
    "user creation: phone",
    "user creation: metadata",
    "user creation: password",
    "user creation: hashedPassword",
    "user creation: idpLinks",
    "length: names",
    "length: nick and display name",
    "length: preferred language",
    "length: phone",
    "length: identifiers",
    "length: metadata",
)
@pytest.mark.parametrize(
    ("operation", "path", "most", "may_be_empty"),
    [pytest.param(*case, id=f"{case[0].path} {case[1]}") for case in CASES],
)
def test_a_field_has_its_limit_in_characters_at_both_edges(operation, path, most, may_be_empty):
    kind = operation.request
    too_long = ("field.too_long", most)

    assert too_long in error_codes(kind, path, LONG * (most + 1))
    assert too_long not in error_codes(kind, path, LONG * most)
    assert (("field.empty", 1) in error_codes(kind, path, "")) == (not may_be_empty)
    assert ("field.empty", 1) not in error_codes(kind, path, "x")
