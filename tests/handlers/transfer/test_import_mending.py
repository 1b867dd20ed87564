"""POST /admin/v1/import with `fix`: slips are mended, each is told, and nothing else changes."""

from __future__ import annotations

import pytest

from idp.records import USERS
from tests.support.transfer.bulk import imported, orgs, package

ID = " u|1"
SLIPS = {
    "userName": " ada ",
    "profile": {"firstName": "Ada ", "lastName": " Lovelace", "preferredLanguage": "DE_ch-1996-x"},
    "email": {"email": " ada@example.com ", "isEmailVerified": True},
    "state": "user_state_inactive",
}
FIELDS = {
    "user.userName",
    "user.profile.firstName",
    "user.profile.lastName",
    "user.profile.preferredLanguage",
    "user.email.email",
    "user.state",
}


def slips(**wishes):
    return package({**orgs(1)[0], "humanUsers": [{"userId": ID, "user": SLIPS}]}, **wishes)


@pytest.mark.promise("import: fix")
async def test_slips_are_corrected_and_each_is_reported(server, owner):
    found = await imported(owner, slips(fix=True))
    user = await server.store.get(USERS, ID)

    assert {one["field"] for one in found["warnings"]} == FIELDS
    assert {one["slug"] for one in found["warnings"]} == {"import.mended"}
    assert (user.user_name, user.state) == ("ada", "inactive")
    assert (user.profile.given_name, user.profile.family_name) == ("Ada", "Lovelace")
    assert user.profile.preferred_language == "de-CH-1996"
    assert user.email.address == "ada@example.com"


@pytest.mark.promise("import: fix")
async def test_a_dry_run_reports_the_same_and_stores_nothing(server, owner):
    foretold = await imported(owner, slips(fix=True, dryRun=True))
    assert await server.store.get(USERS, ID) is None
    found = await imported(owner, slips(fix=True))
    assert foretold["warnings"] == found["warnings"]


@pytest.mark.promise("import: fix")
async def test_unasked_nothing_is_mended(server, owner):
    found = await imported(owner, slips())
    assert found["failed"] == 1
    assert await server.store.get(USERS, ID) is None


@pytest.mark.parametrize("user", [None, [], {"userName": [" a "]}, {"profile": " "}, " a "])
async def test_what_is_no_slip_is_refused_as_ever(server, owner, user):
    row = {"userId": "u|2", "user": user}
    found = await imported(owner, package({**orgs(1)[0], "humanUsers": [row]}, fix=True))
    assert found["failed"] == 1
