"""The description at /openapi.json: valid, complete, and true of the service."""

from __future__ import annotations

from importlib import import_module

import msgspec
import pytest
from openapi_spec_validator import validate

from idp.api import OPERATIONS, description, error_body, examples
from idp.api.json_schema import Schemas
from idp.api.schema_names import PUBLISHED_NAMES
from idp.schema.answers import Answer
from idp.schema.reading import collect
from tests.support.management.api_samples import CALLS, called
from tests.support.management.api_world import World
from tests.support.management.callers import is_admitted
from tests.support.openapi_sample import SAMPLE
from tests.support.openapi_sample import described as described_now

# What refers to something that has to be there, and what has to be nobody's yet.
REFERENCES = {
    "idpId",
    "ownerType",
    "userId",
    "userIds",
    "projectId",
    "roleKey",
    "roleKeys",
    "verificationCode",
    "queries",
}
REFERENCES |= {
    "name",
    "userName",
    "username",
    "email",
    "domain",
    "currentPassword",
    "grantedOrgId",
}


@pytest.fixture
def world(io_loop, server, visitor, owner):
    return io_loop.run_sync(lambda: World(server, visitor, owner).make())


@pytest.fixture(scope="module")
def document():
    return description.document("acme", "https://id.acme.example")


def described(document):
    """Each call that the description has, with what it says of it."""
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


@pytest.mark.full
async def test_the_description_is_valid_openapi(server, visitor):
    page = await visitor.get("/openapi.json")

    assert page.status == 200
    assert page.headers["Content-Type"] == "application/json"
    assert page.json()["servers"] == [{"url": server.issuer}]
    validate(page.json())


def test_the_description_changes_only_where_clients_are_meant_to_see_it():
    assert described_now() == SAMPLE.read_text(encoding="utf-8"), (
        "If clients are meant to see this change, run `python -m tests.support.openapi_sample`."
    )


def test_every_name_that_differs_from_its_class_belongs_to_one_struct_of_a_call(document):
    for path, published in PUBLISHED_NAMES.items():
        module, _, name = path.rpartition(".")
        assert issubclass(getattr(import_module(module), name), msgspec.Struct)
        assert published != name

    assert len(set(PUBLISHED_NAMES.values())) == len(PUBLISHED_NAMES)
    assert set(PUBLISHED_NAMES.values()) <= set(document["components"]["schemas"])


def test_two_structs_of_one_name_are_not_published():
    fields, bases = [("other", str)], (Answer,)
    other = msgspec.defstruct("Detail", fields, bases=bases, frozen=True)

    with pytest.raises(ValueError, match="one published name"):
        Schemas([], [error_body.Detail, other])


async def test_a_client_that_has_the_description_learns_that_it_is_current(visitor):
    first = await visitor.get("/openapi.json")
    again = await visitor.get("/openapi.json", headers={"If-None-Match": first.headers["ETag"]})

    assert "max-age" in first.headers["Cache-Control"]
    assert first.headers["Access-Control-Allow-Origin"] == "*"
    assert (again.status, again.text) == (304, "")


def test_every_call_is_described_under_a_name_of_its_own(document):
    names = [operation["operationId"] for operation in described(document).values()]

    assert set(described(document)) == set(CALLS)
    assert len(set(names)) == len(names)


def test_a_call_says_what_it_needs_and_every_way_it_can_end(document):
    for name, operation in described(document).items():
        call, answers = CALLS[name], operation["responses"]
        headers = {each.get("$ref", "").rpartition("/")[2] for each in operation["parameters"]}

        assert operation["summary"] == call.summary, name
        assert operation["x-permission"] == call.permission, name
        assert {"200", "400", "401", "403", "404", "429", "503"} <= set(answers), name
        assert ("412" in answers) == ("IfMatch" in headers) == call.is_conditional, name
        assert ("IdempotencyKey" in headers) == (call.method != "GET"), name
        assert ("requestBody" in operation) == (call.request is not None), name


def test_no_body_may_hold_what_is_not_described(document):
    for kind in {one.request for one in OPERATIONS if one.request}:
        name = kind.__name__
        found = [
            schema
            for at, schema in document["components"]["schemas"].items()
            if at == name or at.endswith(f".{name}")
        ]
        assert all(schema["additionalProperties"] is False for schema in found if "not" in schema)


@pytest.mark.parametrize("call", [name for name, one in CALLS.items() if one.request])
def test_an_example_is_a_body_that_can_be_read(call):
    kind = CALLS[call].request

    assert collect(kind, examples.body(kind))[1] == []


@pytest.mark.full
async def test_every_example_is_carried_out(server, visitor, owner, world):
    failed = {}
    for call in OPERATIONS:
        if call.request is None:
            continue
        target = await world.target(call)
        body = with_references(examples.body(call.request), target.body)
        page = await target._replace(body=body).by(world.owner, x_idp_orgid=world.own.id)
        if page.status not in (200, 400) or not is_admitted(page):
            failed[called(call)] = [f"{page.text[:300]} {body}"]

    assert failed == {}


def with_references(example, sample):
    """The example, with what it refers to taken from a body that refers to what is there."""
    filled = dict(example)
    for name, value in example.items():
        if isinstance(value, dict) and isinstance(sample.get(name), dict):
            filled[name] = with_references(value, sample[name])
        elif name in REFERENCES and name in sample:
            filled[name] = sample[name]
    return filled
