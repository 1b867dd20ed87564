"""POST /v2/users/human: what it refuses, with every reason at once, leaving nothing behind."""

from __future__ import annotations

import base64

import msgspec
import pytest

from idp.records import USER_METADATA
from tests.support.management.callers import refused
from tests.support.sign_in.people import FULL, PATH, having, objects, person, without
from tests.support.store.stored import everything

BCRYPT = "$2b$10$PmNGyfpJRHuJXrWr/5PzQejW4WkIxnYDzVXmOSgvVHCL3h3BUOT2i"


@pytest.fixture
def refusal(server, owner):
    """Sends a body; the error codes of the refusal by path, when nothing was written."""

    async def send(body, status=400, code=3):
        before = await everything(server.store)
        found = refused(await owner.post(PATH, body), status, code)
        assert await everything(server.store) == before
        return found

    return send


async def test_the_full_body_is_fine(owner):
    assert (await owner.post(PATH, FULL)).status == 200


@pytest.mark.full
async def test_no_object_takes_a_member_that_it_does_not_know(refusal):
    unknown = ["roles", "resourceOwner", "state", "_id", "sequence", "isAdmin", "stamp", "details"]
    for path in objects(FULL):
        for name in unknown:
            at = f"{path}.{name}" if path else name
            assert await refusal(having(FULL, at, "ORG_OWNER")) == {at: "field.unknown"}


@pytest.mark.parametrize("body", [b"", b"{", b"null", b"[]", b'"a"', b"{}{}", b"[" * 100_000])
async def test_what_is_no_object_is_refused(refusal, body):
    assert list(await refusal(body)) == [""]


@pytest.mark.promise("user creation: profile")
@pytest.mark.parametrize(
    "path",
    [
        "profile",
        "profile.givenName",
        "profile.familyName",
        "email",
        "email.email",
        "phone.phone",
        "password.password",
    ],
)
async def test_what_is_needed_and_missing_is_named(refusal, path):
    assert await refusal(without(FULL, path)) == {path: "field.required"}


# The longest that is taken, and what is one too many.
LIMITS = [
    ("userId", "i" * 200, "field.too_long"),
    ("username", "u" * 200, "field.too_long"),
    ("profile.givenName", "ü" * 200, "field.too_long"),
    ("profile.familyName", "😀" * 200, "field.too_long"),
    ("profile.nickName", "n" * 200, "field.too_long"),
    ("profile.displayName", "d" * 200, "field.too_long"),
    ("profile.preferredLanguage", "zh-Hant-TW", "field.too_long"),
    ("profile.middleName", "m" * 200, "field.too_long"),
    *[
        (f"profile.{name}", "https://a.example/" + "a" * 182, "field.too_long")
        for name in ("profile", "picture", "website")
    ],
    ("address.formatted", "f\r\n" * 333 + "f", "field.too_long"),
    ("address.streetAddress", "s\n" * 100, "field.too_long"),
    *[
        (f"address.{name}", "ß" * 200, "field.too_long")
        for name in ("locality", "region", "postalCode", "country")
    ],
    ("email.sendCode.urlTemplate", "https://a.example/" + "a" * 182, "field.too_long"),
    ("phone.phone", "+41791234567".ljust(200, "-"), "field.too_long"),
    ("metadata[0].key", "k" * 200, "field.too_long"),
    ("metadata[0].value", "QUJD" * 125_000, "field.too_long"),
    ("password.password", "pässwörd " * 22 + "ab", "field.too_long"),
    ("idpLinks[0].idpId", "i" * 200, "field.too_long"),
    ("idpLinks[0].userId", "i" * 200, "field.too_long"),
    ("idpLinks[0].userName", "i" * 200, "field.too_long"),
]


@pytest.mark.promise("user creation: user id", "user creation: profile", "length: names")
@pytest.mark.parametrize(
    ("path", "longest", "error_code"), LIMITS, ids=lambda value: str(value)[:30]
)
async def test_a_text_may_be_as_long_as_stated_and_no_longer(
    owner, refusal, path, longest, error_code
):
    assert error_code in (await refusal(having(FULL, path, longest + "a")))[path]
    assert (await owner.post(PATH, having(FULL, path, longest))).status == 200


@pytest.mark.promise("length: names")
@pytest.mark.parametrize(
    "path",
    [
        "userId",
        "username",
        "profile.givenName",
        "profile.familyName",
        "email.email",
        "email.sendCode.urlTemplate",
        "phone.phone",
        "metadata[0].key",
        "metadata[0].value",
        "password.password",
        "idpLinks[0].idpId",
        "idpLinks[0].userId",
        "idpLinks[0].userName",
    ],
)
async def test_what_may_not_be_empty_is_refused_when_it_is(refusal, path):
    assert await refusal(having(FULL, path, "")) == {path: "field.empty"}


@pytest.mark.promise("user creation: email", "length: identifiers")
async def test_an_address_has_up_to_200_characters(owner, refusal):
    domain = ".".join(["d" * 60, "e" * 60, "example"])
    longest = "l" * 64 + "@" + domain + "x" * (200 - 65 - len(domain))

    assert (await owner.post(PATH, having(FULL, "email.email", longest))).status == 200
    assert await refusal(having(FULL, "email.email", longest + "x")) == {
        "email.email": "field.too_long"
    }


REFUSED = [
    ("email.email", "mini", "email.invalid"),
    ("email.email", "mini@", "email.invalid"),
    ("email.email", "mini@mouse.example\r\nBcc: all@mouse.example", "field.characters"),
    ("email.email", "mini@mouse.example, max@mouse.example", "email.invalid"),
    ("email.email", "Mini <mini@mouse.example>", "email.invalid"),
    ("phone.phone", "079 123 45 67", "phone.invalid"),
    ("phone.phone", "+41", "phone.invalid"),
    ("phone.phone", "+1000000000000000", "phone.invalid"),
    ("phone.phone", "+٤١٧٩١٢٣٤٥٦٧", "phone.invalid"),
    ("phone.phone", "+1 800 FLOWERS", "phone.invalid"),
    ("profile.preferredLanguage", "en_US", "language.invalid"),
    ("profile.preferredLanguage", "deutsch!", "language.invalid"),
    ("profile.gender", "FEMALE", "field.unknown_name"),
    ("profile.gender", 1, "field.wrong_type"),
    ("profile.givenName", "Mi\nni", "field.characters"),
    ("profile.givenName", "   ", "field.empty"),
    ("profile.middleName", "M\n", "field.characters"),
    *[
        (f"profile.{name}", value, "field.address")
        for name in ("profile", "picture", "website")
        for value in ("mouse.example", "javascript:alert(1)", "//mouse.example/", "https://")
    ],
    ("profile.picture", "https://mini@mouse.example/", "field.address"),
    ("profile.picture", 'https://mouse.example/"onload="', "field.address"),
    ("profile.picture", "https://mouse.example\\@cat.example/", "field.address"),
    *[
        ("profile.birthdate", value, "birthdate.invalid")
        for value in ("1990-02-29", "0000", "0000-13-01", "90", "1990-1-31", "19900131", "١٩٩٠")
    ],
    *[
        ("profile.zoneinfo", value, "zoneinfo.unknown")
        for value in ("europe/vienna", "Vienna", "../etc/passwd", "localtime", "+01:00")
    ],
    ("address", {}, "field.empty"),
    ("address", {"locality": "", "country": ""}, "field.empty"),
    ("address.formatted", "High Street\x07", "field.characters"),
    ("address.streetAddress", "High Street\x1b", "field.characters"),
    ("address.country", "Aus\ntria", "field.characters"),
    ("username", "mi\u200bni", "user.name_invisible"),
    ("username", "mini ", "user.name_spaces"),
    ("userId", "client:1234", "user.id_reserved"),
    ("userId", "..", "user.id_reserved"),
    ("userId", "../x", "user.id_reserved"),
    ("userId", "x\\..", "user.id_reserved"),
    ("userId", "human", "user.id_reserved"),
    ("metadata[0].value", "not base64", "field.base64"),
    ("metadata[0].value", "cmVkK", "field.base64"),
    ("metadata[0].value", "🙂", "field.base64"),
    ("password.password", "short", "password.too_short"),
    ("password.password", "password1234", "password.common"),
    ("password.password", "minnie mouse", "password.own_words"),
    ("hashedPassword", {"hash": BCRYPT}, "field.conflict"),
    ("email.returnCode", {}, "field.conflict"),
    ("email.isVerified", False, "field.conflict"),
    ("phone.returnCode", {}, "field.conflict"),
    ("organization.orgId", "1", "field.conflict"),
    ("email.sendCode.urlTemplate", "http://mouse.example/v", "url_template.invalid"),
    ("email.sendCode.urlTemplate", "javascript:alert(1)", "url_template.invalid"),
    ("email.sendCode.urlTemplate", "https://a@b.example/{{.Code}}", "url_template.invalid"),
    ("email.sendCode.urlTemplate", "https://{{.Code}}.example/", "url_template.invalid"),
    ("email.sendCode.urlTemplate", "https://a.example/{{.Password}}", "url_template.invalid"),
    ("totpSecret", "no secret", "factor.secret"),
]


@pytest.mark.full
@pytest.mark.parametrize(
    ("path", "value", "error_code"), REFUSED, ids=lambda value: str(value)[:40]
)
async def test_what_is_not_meant_is_refused_by_its_place(refusal, path, value, error_code):
    found = await refusal(having(FULL, path, value))

    assert set(found.values()) == {error_code}
    assert all(
        place.startswith(path.split(".")[0].split("[")[0]) or error_code == "field.conflict"
        for place in found
    )


@pytest.mark.promise("user creation: hashedPassword")
@pytest.mark.parametrize(
    "encoded",
    [
        "plain text",
        "$2x$10$CIAkrJs1QEOsvDn/Ot1Rb.oBhVKJcHbgVwNdWBnnxMJqFMdh1H1qa",
        "$2b$31$PmNGyfpJRHuJXrWr/5PzQejW4WkIxnYDzVXmOSgvVHCL3h3BUOT2i",
        "$argon2d$v=19$m=4096,t=3,p=1$cmFuZG9tc2FsdGlzaGFyZA$CB0Du96aj3fQVcVSqb0LIA6Z6fpStjzjVkaC3RlpK9A",
        "$argon2id$v=19$m=4294967295,t=3,p=1$cmFuZG9tc2FsdGlzaGFyZA$CB0Du96aj3fQVcVSqb0LIA6Z6fpStjzjVkaC",
        "$argon2id$v=19$m=+8,t=3,p=1$cmFuZG9tc2FsdGlzaGFyZA$CB0Du96aj3fQVcVSqb0LIA6Z6fpStjzjVkaC",
        "$unknown$1$salt$hash",
    ],
)
async def test_a_hash_that_is_unknown_or_too_expensive_is_refused(refusal, encoded):
    body = without(having(FULL, "hashedPassword", {"hash": encoded}), "password")

    assert await refusal(body) == {"hashedPassword.hash": "password_hash.unreadable"}


async def test_every_reason_is_reported_at_once(refusal):
    body = having(FULL, "profile.givenName", "")
    body = having(body, "password.password", "zq7")
    body = having(body, "email.sendCode.urlTemplate", "http://a.example/")
    body = having(
        body, "metadata", [{"key": "a", "value": "YQ=="}] * 2 + [{"key": "", "value": 1}]
    )
    body = having(body, "idpLinks", body["idpLinks"] * 2)
    body = having(body, "phone.phone", "123")
    body = having(body, "profile.birthdate", "31.1.1990")
    body = having(body, "profile.zoneinfo", 1)
    body = having(body, "address", {"country": 1, "planet": "Earth"})
    body = having(body, "isAdmin", True)

    assert await refusal(body) == {
        "profile.givenName": "field.empty",
        "password.password": "password.too_short",
        "email.sendCode.urlTemplate": "url_template.invalid",
        "metadata[1].key": "field.duplicate",
        "metadata[2].key": "field.empty",
        "metadata[2].value": "field.wrong_type",
        "idpLinks[1].userId": "field.duplicate",
        "phone.phone": "phone.invalid",
        "profile.birthdate": "birthdate.invalid",
        "profile.zoneinfo": "field.wrong_type",
        "address.country": "field.wrong_type",
        "address.planet": "field.unknown",
        "isAdmin": "field.unknown",
    }


# What a part's own mistake must not hide: the rules beyond one field.
NEIGHBOURS = [
    (
        {"password": {"password": "short", "changeRequired": 2}},
        {
            "password.changeRequired": "field.wrong_type",
            "password.password": "password.too_short",
        },
    ),
    (
        {"password": {"password": "short", "x": 2}},
        {"password.x": "field.unknown", "password.password": "password.too_short"},
    ),
    (
        {"email": {"email": "x", "sendCode": {"urlTemplate": "x"}}},
        {"email.email": "email.invalid", "email.sendCode.urlTemplate": "url_template.invalid"},
    ),
    (
        {"email": {"email": "m@a.test", "sendCode": {"urlTemplate": "x"}, "returnCode": {}}},
        {
            "email.returnCode": "field.conflict",
            "email.sendCode.urlTemplate": "url_template.invalid",
        },
    ),
    (
        {"metadata": [{"key": "a", "value": 1}, {"key": "a", "value": "YQ=="}, {}, {}]},
        {
            "metadata[0].value": "field.wrong_type",
            "metadata[1].key": "field.duplicate",
            **{
                f"metadata[{n}].{name}": "field.required"
                for n in (2, 3)
                for name in ("key", "value")
            },
        },
    ),
    (
        {"organization": {"orgId": "nobodys"}, "email": {"email": "x"}},
        {"organization.orgId": "organization.not_found", "email.email": "email.invalid"},
    ),
    ({"username": 1}, {"username": "field.wrong_type"}),
    ({"organization": {"orgId": 1}}, {"organization.orgId": "field.wrong_type"}),
    (
        {"profile": [], "email": 1, "phone": "+41791234567"},
        dict.fromkeys(("profile", "email", "phone"), "field.wrong_type"),
    ),
]


@pytest.mark.parametrize(("changes", "told"), NEIGHBOURS, ids=lambda value: str(value)[:40])
async def test_a_part_that_is_wrong_hides_nothing_of_its_neighbours(refusal, changes, told):
    assert await refusal(person(**changes)) == told


@pytest.mark.promise("user creation: user id")
async def test_all_that_is_taken_is_reported_at_once(owner, refusal):
    assert (await owner.post(PATH, FULL)).status == 200
    address = {"email": FULL["username"] + "@localhost", "isVerified": True}

    assert await refusal(having(FULL, "email", address), 409, 6) == {
        "username": "user.login_name_taken",
        "email.email": "user.login_name_taken",
        "userId": "user.id_taken",
    }


@pytest.mark.promise("user creation: username")
async def test_a_quoted_address_is_a_user_name_and_one_with_hidden_characters_is_none(
    owner, refusal
):
    address = {"email": '"m m "@mouse.example', "isVerified": True}
    hidden = {"email": "mi\u034fni@mouse.example", "isVerified": True}

    assert (await owner.post(PATH, person(email=address))).status == 200
    assert await refusal(person(email=hidden)) == {"email.email": "email.invalid"}


@pytest.mark.full
@pytest.mark.promise("user creation: metadata", "length: metadata")
async def test_several_values_of_the_longest_fit_into_one_request(server, owner, refusal):
    value = base64.b64encode(b"\xff" * 375_000).decode()
    entries = [{"key": f"k{n}", "value": value} for n in range(8)]
    page = await owner.post(PATH, person(metadata=entries))

    assert page.status == 200
    assert await server.store.count(USER_METADATA, {"user_id": page.json()["userId"]}) == 8
    body = msgspec.json.encode(person(username="other", metadata=entries))
    assert await refusal(body + b" " * (4 * 1024 * 1024 - len(body) + 1), 413, 8)


async def test_a_thousand_entries_fit_and_one_more_does_not(owner, refusal):
    entries = [{"key": f"k{n}", "value": "YQ=="} for n in range(1001)]

    assert await refusal(person(metadata=entries)) == {"metadata": "field.too_many"}
    assert (await owner.post(PATH, person(metadata=entries[:1000]))).status == 200


@pytest.mark.parametrize(
    "type", ["text/json", "application/x-www-form-urlencoded", "application/json; charset=latin1"]
)
async def test_only_json_is_read(server, owner, type):
    before = await everything(server.store)
    page = await owner.post(PATH, person(), Content_Type=type)

    refused(page, 415, 3)
    assert await everything(server.store) == before
