"""Making people: which names and ids are free, for one and for many at the same moment."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

import pytest
from msgspec import structs

from idp import changes
from idp.foundation import user_names
from idp.foundation.errors import Taken
from idp.identity.users import creation as user_creation
from idp.identity.users import lookup as user_lookup
from idp.identity.users import organizations
from idp.identity.users.creation import NewHuman
from idp.records import (
    LOGIN_CLAIMS,
    ORGANIZATIONS,
    USER_METADATA,
    USERS,
    Email,
    Profile,
)
from idp.schema.field_rules import MAX_TEXT, EmailRule
from storage import Delete, Insert
from tests.support.store.stored import everything


@pytest.fixture
def service(server):
    return server.service


async def organization(service, domain="localhost"):
    found = await service.store.find(ORGANIZATIONS, {"primary_domain": domain})
    return found.records[0] if found.records else await _new_organization(service, domain)


async def _new_organization(service, domain):
    made = organizations.new(service, domain, domain, service.clock.now())
    await service.store.commit(Insert(ORGANIZATIONS, made))
    return made


def person(user_name, email=None, *, is_verified=True, **more):
    address = Email(address=email, is_verified=is_verified) if email else None
    profile = Profile(display_name="", given_name="Max", family_name="Muster")
    return NewHuman(user_name=user_name, profile=profile, email=address, **more)


async def create(service, new, domain="localhost"):
    home = await organization(service, domain)

    async def prepare():
        return await user_creation.prepare(service, home, new, actor="me")

    made = await changes.commit(service, partial(user_creation.planned, prepare))
    return made.user


async def outcome(service, new, domain="localhost"):
    """`made`, or the error code of the refusal, as a caller would tell it."""
    try:
        await create(service, new, domain)
    except Taken as taken:
        return taken.error_code
    return "made"


async def test_a_person_is_found_by_each_of_their_three_login_names(service):
    made = await create(service, person("Max", "Max@Example.com"))

    for typed in ("max", "MAX@LOCALHOST", "max@example.COM", " max "):
        assert (await user_lookup.find_by_login_name(service, typed)).id == made.id


async def test_an_address_that_is_not_verified_is_no_login_name(service):
    await create(service, person("max", "max@example.com", is_verified=False))

    assert await user_lookup.find_by_login_name(service, "max@example.com") is None
    assert await outcome(service, person("max@example.com")) == "made"


async def test_an_address_that_two_have_verified_is_nobodys_login_name(service):
    await create(service, person("one", "both@example.com"))
    await create(service, person("two", "both@example.com"))

    assert await user_lookup.find_by_login_name(service, "both@example.com") is None


async def test_an_address_that_somebody_of_another_organization_signs_in_by_is_taken(service):
    made = await create(service, person("one", "both@example.com"), "other.example")

    assert await outcome(service, person("two", "BOTH@example.com")) == "user.login_name_taken"
    assert await outcome(service, person("two", "both@example.com", is_verified=False)) == "made"
    assert (await user_lookup.find_by_login_name(service, "both@example.com")).id == made.id


async def test_of_many_at_once_with_one_address_all_of_one_organization_are_made(service):
    people = [person(f"max{n}", "all@example.com") for n in range(16)]

    ends = await asyncio.gather(*(outcome(service, each) for each in people))

    assert set(ends) == {"made"}


async def test_of_two_organizations_at_once_one_gets_the_address(service):
    homes = ["one.example", "two.example"] * 4
    for home in homes:
        await organization(service, home)

    ends = await asyncio.gather(
        *(
            outcome(service, person(f"max{n}", "all@example.com"), home)
            for n, home in enumerate(homes)
        )
    )

    assert sorted(ends) == ["made"] * 4 + ["user.login_name_taken"] * 4
    found = await service.store.find(USERS, {"email_key": "all@example.com"})
    assert len({user.org_id for user in found.records}) == 1


async def test_a_name_of_200_characters_fits_however_long_its_key_is(service):
    made = await create(service, person("ﷺ" * 200))

    assert (await user_lookup.find_by_login_name(service, "ﷺ" * 200)).id == made.id
    assert await outcome(service, person("ﷺ" * 200)) == "user.login_name_taken"


@pytest.mark.parametrize("typed", ["bücher.example", "xn--bcher-kva.EXAMPLE", "BÜCHER.example"])
async def test_a_domain_is_typed_in_letters_or_in_ascii(service, typed):
    made = await create(service, person("max"), "xn--bcher-kva.example")

    assert (await user_lookup.find_by_login_name(service, f"max@{typed}")).id == made.id
    assert await outcome(service, person(f"max@{typed}")) == "user.login_name_taken"


async def test_a_name_with_a_foreign_domain_is_nobodys_there_in_either_spelling(service):
    await create(service, person("max@bücher.example"))
    await create(service, person("eva@xn--bcher-kva.example"))

    for name in ("max", "eva"):
        taken = await outcome(service, person(name), "xn--bcher-kva.example")
        assert taken == "user.login_name_taken"


async def test_a_display_name_that_is_not_given_is_first_and_last_name(service):
    made = await create(service, person("max"))

    assert made.profile.display_name == "Max Muster"


async def test_of_the_longest_names_a_display_name_shows_what_there_is_room_for(service):
    new = person("max")
    names = structs.replace(new.profile, given_name="M" * MAX_TEXT, family_name="L" * MAX_TEXT)
    made = await create(service, structs.replace(new, profile=names))

    assert made.profile.display_name == "M" * MAX_TEXT


TURNS = 10  # of the event loop, in which all names are looked up
# What is there already, and what can't be made beside it.
COLLISIONS = [
    (person("max"), person("MAX")),
    (person("max"), person("ｍａｘ")),
    (person("straße"), person("STRASSE")),
    (person("ﬁnn"), person("Finn")),
    (person("\u212a"), person("k")),
    (person("i̇nci"), person("İnci")),
    (person("max"), person("max@localhost")),
    (person("max@localhost"), person("max")),
    (person("max", "max@example.com"), person("Max@Example.com")),
    (person("max@example.com"), person("other", "Max@Example.com")),
    (person("other", "max@localhost"), person("max")),
    (person("max"), person("other", "max@localhost")),
    (person("max@example.com", "max@example.com"), person("m", "max@example.com")),
]


@pytest.mark.parametrize(("there", "new"), COLLISIONS)
async def test_a_login_name_of_one_is_never_that_of_another(service, there, new):
    await create(service, there)
    before = await everything(service.store)

    assert await outcome(service, new) == "user.login_name_taken"
    assert await everything(service.store) == before


@pytest.mark.parametrize(("there", "new"), COLLISIONS)
async def test_of_two_at_the_same_moment_one_gets_the_login_name(service, there, new):
    home = await organization(service)
    prepared = [
        await user_creation.prepare(service, home, each, actor="a test") for each in (there, new)
    ]

    ends = await asyncio.gather(
        *(service.store.commit(*each.writes) for each in prepared), return_exceptions=True
    )

    (refused,) = [end for end in ends if end is not None]
    assert user_creation.is_name_conflict(refused)


class LateReservations:
    """A store that does something between the look-ups of names and the read of reservations."""

    def __init__(self, store, meanwhile) -> None:
        self._store = store
        self._meanwhile = meanwhile

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def get_many(self, keys):
        if self._meanwhile and any(collection is LOGIN_CLAIMS for collection, _ in keys):
            meanwhile, self._meanwhile = self._meanwhile, None
            for _ in range(TURNS):
                await asyncio.sleep(0)
            await meanwhile()
        return await self._store.get_many(keys)


@pytest.mark.parametrize(("there", "new"), COLLISIONS)
async def test_a_name_that_is_taken_before_its_reservation_is_read_is_refused(service, there, new):
    late = LateReservations(service.store, partial(create, service, there))

    assert await outcome(replace(service, store=late), new) == "user.login_name_taken"


async def test_a_name_at_anothers_domain_is_free_until_somebody_has_it_there(service):
    assert await outcome(service, person("max@acme.example")) == "made"
    assert await outcome(service, person("max"), "acme.example") == "user.login_name_taken"
    assert await outcome(service, person("eva"), "acme.example") == "made"
    assert await outcome(service, person("eva@acme.example")) == "user.login_name_taken"


@pytest.mark.parametrize(
    ("one", "other"),
    [("ı", "i"), ("max", "max."), ("max", "m\u0430x"), ("max", "ma x")],
)
async def test_names_that_differ_are_two(service, one, other):
    assert await outcome(service, person(one)) == "made"
    assert await outcome(service, person(other)) == "made"


@pytest.mark.parametrize(
    ("name", "error_code"),
    [
        ("ma\u200bx", "user.name_invisible"),
        ("max\u202e", "user.name_invisible"),
        ("max\ufe0f", "user.name_invisible"),
        ("max\0", "user.name_invisible"),
        ("m\u00adax", "user.name_invisible"),
        ("\u3164", "user.name_invisible"),
        ("max ", "user.name_spaces"),
        ("\u00a0max", "user.name_spaces"),
        ("m" * 201, "user.name_length"),
        ("", "user.name_length"),
    ],
)
def test_a_name_that_can_not_be_read_out_or_typed_is_refused(name, error_code):
    with pytest.raises(user_names.NameRefused) as refused:
        user_names.check_name(name)

    assert refused.value.error_code == error_code


async def test_a_caller_s_own_id_is_stored_and_an_existing_one_refused(service):
    made = await create(service, person("max", id="auth0|60425dc4"))

    assert made.id == "auth0|60425dc4"
    assert await outcome(service, person("eva", id=made.id)) == "user.id_taken"
    assert await outcome(service, person("eva", id=made.id), "other.example") == "user.id_taken"


async def test_of_many_at_once_with_one_id_one_is_made(service):
    people = [person(f"max{n}", id="same") for n in range(16)]

    ends = await asyncio.gather(*(outcome(service, each) for each in people))

    assert sorted(ends) == ["made"] + ["user.id_taken"] * 15


async def test_of_many_at_once_with_one_name_one_is_made(service):
    ends = await asyncio.gather(*(outcome(service, person("max")) for _ in range(16)))

    assert sorted(ends) == ["made"] + ["user.login_name_taken"] * 15


async def test_the_name_of_who_was_deleted_is_free_at_once(service):
    made = await create(service, person("max@example.com"))
    await service.store.commit(Delete(USERS, made.id))

    assert await outcome(service, person("max@example.com")) == "made"


async def test_what_creations_meet_at_is_gone_a_minute_later(server, service):
    await create(service, person("max@example.com"))

    server.clock.advance(61)

    assert [claim async for claim in service.store.scan(LOGIN_CLAIMS)] == []


async def test_each_entry_of_the_metadata_is_a_record_of_its_own(service):
    made = await create(service, person("max", metadata=[("b", "Yg=="), ("a", "YQ==")]))

    found = await service.store.find(USER_METADATA, {"user_id": made.id}, order="key")

    assert [(entry.key, entry.value) for entry in found.records] == [("a", "YQ=="), ("b", "Yg==")]


SPELLINGS = [
    *("ada@münchen.example", "ada@xn--mnchen-3ya.example", "Ada@XN--MNCHEN-3YA.example"),
    *("ADA@MÜNCHEN.EXAMPLE", "ada@mu\u0308nchen.example", "ada@münchen。example"),
    *("ａｄａ＠münchen.example", " ada@xn--mnchen-3ya.example "),
]


@pytest.mark.parametrize("stored", ["ada@münchen.example", "ada@xn--mnchen-3ya.example"])
async def test_a_person_is_found_by_name_and_address_in_every_spelling_of_the_domain(
    service, stored
):
    by_name = await create(service, person(stored))
    by_address = await create(
        service, person("eva", EmailRule().read(stored.replace("a", "e", 1)))
    )

    for typed in SPELLINGS:
        assert (await user_lookup.find_by_login_name(service, typed)).id == by_name.id
        address = typed.lower().replace("ada", "eda").replace("ａｄａ", "eda")
        assert (await user_lookup.find_by_login_name(service, address)).id == by_address.id
        assert await outcome(service, person(typed.strip())) == "user.login_name_taken"


@pytest.mark.parametrize(
    ("one", "other"),
    [("a@faß.example", "a@fass.example"), ("a@σίσυφος.example", "a@σίσυφοσ.example")],
)
async def test_domains_that_dns_distinguishes_have_users_of_their_own(service, one, other):
    for address in (one, other):
        user_id = (await create(service, person(address, EmailRule().read(address)))).id

        assert (await user_lookup.find_by_login_name(service, address)).id == user_id
        assert await outcome(service, person(address)) == "user.login_name_taken"
    found = await user_lookup.find_by_login_name(service, one)
    assert found.user_name == one


@pytest.mark.parametrize(
    "typed", ["ada@xn--a.example", "ada@xn--", "ada@", "@xn--mnchen-3ya", "xn--"]
)
async def test_what_is_no_internationalised_domain_names_no_user(service, typed):
    await create(service, person("ada", "ada@münchen.example"))

    assert await user_lookup.find_by_login_name(service, typed) is None
