"""What the management API reads and answers, whatever the endpoint.

docs/reference/management.md says the same.
"""

from __future__ import annotations

import asyncio
import gzip
from urllib.parse import urlsplit

import pytest

from idp.records import PROJECTS
from storage import Unavailable
from tests.support.browsers import wire
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.store.stored import everything

PATH = "/management/v1/projects"
LIMIT = 1024 * 1024


async def names(server):
    return {project.name async for project in server.store.scan(PROJECTS)} - {"Default"}


async def test_an_answer_is_json_that_is_not_cached(owner):
    page = await owner.post(PATH, {"name": "P"}, X_Request_Id="my-own-request-1")

    assert page.status == 200
    assert page.headers["Content-Type"] == "application/json"
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["X-Request-Id"] == "my-own-request-1"
    assert "Set-Cookie" not in page.headers


async def test_what_has_its_default_value_is_left_out(owner):
    made = (await owner.post(PATH, {"name": "P"})).json()
    body = {"name": "A", "redirectUris": ["https://a.example/"]}
    body["authMethodType"] = "OIDC_AUTH_METHOD_TYPE_NONE"
    app = await owner.post(f"{PATH}/{made['id']}/apps/oidc", body)

    assert set(app.json()) == {"appId", "details", "clientId"}
    assert set(made["details"]) == {"sequence", "creationDate", "changeDate", "resourceOwner"}
    assert made["details"]["sequence"] == "1"
    assert made["details"]["creationDate"].endswith("Z")


async def test_names_are_taken_in_camel_and_in_snake_case_but_not_in_both(server, owner):
    snake = await owner.post(PATH, {"name": "P", "has_project_check": False})
    both = await owner.post(
        PATH, {"name": "P2", "has_project_check": False, "hasProjectCheck": False}
    )

    assert snake.status == 200
    assert refused(both, 400, 3) == {"hasProjectCheck": "field.duplicate"}
    assert await names(server) == {"P"}


async def test_all_that_is_wrong_is_reported_at_once(server, owner):
    before = await everything(server.store)
    page = await owner.post(
        "/admin/v1/orgs/_setup",
        {
            "org": {"name": ""},
            "human": {
                "profile": {"firstName": 3, "gender": "GENDER_NONE", "preferredLanguage": "?"},
                "email": {"email": "nobody", "isEmailVerified": "yes"},
                "phone": {"phone": "0791234567"},
                "password": "",
            },
            "roles": ["ORG_OWNER", "KING"],
            "more": 1,
        },
    )

    assert refused(page, 400, 3) == {
        "more": "field.unknown",
        "org.name": "field.empty",
        "human.userName": "field.required",
        "human.profile.firstName": "field.wrong_type",
        "human.profile.lastName": "field.required",
        "human.profile.preferredLanguage": "language.invalid",
        "human.profile.gender": "field.unknown_name",
        "human.email.email": "email.invalid",
        "human.email.isEmailVerified": "field.wrong_type",
        "human.phone.phone": "phone.invalid",
        "human.password": "field.empty",
        "roles[1]": "field.unknown_name",
    }
    assert page.json()["message"] == "more: is not known (and 11 more)"
    assert await everything(server.store) == before


async def test_very_many_names_that_are_not_known_are_one_problem(owner):
    page = await owner.post(PATH, {f"field{n}": n for n in range(5000)})

    assert refused(page, 400, 3) == {"": "field.unknown", "name": "field.required"}
    assert "has 5000 unknown members (and 1 more)" in page.json()["message"]


MALFORMED = {
    "nothing": b"",
    "a blank": b" ",
    "no JSON": b"name=P",
    "half of an object": b'{"name":"P"',
    "two values": b'{"name":"P"}{}',
    "a comma too many": b'{"name":"P",}',
    "a comment": b'{"name":"P"} // x',
    "single quotes": b"{'name':'P'}",
    "a byte order mark": b'\xef\xbb\xbf{"name":"P"}',
    "UTF-16": '{"name":"P"}'.encode("utf-16"),
    "Latin-1": '{"name":"\xe4"}'.encode("latin-1"),
    "a surrogate in UTF-8": b'{"name":"\xed\xa0\x80"}',
    "a control character": b'{"name":"\x01"}',
    "an octal number": b'{"name":01}',
    "a hundred thousand brackets": b"[" * 100_000,
    "a hundred thousand braces": b'{"a":' * 100_000,
}
ERROR_CODES = {
    "a hundred thousand brackets": "json.too_deep",
    "a hundred thousand braces": "json.too_deep",
}


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("a byte order mark", "begins with a byte order mark: send UTF-8 without one"),
        ("a control character", "Invalid control character at character 9"),
    ],
)
async def test_what_is_wrong_with_it_is_reported_in_words(owner, what, told):
    page = await owner.post(PATH, MALFORMED[what])

    assert page.json()["message"].endswith(told)


@pytest.mark.parametrize("what", MALFORMED)
async def test_what_is_no_json_is_400(server, owner, what):
    before = await everything(server.store)
    page = await owner.post(PATH, MALFORMED[what])

    assert refused(page, 400, 3) == {"": ERROR_CODES.get(what, "json.malformed")}
    assert await everything(server.store) == before


STRICT = {
    b'{"name":"P","name":"Q"}': ("name", "json.duplicate"),
    rb'{"name":"P","n\u0061me":"Q"}': ("name", "json.duplicate"),
    b'{"name":"P","x":{"role":1,"role":2}}': ("x.role", "json.duplicate"),
    b'{"name":"P","x":[1,NaN]}': ("x[1]", "json.number"),
    b'{"name":"P","x":-Infinity}': ("x", "json.number"),
    b'{"name":"P","x":9223372036854775808}': ("x", "json.number"),
    b'{"name":"P","x":-9223372036854775809}': ("x", "json.number"),
    b'{"name":"P","x":1e999}': ("x", "json.number"),
    rb'{"name":"\ud83d"}': ("name", "json.characters"),
    rb'{"name":"\u0000"}': ("name", "json.characters"),
    rb'{"name":"P","\ud83d":1}': ("\ufffd", "json.characters"),
    b'{"name":"P","x":' + b"[" * 65 + b"]" * 65 + b"}": (None, "json.too_deep"),
}


@pytest.mark.parametrize("body", STRICT)
async def test_what_readers_of_json_disagree_on_is_400(server, owner, body):
    field, error_code = STRICT[body]
    fields = refused(await owner.post(PATH, body), 400, 3)

    assert list(fields.values()) == [error_code]
    assert field in (None, *fields)
    assert await names(server) == set()


async def test_sixty_four_levels_and_the_largest_integers_are_read(owner):
    deep = b"[" * 63 + b"]" * 63
    body = b'{"name":"P","a":%s,"b":9223372036854775807,"c":-9223372036854775808}' % deep

    fields = refused(await owner.post(PATH, body), 400, 3)
    assert fields == dict.fromkeys(("a", "b", "c"), "field.unknown")


@pytest.mark.parametrize("body", [b"[]", b"null", b'"x"', b"3", b"true", b'[{"name":"P"}]'])
async def test_a_body_that_is_no_object_is_400(server, owner, body):
    assert refused(await owner.post(PATH, body), 400, 3) == {"": "field.wrong_type"}
    assert await names(server) == set()


async def test_names_of_other_alphabets_come_back_as_they_were(server, owner):
    name = "Größe 店 🏳️‍🌈 שלום"
    made = (await owner.post(PATH, {"name": name})).json()

    found = await owner.get(f"{PATH}/{made['id']}")
    assert found.json()["project"]["name"] == name


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        'Application/JSON;charset="UTF-8"',
        "application/json ;  charset=UTF-8",
    ],
)
async def test_json_is_named_in_any_spelling(server, owner, content_type):
    page = await owner.post(PATH, b'{"name":"P"}', Content_Type=content_type)

    assert page.status == 200


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin-1",
        "application/json; charset=utf-16",
        "application/json; profile=x",
        "application/json, text/plain",
        "application/jsonp",
        "application/ json",
    ],
)
async def test_another_content_type_is_415(server, owner, content_type):
    page = await owner.post(PATH, b'{"name":"P"}', Content_Type=content_type)

    assert refused(page, 415, 3) == {"": "unsupported_media_type"}
    assert await names(server) == set()


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "identity, gzip"])
async def test_a_compressed_body_is_415(server, owner, encoding):
    body = gzip.compress(b'{"name":"P"}')
    page = await owner.post(PATH, body, Content_Encoding=encoding)

    assert refused(page, 415, 3) == {"": "unsupported_media_type"}
    assert await names(server) == set()


def padded(length: int) -> bytes:
    return b'{"name":"P"}'.ljust(length)


async def test_a_megabyte_is_read_and_one_more_byte_is_413(server, owner):
    longer = await owner.post(PATH, padded(LIMIT + 1))
    assert refused(longer, 413, 8) == {"": "request_entity_too_large"}
    assert await names(server) == set()

    assert (await owner.post(PATH, padded(LIMIT))).status == 200


async def test_a_body_in_pieces_is_measured_too(server, owner, visitor):
    async def pieces():
        for _ in range(17):
            yield b" " * 65536
            await asyncio.sleep(0)

    headers = {"Authorization": f"Bearer {owner.token}", "Content-Type": "application/json"}
    page = await visitor.request("POST", PATH, content=pieces(), headers=headers)

    refused(page, 413, 8)
    assert await names(server) == set()


async def test_an_unknown_caller_is_refused_before_the_body_is_read(server, visitor):
    head = [
        f"Host: {urlsplit(server.issuer).netloc}",
        "Content-Type: application/json",
        "Content-Length: 1000000",
    ]
    octets = "\r\n".join([f"POST {PATH} HTTP/1.1", *head, "", ""]).encode()
    response = await wire.exchange(server, octets)

    assert response.status_code == 401


METHODS = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"]


@pytest.mark.parametrize("method", METHODS)
async def test_another_method_is_405_with_those_that_there_are(owner, method):
    page = await owner.request(method, PATH, None)

    assert page.status == 405
    assert page.headers["Allow"] == "POST"
    assert method == "HEAD" or refused(page, 405, 12) == {"": "method_not_allowed"}


async def test_an_unknown_method_is_405(server):
    host = urlsplit(server.issuer).netloc
    octets = f"FOO {PATH} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
    response = await wire.exchange(server, octets)

    assert (response.status_code, response.json()["code"]) == (405, 12)


@pytest.mark.parametrize(
    "path",
    [
        *["/management/v1/nothing", "/admin/v1/", "/v2/people", "/management/v1/projects/"],
        *["/v2/", "/admin/v1/exports", "/admin/v1/nothing", "/management/v1/users/human/_add"],
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_an_address_of_nothing_is_404_in_the_api_s_form(visitor, owner, path, method):
    page = await visitor.request(method, path, headers={"Accept": "text/html"})

    assert refused(page, 404, 5) == {"": "not_found"}


async def test_the_organization_is_the_caller_s_own_or_the_one_that_the_header_names(
    server, visitor, owner
):
    other = await new_organization(server, "other.example")
    caller = await new_caller(server, visitor, other, "ORG_OWNER")
    own = await caller.post(PATH, {"name": "own"})
    named = await owner.post(PATH, {"name": "named"}, x_idp_orgid=other.id)
    instance = await owner.post(PATH, {"name": "instance"}, x_idp_orgid="")

    owners = [page.json()["details"]["resourceOwner"] for page in (own, named, instance)]
    assert owners[0] == owners[1] == other.id != owners[2]


async def test_a_busy_store_is_503_with_the_time_to_come_again(
    server, visitor, owner, monkeypatch
):
    async def busy(*writes):
        raise Unavailable("the primary is gone")

    monkeypatch.setattr(server.store, "commit", busy)
    visitor.may_fail = True
    page = await owner.post(PATH, {"name": "P"})

    assert refused(page, 503, 14) == {"": "unavailable"}
    assert int(page.headers["Retry-After"]) > 0
    assert "primary" not in page.text


async def test_a_failure_reveals_nothing_of_its_cause(server, visitor, owner, monkeypatch):
    async def broken(*writes):
        raise RuntimeError("sqlite3 in /secret")

    monkeypatch.setattr(server.store, "commit", broken)
    visitor.may_fail = True
    page = await owner.post(PATH, {"name": "P"})

    assert refused(page, 500, 13) == {"": "internal"}
    assert "secret" not in page.text
