"""Nobody takes a login name away from somebody above them by giving their address to another."""

from __future__ import annotations

import pytest

from idp.identity.users import lookup as user_lookup
from idp.identity.users import memberships
from tests.support.management.api_samples import filled
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.sign_in.people import create
from tests.support.store.both_stores import settings
from tests.support.store.stored import everything

__all__ = ["settings"]

pytestmark = pytest.mark.load("mongodb")  # roles are checked above the store

ADA = "ada@corp.example"
PERSON = {"profile": {"givenName": "B", "familyName": "C"}, "organization": {"orgId": "{own}"}}
OLD = {"userName": "c", "profile": {"firstName": "B", "lastName": "C"}}
# Ways to say that an address is somebody's, without its mailbox.
WAYS = {
    "set": ("/v2/users/{bob}/email", {"email": ADA, "isVerified": True}),
    "set, by a code": ("/v2/users/{bob}/email", {"email": ADA, "returnCode": {}}),
    "by another code": ("/v2/users/{waiting}/email/resend", {"returnCode": {}}),
    "new": ("/v2/users/human", {**PERSON, "email": {"email": ADA, "isVerified": True}}),
    "new, by a code": ("/v2/users/human", {**PERSON, "email": {"email": ADA, "returnCode": {}}}),
    "imported": (
        "/management/v1/users/human/_import",
        {**OLD, "email": {"email": ADA, "isEmailVerified": True}},
    ),
}
CALLERS = ["ORG_USER_MANAGER", "ORG_OWNER", "IAM_USER_MANAGER", "IAM_ORG_MANAGER"]


@pytest.fixture
def named(io_loop, server, own, owner):
    """An administrator, and two people; one of these has the same address, not verified."""

    async def make():
        here = {"orgId": own.id}
        proven, waits = {"email": ADA, "isVerified": True}, {"email": ADA, "sendCode": {}}
        ada = await create(owner, username="ada", organization=here, email=proven)
        await memberships.grant(server.service, ada["userId"], None, "IAM_OWNER", actor="a test")
        bob = await create(owner, username="bob", organization=here)
        waiting = await create(owner, username="carl", organization=here, email=waits)
        return {
            "own": own.id,
            "ada": ada["userId"],
            "bob": bob["userId"],
            "waiting": waiting["userId"],
        }

    return io_loop.run_sync(make)


async def signs_in(server, own):
    return (await user_lookup.find_by_login_name(server.service, ADA, own.id)).id


@pytest.mark.promise("lower roles: addresses")
@pytest.mark.parametrize("role", CALLERS)
async def test_the_address_of_an_administrator_stays_theirs_alone(
    server, visitor, own, named, role
):
    caller = await new_caller(server, visitor, own, role, everywhere=role.startswith("IAM"))
    before = await everything(server.store)

    for name, (path, body) in WAYS.items():
        if name == "imported" and role.endswith("USER_MANAGER"):
            continue  # it takes a permission that they do not have
        page = await caller.post(path.format(**named), filled(body, **named))
        assert refused(page, 403, 7) == {"": "email.protected"}, name
    assert await everything(server.store) == before
    assert await signs_in(server, own) == named["ada"]


async def test_a_code_in_the_mailbox_is_no_word_of_the_callers(server, visitor, own, named):
    caller = await new_caller(server, visitor, own, "ORG_USER_MANAGER")

    page = await caller.post(f"/v2/users/{named['bob']}/email", {"email": ADA, "sendCode": {}})

    assert page.status == 200, page.text
    assert await signs_in(server, own) == named["ada"]


async def test_what_another_organization_says_of_the_address_takes_nothing_away(
    server, visitor, own, named
):
    other = await new_organization(server, "other.example")
    caller = await new_caller(server, visitor, other, "ORG_OWNER")
    body = {**OLD, "email": {"email": ADA, "isEmailVerified": True}}

    await caller.post("/management/v1/users/human/_import", body)

    assert await signs_in(server, own) == named["ada"]


async def test_those_who_may_do_no_more_share_an_address(server, visitor, own, owner, named):
    caller = await new_caller(server, visitor, own, "ORG_USER_MANAGER")
    body = {"email": "family@corp.example", "isVerified": True}

    pages = [
        await caller.post(f"/v2/users/{named[each]}/email", body) for each in ("bob", "waiting")
    ]

    assert [page.status for page in pages] == [200, 200]


async def test_an_owner_of_the_installation_may_say_so(owner, named):
    page = await owner.post(f"/v2/users/{named['bob']}/email", {"email": ADA, "isVerified": True})

    assert page.status == 200, page.text
