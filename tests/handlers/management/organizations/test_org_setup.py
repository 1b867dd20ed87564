"""POST /admin/v1/orgs/_setup: organization, administrator and membership at once."""

from __future__ import annotations

import pytest

from idp import records
from idp.records import EVENTS, MEMBERSHIPS, ORGANIZATIONS, USERS, VERIFICATIONS
from tests.support.management import api_samples
from tests.support.management.api_samples import SET_UP, changed, organization
from tests.support.management.callers import refused
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything


async def made(server, answer):
    body = answer.json()
    return await server.store.get_many([(ORGANIZATIONS, body["orgId"]), (USERS, body["userId"])])


@pytest.mark.promise(
    "organization: orgId",
    "organization: details",
    "organization setup: one operation",
    "organization setup: 200",
)
async def test_the_answer_names_what_was_made(server, owner):
    answer = await owner.post(SET_UP, organization())

    assert answer.status == 200, answer.text
    body = answer.json()
    acme, anna = await made(server, answer)
    assert set(body) == {"details", "orgId", "userId", "preferredLoginName"}
    assert body["preferredLoginName"] == "anna-0@acme.localhost"
    assert body["details"]["sequence"] == "1"
    assert body["details"]["resourceOwner"] == acme.id
    assert body["details"]["creationDate"] == body["details"]["changeDate"]
    assert anna.org_id == acme.id
    assert (acme.name, acme.primary_domain) == ("Acme", "acme.localhost")


@pytest.mark.promise("organization setup: human")
async def test_everything_that_can_be_sent_about_the_administrator_is_stored(server, owner):
    fullest = api_samples.bodies(api_samples.CALLS[f"POST {SET_UP}"])[0]

    answer = await owner.post(SET_UP, api_samples.filled(fullest, n=1))

    acme, anna = await made(server, answer)
    assert acme.primary_domain == "acme-1.example"
    assert anna.user_name == "anna-1"
    assert anna.profile == records.Profile(
        display_name="Anna O.",
        given_name="Anna",
        family_name="Owner",
        nick_name="Ann",
        preferred_language="de",
        gender="female",
        middle_name="M.",
        profile="https://anna.example/",
        picture="https://anna.example/me.png",
        website="https://anna.example/blog",
        birthdate="1990-01-31",
        zoneinfo="Europe/Vienna",
    )
    assert anna.email == records.Email(
        address="anna-1@acme.example", is_verified=True, verified_by="instance"
    )
    assert anna.phone == records.Phone(
        number="+41791234567", is_verified=True, verified_by="instance"
    )
    assert anna.password.must_change is False


@pytest.mark.promise("organization setup: human", "organization setup: display name")
async def test_what_is_not_stated_is_left_open(server, owner):
    body = organization()
    del body["human"]["password"]
    _, anna = await made(server, await owner.post(SET_UP, body))

    assert anna.profile == records.Profile(
        display_name="Anna Owner", given_name="Anna", family_name="Owner"
    )
    assert (anna.phone, anna.password) == (None, None)


@pytest.mark.promise("organization setup: roles")
@pytest.mark.parametrize(
    ("roles", "held"),
    [
        (None, ["ORG_OWNER"]),
        ([], ["ORG_OWNER"]),
        (["ORG_USER_MANAGER"], ["ORG_USER_MANAGER"]),
        (["ORG_OWNER", "ORG_OWNER"], ["ORG_OWNER"]),
    ],
)
async def test_the_administrator_manages_the_organization_alone(server, owner, roles, held):
    body = organization() | ({} if roles is None else {"roles": roles})
    answer = (await owner.post(SET_UP, body)).json()

    memberships = await server.store.find(MEMBERSHIPS, {"user_id": answer["userId"]})
    (membership,) = memberships.records
    assert (membership.org_id, membership.roles) == (answer["orgId"], held)


@pytest.mark.promise("organization setup: roles")
@pytest.mark.parametrize("role", ["IAM_OWNER", "ORG_NOTHING", "org_owner", "", "PROJECT_OWNER"])
async def test_no_role_beyond_the_organization_is_given(server, owner, role):
    before = await everything(server.store)
    page = await owner.post(SET_UP, organization() | {"roles": ["ORG_OWNER", role]})

    assert refused(page, 400, 3) == {"roles[1]": "field.unknown_name"}
    assert await everything(server.store) == before


@pytest.mark.promise("organization setup: one operation")
async def test_each_thing_that_is_made_has_its_event_by_the_caller(server, owner):
    before = {event.id async for event in server.store.scan(EVENTS)}
    answer = (await owner.post(SET_UP, organization())).json()

    told = [event async for event in server.store.scan(EVENTS) if event.id not in before]
    types = ["domain.created", "membership.created", "organization.created", "user.created"]
    assert sorted(event.type for event in told) == types
    assert len({event.actor for event in told} | {event.request_id for event in told}) == 2
    assert answer["userId"] not in {event.actor for event in told}
    await events_agree(server.store)


DOMAINS = {
    "Acme": "acme.localhost",
    "ACME, Inc.": "acme-inc.localhost",
    "  Müller & Söhne  ": "muller-sohne.localhost",
    "--a--b--": "a-b.localhost",
    "2024": "2024.localhost",
    "株式会社": "org.localhost",
    "ﬁne": "fine.localhost",
    "x" * 200: "x" * 63 + ".localhost",
    "a.b": "a-b.localhost",
}


@pytest.mark.promise("organization: generated domain", "organization setup: org")
@pytest.mark.parametrize("name", DOMAINS)
async def test_a_domain_is_made_of_the_name(server, owner, name):
    acme, _ = await made(server, await owner.post(SET_UP, changed("org.name", name)))

    assert (acme.name, acme.primary_domain) == (name, DOMAINS[name])


async def test_names_of_the_same_letters_have_domains_of_their_own(server, owner):
    names = ["Acme", "Acme!", "(Acme)"]
    answers = [await owner.post(SET_UP, changed("org.name", names[n], n)) for n in range(3)]
    domains = [(await made(server, each))[0].primary_domain for each in answers]

    assert domains[0] == "acme.localhost"
    assert len(set(domains)) == 3
    assert all(each.startswith("acme") and each.endswith(".localhost") for each in domains)


@pytest.mark.promise("organization setup: org")
@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("acme.example", "acme.example"),
        ("ACME.Example", "acme.example"),
        ("a-1.b.example", "a-1.b.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"),
        ("ａcme。example", "acme.example"),
        ("bücher.localhost", "xn--bcher-kva.localhost"),
        ("", "acme.localhost"),
    ],
)
async def test_a_domain_of_one_s_own_is_taken(server, owner, sent, kept):
    acme, _ = await made(server, await owner.post(SET_UP, changed("org.domain", sent)))

    assert acme.primary_domain == kept


@pytest.mark.promise("organization setup: org")
@pytest.mark.parametrize(
    "domain",
    ["a b.example", "-a.example", "a-.example", "a..example", ".example", "example.", "a/b", "a@b"]
    + ["https://a.example", "a" * 64 + ".example", "a:80", "[::1]", " "]
    + [
        "127.0.0.1",
        "::1",
        "10.1",
        "a_b.example",
        "com",
        "localhost",
        "xn--a.example",
        "☃\u200b.de",
    ]
    + ["ü" * 60 + ".example"],
)
async def test_what_is_no_domain_is_refused(server, owner, domain):
    before = await everything(server.store)
    page = await owner.post(SET_UP, changed("org.domain", domain))

    assert refused(page, 400, 3) == {"org.domain": "domain.invalid"}
    assert await everything(server.store) == before


@pytest.mark.promise("organization setup: password")
@pytest.mark.parametrize(
    ("password", "error_code"),
    [
        ("short", "password.too_short"),
        ("xkq-7%z", "password.too_short"),
        ("12345678", "password.common"),
        ("anna-0-acme", "password.own_words"),
    ],
)
async def test_the_password_is_held_to_the_policy(server, owner, password, error_code):
    before = await everything(server.store)
    page = await owner.post(SET_UP, changed("human.password", password))

    assert refused(page, 400, 3)["human.password"] == error_code
    assert await everything(server.store) == before


@pytest.mark.promise("organization setup: 400")
async def test_a_weak_password_is_reported_beside_all_else(owner):
    body = organization() | {"org": {"name": ""}, "roles": ["KING"]}
    body["human"] |= {"userName": "", "profile": 3, "password": "short"}

    assert refused(await owner.post(SET_UP, body), 400, 3) == {
        "org.name": "field.empty",
        "roles[0]": "field.unknown_name",
        "human.userName": "field.empty",
        "human.profile": "field.wrong_type",
        "human.password": "password.too_short",
    }


@pytest.mark.promise("organization setup: 400")
async def test_a_part_that_is_wrong_hides_nothing_of_its_neighbours(owner):
    body = changed("human.password", "short")
    body["human"]["profile"] = {"firstName": "", "lastName": 1, "x": 2}
    body["human"]["email"]["isEmailVerified"] = "yes"

    assert refused(await owner.post(SET_UP, body), 400, 3) == {
        "human.profile.firstName": "field.empty",
        "human.profile.lastName": "field.wrong_type",
        "human.profile.x": "field.unknown",
        "human.email.isEmailVerified": "field.wrong_type",
        "human.password": "password.too_short",
    }


@pytest.mark.promise("organization setup: email")
async def test_an_address_that_is_not_verified_gets_its_code(server, owner):
    verified = (await owner.post(SET_UP, organization())).json()
    email = {"email": "anna@acme.test"}
    not_verified = (await owner.post(SET_UP, changed("human.email", email, n=1))).json()

    asked = [one.user_id async for one in server.store.scan(VERIFICATIONS)]
    assert asked == [not_verified["userId"]]
    assert verified["userId"] not in asked


NAMES = ["org.name", "human.userName", "human.profile.firstName", "human.profile.lastName"]
EDGES = {
    **{(path, 1): ("ü", None) for path in NAMES},
    **{(path, 200): ("😀" * 200, None) for path in NAMES if path != "human.userName"},
    ("human.userName", 200): ("u" * 200, None),
    **{(path, 201): ("x" * 201, "field.too_long") for path in NAMES},
    **{(path, 0): ("", "field.empty") for path in NAMES},
    **{(path, "blank"): (" \t "[:1] * 3, "field.empty") for path in NAMES},
    ("org.domain", 200): (".".join(["d" * 49] * 4) + "d", None),
    ("org.domain", 201): (".".join(["d" * 49] * 4) + "dd", "field.too_long"),
    ("human.profile.nickName", 0): ("", None),
    ("human.profile.nickName", 200): ("x" * 200, None),
    ("human.profile.nickName", 201): ("x" * 201, "field.too_long"),
    ("human.profile.displayName", 0): ("", None),
    ("human.profile.displayName", 200): ("x" * 200, None),
    ("human.profile.displayName", 201): ("x" * 201, "field.too_long"),
    ("human.profile.preferredLanguage", 0): ("", None),
    ("human.profile.preferredLanguage", 10): ("zh-Hans-CN", None),
    ("human.profile.preferredLanguage", 11): ("zh-Hans-CNX", "field.too_long"),
    ("human.email.email", 0): ("", "field.empty"),
    ("human.email.email", 200): ("a@" + ".".join(["x" * 49] * 3 + ["y" * 48]), None),
    ("human.email.email", 201): ("a@" + ".".join(["x" * 49] * 4), "field.too_long"),
    ("human.phone.phone", 0): ("", "field.empty"),
    ("human.phone.phone", 50): ("+41" + " " * 38 + "791234567", None),
    ("human.phone.phone", 51): ("+41" + " " * 39 + "791234567", "field.too_long"),
    ("human.password", 0): ("", "field.empty"),
    ("human.password", 200): ("ä b" * 66 + "ab", None),
    ("human.password", 201): ("ä b" * 67, "field.too_long"),
}


@pytest.mark.promise(
    "organization: name",
    "organization setup: org",
    "organization setup: human",
    "organization setup: preferred language",
    "organization setup: phone",
)
@pytest.mark.parametrize(("path", "length"), EDGES)
async def test_limits_hold_at_both_edges_in_characters(server, owner, path, length):
    value, error_code = EDGES[path, length]
    assert not isinstance(length, int) or len(value) == length
    before = await everything(server.store)
    page = await owner.post(SET_UP, changed(path, value))

    if error_code is None:
        assert page.status == 200, page.text
    else:
        assert refused(page, 400, 3)[path] == error_code
        assert await everything(server.store) == before


@pytest.mark.promise("organization setup: preferred language")
@pytest.mark.parametrize(
    ("sent", "kept"),
    [("en-u-rg", "en"), ("de-CH", "de-CH"), ("x-house", "x-house"), ("pt-x-y", "pt")],
)
async def test_a_language_is_stored_without_its_extensions(server, owner, sent, kept):
    body = changed("human.profile.preferredLanguage", sent)
    _, anna = await made(server, await owner.post(SET_UP, body))

    assert anna.profile.preferred_language == kept


@pytest.mark.promise("organization setup: preferred language")
@pytest.mark.parametrize(
    "tag", ["de_CH", "d€", "-", "de-", "-de", "de--ch", "123", "a b", "abcdefghi"]
)
async def test_what_is_no_language_tag_is_refused(server, owner, tag):
    page = await owner.post(SET_UP, changed("human.profile.preferredLanguage", tag))

    path = "human.profile.preferredLanguage"
    assert refused(page, 400, 3) == {path: "language.invalid"}


@pytest.mark.promise("organization setup: email")
@pytest.mark.parametrize(
    "address",
    [
        "nobody",
        "a@",
        "@b.example",
        "a b@c.example",
        "a@b..example",
        "a@-b.example",
        "a@b@c.example",
    ]
    + ["Anna <a@b.example>", "a@b.example,c@d.example", "a@b.example>"]
    + ["mailto:a@b.example"],
)
async def test_what_is_no_address_is_refused(server, owner, address):
    page = await owner.post(SET_UP, changed("human.email.email", address))

    assert refused(page, 400, 3) == {"human.email.email": "email.invalid"}


@pytest.mark.parametrize("address", ["a@b.example", "a+b@c.example", "ä@ö.example", "a@localhost"])
async def test_addresses_of_all_alphabets_and_of_private_networks_are_taken(owner, address):
    assert (await owner.post(SET_UP, changed("human.email.email", address))).status == 200


@pytest.mark.promise("organization setup: phone")
@pytest.mark.parametrize("number", ["+41 79 123 45 67", "tel:+41-79-123-45-67", "+41(0)791234567"])
async def test_a_phone_number_is_stored_in_one_form(server, owner, number):
    _, anna = await made(server, await owner.post(SET_UP, changed("human.phone.phone", number)))

    assert anna.phone.number == "+41791234567"


@pytest.mark.promise("organization setup: phone")
@pytest.mark.parametrize(
    "number",
    [
        "0791234567",
        "+",
        "+1",
        "41791234567",
        "+41 79 CALL ME",
        "+999999999999999999",
        "+٤١٧٩١٢٣٤٥٦٧",
    ],
)
async def test_what_is_no_phone_number_is_refused(server, owner, number):
    page = await owner.post(SET_UP, changed("human.phone.phone", number))

    assert refused(page, 400, 3) == {"human.phone.phone": "phone.invalid"}


async def test_the_page_says_that_mail_is_only_held(owner):
    verified = await owner.post(SET_UP, organization())
    to_prove = changed("human.email", {"email": "anna@acme.example"}, n=1)

    assert "mail" not in verified.json()
    assert (await owner.post(SET_UP, to_prove)).json()["mail"] == "held"
