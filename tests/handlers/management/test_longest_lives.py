"""How long new tokens and keys last: `pat_max_days`, `key_max_days`, in both profiles."""

from __future__ import annotations

import base64
import json
import re
from datetime import datetime, timedelta

import pytest

from idp.records import APP_KEYS, PATS, USER_KEYS
from tests.support.management import console
from tests.support.management.api_samples import MACHINES, PROJECTS
from tests.support.management.callers import refused
from tests.support.store.stored import everything
from tests.support.transfer.bringing_people import API as API_APP
from tests.support.transfer.bringing_people import MACHINE, PROJECT, app_key, bring, machine_key

ENDLESS = "9999-12-31T23:59:59Z"
BY_KEY = "API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT"
KINDS = ("pat", "user key", "application key")
TRIAL, PUBLIC = {"profile": "trial"}, {"profile": "public"}
SHORT = {"profile": "trial", "pat_max_days": 3, "key_max_days": 3}
FREE = {"profile": "public", "pat_max_days": 0, "key_max_days": 0}
BOUNDED = [(PUBLIC, 365), (SHORT, 3)]


@pytest.fixture
def settings(request):
    return getattr(request, "param", PUBLIC)


@pytest.fixture(params=KINDS)
def place(io_loop, request, owner) -> tuple[str, str]:
    """What is created, and the address at which it is."""

    async def made() -> str:
        if request.param == "application key":
            project = (await owner.post(PROJECTS, {"name": "P"})).json()["id"]
            body = {"name": "A", "authMethodType": BY_KEY}
            app = (await owner.post(f"{PROJECTS}/{project}/apps/api", body)).json()["appId"]
            return f"{PROJECTS}/{project}/apps/{app}/keys"
        user = (await owner.post(MACHINES, {"userName": "nightly", "name": "N"})).json()["userId"]
        return f"/management/v1/users/{user}/{'pats' if request.param == 'pat' else 'keys'}"

    return request.param, io_loop.run_sync(made)


async def expiry(owner, address, made) -> datetime:
    """When what was created ends, as the service lists it."""
    body = made.json()
    page = await owner.get(f"{address}/{body.get('tokenId') or body['keyId']}")
    (shown,) = (page.json()[name] for name in ("token", "key") if name in page.json())
    return datetime.fromisoformat(shown["expirationDate"])


@pytest.mark.promise("credentials: longest lives")
@pytest.mark.parametrize(("settings", "days"), BOUNDED, indirect=["settings"])
async def test_without_a_date_it_ends_at_the_maximum(server, owner, place, days):
    _, address = place
    made = await owner.post(address, {})

    assert await expiry(owner, address, made) == server.clock.now() + timedelta(days=days)
    if "keyDetails" in made.json():
        file = json.loads(base64.b64decode(made.json()["keyDetails"]))
        ends_at = datetime.fromisoformat(file["expirationDate"])
        assert ends_at == server.clock.now() + timedelta(days=days)


@pytest.mark.promise("credentials: longest lives")
@pytest.mark.parametrize(("settings", "days"), BOUNDED, indirect=["settings"])
async def test_a_date_after_the_maximum_is_refused_and_nothing_is_stored(
    server, owner, place, days
):
    _, address = place
    latest = server.clock.now() + timedelta(days=days)
    before = await everything(server.store)

    for late in ((latest + timedelta(milliseconds=1)).isoformat(), ENDLESS):
        page = await owner.post(address, {"expirationDate": late})
        assert refused(page, 400, 3) == {"expirationDate": "expiration.too_late"}
        assert f"{days} days" in page.text
    assert await everything(server.store) == before
    made = await owner.post(address, {"expirationDate": latest.isoformat()})
    assert await expiry(owner, address, made) == latest


@pytest.mark.promise("credentials: longest lives")
@pytest.mark.parametrize("settings", [TRIAL, FREE], indirect=True)
async def test_without_a_maximum_the_year_9999_can_be_had(server, owner, place):
    kind, address = place
    usual = await expiry(owner, address, await owner.post(address, {}))
    endless = await owner.post(address, {"expirationDate": ENDLESS})

    assert await expiry(owner, address, endless) == datetime.fromisoformat(ENDLESS)
    if kind == "pat":
        assert usual == server.clock.now() + timedelta(days=90)
    else:
        assert usual == datetime.fromisoformat(ENDLESS)


# The console


@pytest.fixture
def page(io_loop, server, visitor):
    """The page of a service user that the administrator has made."""

    async def make():
        await console.admin(server, visitor)
        form = await visitor.get("/ui/console/service-users/new")
        made = await visitor.submit(form, name="Backup", userName="nightly-backup")
        return made.url.removeprefix(server.issuer).partition("?")[0]

    return io_loop.run_sync(make)


async def ends(server, collection, page) -> list[datetime]:
    """When the user's tokens or keys end."""
    found = (await everything(server.store))[collection.name].values()
    field = "user_id" if collection is PATS else "owner_id"
    return [one.expires_at for one in found if getattr(one, field) == page.rpartition("/")[2]]


@pytest.mark.parametrize("settings", [SHORT], indirect=True)
async def test_the_form_of_a_token_proposes_no_longer_life_than_the_maximum(visitor, page):
    form = await visitor.get(f"{page}/pats/new")
    made = await visitor.submit(form, expirationDate=form.inputs["expirationDate"])

    assert (made.status, made.name) == (200, "console/made")


@pytest.mark.promise("credentials: longest lives")
@pytest.mark.parametrize("kind", ["pats", "keys"])
async def test_the_form_takes_the_last_day_that_is_allowed_and_no_later_one(
    server, visitor, page, kind
):
    latest = server.clock.now() + timedelta(days=365)
    more = {"isLong": "on"} if kind == "pats" else {}
    form = await visitor.get(f"{page}/{kind}/new")
    before = await everything(server.store)
    late = await visitor.submit(
        form, expirationDate=f"{latest + timedelta(days=1):%Y-%m-%d}", **more
    )

    assert (late.status, late.name) == (400, "console/action")
    assert "allow one this late" in re.sub(r"\s+", " ", late.text)
    assert await everything(server.store) == before
    made = await visitor.submit(late, expirationDate=f"{latest:%Y-%m-%d}", **more)
    assert made.name == "console/made"
    assert await ends(server, PATS if kind == "pats" else USER_KEYS, page) == [latest]


# Imports


POSSESSIONS = {"projects": [PROJECT], "apiApps": [API_APP], "machineUsers": [MACHINE]}
ROWS = {"appKeys": (app_key, APP_KEYS), "machineKeys": (machine_key, USER_KEYS)}


@pytest.mark.promise("credentials: longest lives")
@pytest.mark.parametrize("list", ROWS)
async def test_an_imported_key_that_would_outlast_the_maximum_is_refused(server, list):
    row, collection = ROWS[list]
    await bring(server, **POSSESSIONS)
    (refusal,) = await bring(server, job="late", **{list: [row(expirationDate=ENDLESS)]})
    (problem,) = refusal.problems

    assert (refusal.action, problem.error_code) == ("fail", "expiration.too_late")
    assert problem.field == "expirationDate"
    assert not (await everything(server.store))[collection.name]
    (made,) = await bring(server, job="undated", **{list: [row()]})
    (stored,) = (await everything(server.store))[collection.name].values()
    assert made.action == "create"
    assert stored.expires_at == server.clock.now() + timedelta(days=365)


@pytest.mark.parametrize("settings", [TRIAL], indirect=True)
@pytest.mark.parametrize("list", ROWS)
async def test_an_imported_key_may_last_where_there_is_no_maximum(server, list):
    row, collection = ROWS[list]
    await bring(server, **POSSESSIONS)
    await bring(server, job="late", **{list: [row(expirationDate=ENDLESS)]})

    (stored,) = (await everything(server.store))[collection.name].values()
    assert stored.expires_at == datetime.fromisoformat(ENDLESS)


@pytest.mark.promise("credentials: longest lives")
@pytest.mark.parametrize("list", ROWS)
async def test_a_key_that_is_stored_keeps_its_end_and_its_row_is_left_alone(server, list):
    row, collection = ROWS[list]
    await bring(server, **POSSESSIONS)
    near = (server.clock.now() + timedelta(days=300)).isoformat()
    await bring(server, job="first", **{list: [row(expirationDate=near)]})
    before = await everything(server.store)
    (again,) = await bring(server, job="again", **{list: [row(expirationDate=ENDLESS)]})

    assert again.action == "skip"
    assert await everything(server.store) == before
