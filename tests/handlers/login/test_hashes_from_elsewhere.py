"""A hash from elsewhere signs in at the pages, once, and is then replaced by one of today."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs

from idp.config.settings import Config
from idp.identity.sessions import password_check
from idp.identity.users import lookup as user_lookup
from idp.limits.origin import AttemptOrigin
from idp.passwords import schemes
from idp.passwords.hashing_threads import HashingBusy
from idp.records import USERS
from storage import Unavailable, Update
from tests.support.management.callers import refused
from tests.support.sign_in.people import create
from tests.support.store.stored import everything
from tests.support.transfer.foreign_hashes import VERIFIED
from tests.support.transfer.refused_hashes import REFUSED, TOO_WEAK

PATH = "/v2/users/human"
ORIGIN = AttemptOrigin("192.0.2.1")


@pytest.fixture
def settings():
    usual = Config()
    names = ["imported_argon2_min_kib", "imported_bcrypt_min_cost"]
    return {name: getattr(usual, name) for name in names}


def cheapest(rows):
    """One of each scheme, of those that anybody may bring."""
    found = {}
    for password, encoded in rows:
        stored = schemes.read(encoded)
        if encoded not in TOO_WEAK and len(password) > 0:
            found.setdefault(stored.scheme, (password, encoded))
    return list(found.values())


ONE_OF_EACH = [row for rows in VERIFIED.values() for row in cheapest(rows)]


@pytest.mark.promise("user creation: hashedPassword")
@pytest.mark.full
@pytest.mark.parametrize(("password", "encoded"), ONE_OF_EACH, ids=[e for _, e in ONE_OF_EACH])
async def test_who_was_brought_with_a_hash_signs_in_and_has_one_of_today_then(
    server, owner, new_visitor, demo, password, encoded
):
    made = await create(owner, username="mini", hashedPassword={"hash": encoded})
    page = await new_visitor().sign_in(demo.authorize_url(), "mini", password + "x")
    assert (page.status, page.name) == (400, "password")
    assert (await stored_hash(server, made)) == encoded

    tokens = await demo.tokens_by_pages(new_visitor(), "mini", password)

    fresh = await stored_hash(server, made)
    assert tokens["token_type"] == "Bearer"
    assert fresh.startswith("$argon2id$v=19$m=64,t=1,p=1$")
    assert (await demo.tokens_by_pages(new_visitor(), "mini", password))["token_type"] == "Bearer"
    assert await stored_hash(server, made) == fresh


async def stored_hash(server, made):
    return (await server.store.get(USERS, made["userId"])).password.hash


@pytest.mark.promise("user creation: hashedPassword")
@pytest.mark.parametrize("encoded", [*REFUSED, *TOO_WEAK])
async def test_what_is_not_taken_is_refused_by_its_field_and_nothing_is_stored(
    server, owner, encoded
):
    before = await everything(server.store)
    human = {
        "profile": {"givenName": "Mini", "familyName": "Mouse"},
        "email": {"email": "mini@mouse.example", "isVerified": True},
        "hashedPassword": {"hash": encoded},
    }
    imported = {
        "userName": "mini",
        "profile": {"firstName": "Mini", "lastName": "Mouse"},
        "email": {"email": "mini@mouse.example", "isEmailVerified": True},
        "hashedPassword": {"value": encoded},
    }

    created = await owner.post(PATH, human)
    taken = await owner.post("/management/v1/users/human/_import", imported)

    error_code = f"password_hash.{'too_weak' if encoded in TOO_WEAK else 'unreadable'}"
    assert refused(created, 400, 3) == {"hashedPassword.hash": error_code}
    assert refused(taken, 400, 3) == {"hashedPassword.value": error_code}
    assert TOO_WEAK.get(encoded, "") in created.text
    assert await everything(server.store) == before


# The new hash is a matter of its own


MD5 = "3cb4e732631f47e6eb961f34554b7cde"
PASSWORD = "correct horse"  # noqa: S105 - the one that was hashed


@pytest.fixture
def mini(io_loop, owner):
    return io_loop.run_sync(lambda: create(owner, username="mini", hashedPassword={"hash": MD5}))


async def signs_in(server):
    return (await password_check.check_password(server.service, "mini", PASSWORD, ORIGIN)).subject


async def test_a_password_that_is_changed_meanwhile_stays(server, mini, monkeypatch):
    """The change comes between the look at the old hash and the writing of the new one."""
    genuine, changed = server.service.hasher.hash, await server.service.hasher.hash("another one")

    async def hash_late(password):
        fresh = await genuine(password)
        await server.store.commit(Update(USERS, mini["userId"], set={"password.hash": changed}))
        return fresh

    monkeypatch.setattr(server.service.hasher, "hash", hash_late)

    assert (await signs_in(server)).user.id == mini["userId"]
    assert await stored_hash(server, mini) == changed


async def test_of_many_first_sign_ins_at_once_all_succeed(server, mini):
    subjects = await asyncio.gather(*(signs_in(server) for _ in range(5)))

    assert {each.user.id for each in subjects} == {mini["userId"]}
    assert (await stored_hash(server, mini)).startswith("$argon2id$")


@pytest.mark.parametrize("failure", [HashingBusy(2), Unavailable("the database is gone")])
async def test_a_hash_that_can_not_be_renewed_now_fails_no_sign_in(
    server, mini, monkeypatch, failure
):
    async def fail(*_, **__):
        raise failure

    if isinstance(failure, HashingBusy):
        monkeypatch.setattr(server.service.hasher, "hash", fail)
    else:
        monkeypatch.setattr(password_check, "Update", lambda *_, **__: None)
        genuine = server.store.commit

        async def commit(*writes):
            if None in writes:
                raise failure
            return await genuine(*writes)

        monkeypatch.setattr(server.store, "commit", commit)

    assert (await signs_in(server)).user.id == mini["userId"]
    assert await stored_hash(server, mini) == MD5


async def test_what_is_stored_goes_on_verifying_whatever_may_be_brought_today(server, mini):
    weak = "$pbkdf2$1$c2FsdA$DGDID5YfDnHzqbUkr2ASBi/gN6Y"
    await server.store.commit(Update(USERS, mini["userId"], set={"password.hash": weak}))

    user = await user_lookup.find_by_login_name(server.service, "mini")

    assert structs.asdict(user.password)["hash"] == weak
    checked = await password_check.check_password(server.service, "mini", "password", ORIGIN)
    assert checked.subject.user.id == mini["userId"]
