"""Two secrets that overlap while one replaces the other, of applications and of service users."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from idp.records import LAST_USES
from tests.support.management.api_samples import MACHINES
from tests.support.management.callers import refused
from tests.support.management.managing import Shop, shop
from tests.support.protocol.answers import assert_granted
from tests.support.protocol.relying_party import RelyingParty
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

__all__ = ["shop"]
HOUR = timedelta(hours=1)


class Holder:
    """Somebody with a secret: where it is managed, and how it proves itself."""

    def __init__(self, shop: Shop, path: str, secret: tuple[str, str], form: dict, made: dict):
        self.shop, self.path, self.secret, self.form = shop, path, secret, form
        self.client_id, self.first = made["clientId"], made["clientSecret"]

    async def rotate(self, **body) -> str:
        method, path = self.secret
        page = await self.shop.owner.request(method, path, body)
        assert page.status == 200, page.text
        return page.json()["clientSecret"]

    async def listed(self) -> list[dict]:
        return (await self.shop.owner.get(f"{self.path}/secrets")).json().get("result", [])

    async def end(self, id: str):
        return await self.shop.owner.request("DELETE", f"{self.path}/secrets/{id}", None)

    async def opens(self, secret: str) -> bool:
        party = RelyingParty(self.shop.server.issuer, self.client_id, secret, "")
        page = await party.token(self.shop.owner.visitor, self.form)
        await self.shop.server.service.background_tasks.finished()
        assert page.status in (200, 400, 401), page.text
        return page.status != 401


async def of_application(shop) -> Holder:
    generate = ("POST", f"{shop.app}/oidc_config/_generate_client_secret")
    form = {"grant_type": "refresh_token", "refresh_token": "none"}
    return Holder(shop, shop.app, generate, form, shop.made)


async def of_service_user(shop) -> Holder:
    made = (await shop.owner.post(MACHINES, {"userName": "nightly", "name": "N"})).json()
    path = f"/management/v1/users/{made['userId']}"
    secret = (await shop.owner.request("PUT", f"{path}/secret", {})).json()
    form = {"grant_type": "client_credentials", "scope": "openid"}
    return Holder(shop, path, ("PUT", f"{path}/secret"), form, secret)


@pytest.fixture(params=[of_application, of_service_user], ids=["application", "service user"])
def holder(request, io_loop, shop) -> Holder:
    return io_loop.run_sync(lambda: request.param(shop))


@pytest.mark.promise("client: client_secret")
async def test_both_secrets_count_until_the_overlap_is_over(server, holder):
    new = await holder.rotate(overlap="1h")
    assert [await holder.opens(holder.first), await holder.opens(new)] == [True, True]

    server.clock.advance(HOUR - timedelta(seconds=1))
    assert await holder.opens(holder.first)
    server.clock.advance(timedelta(seconds=1))

    assert [await holder.opens(holder.first), await holder.opens(new)] == [False, True]
    assert len(await holder.listed()) == 1
    await events_agree(server.store)


async def test_without_an_overlap_the_old_secret_ends_at_once(holder):
    new = await holder.rotate()

    assert [await holder.opens(holder.first), await holder.opens(new)] == [False, True]


async def test_a_third_secret_ends_the_first_one(holder):
    second = await holder.rotate(overlap="168h")
    third = await holder.rotate(overlap="168h")

    counts = [await holder.opens(each) for each in (holder.first, second, third)]
    assert counts == [False, True, True]


async def test_secrets_are_listed_without_what_opens_anything(server, holder):
    made_at = server.clock.now()
    server.clock.advance(HOUR)
    new = await holder.rotate(overlap="2h")
    page = await holder.shop.owner.get(f"{holder.path}/secrets")

    current, old = page.json()["result"]
    assert page.json()["details"] == {"totalResult": "2"}
    assert set(current) == {"id", "creationDate"}
    assert set(old) == {"id", "creationDate", "expirationDate"}
    assert old["creationDate"][:19] == made_at.isoformat()[:19]
    assert old["expirationDate"][:19] == (server.clock.now() + 2 * HOUR).isoformat()[:19]
    stored = str(await everything(server.store))
    for secret in (holder.first, new):
        assert secret not in page.text + stored


async def test_the_old_secret_is_ended_before_its_time_and_the_current_one_is_not(server, holder):
    new = await holder.rotate(overlap="24h")
    current, old = await holder.listed()
    before = await everything(server.store)
    kept = await holder.end(current["id"])
    missing = await holder.end("nobody")
    assert refused(kept, 400, 9) == {"": "secret.current"}
    assert refused(missing, 404, 5) == {"": "secret.not_found"}
    assert await everything(server.store) == before

    assert (await holder.end(old["id"])).status == 200

    assert [await holder.opens(holder.first), await holder.opens(new)] == [False, True]
    assert [one["id"] for one in await holder.listed()] == [current["id"]]
    await events_agree(server.store)


@pytest.mark.parametrize("overlap", ["168h0m1s", "1 day", "-1h"])
async def test_an_overlap_has_its_limits(server, holder, overlap):
    method, path = holder.secret
    before = await everything(server.store)
    page = await holder.shop.owner.request(method, path, {"overlap": overlap})

    error_code = "field.out_of_range" if overlap.startswith("168h") else "field.duration"
    assert refused(page, 400, 3) == {"overlap": error_code}
    assert await everything(server.store) == before


async def test_of_two_rotations_at_once_both_new_secrets_count(server, holder):
    secrets = await asyncio.gather(*[holder.rotate(overlap="1h") for _ in range(2)])

    assert [await holder.opens(each) for each in secrets] == [True, True]
    assert not await holder.opens(holder.first)
    await events_agree(server.store)


async def last_used(holder) -> list[str | None]:
    return [(one.get("lastUsedAt") or "")[:19] or None for one in await holder.listed()]


async def test_each_secret_shows_when_it_was_last_used_to_the_hour(server, holder):
    new = await holder.rotate(overlap="168h")
    assert await last_used(holder) == [None, None]
    first = server.clock.now().isoformat()[:19]
    await holder.opens(holder.first)
    assert await last_used(holder) == [None, first]

    server.clock.advance(HOUR - timedelta(seconds=1))
    await holder.opens(new)
    await holder.opens(holder.first)
    second = server.clock.now().isoformat()[:19]
    assert await last_used(holder) == [second, first]
    server.clock.advance(timedelta(seconds=1))
    await holder.opens(holder.first)

    third = server.clock.now().isoformat()[:19]
    assert await last_used(holder) == [second, third]


async def test_a_process_that_has_not_noted_it_writes_no_second_time_within_the_hour(
    server, holder
):
    await holder.opens(holder.first)
    before = await uses(server)
    server.service.last_uses.clear()  # as in another process
    server.clock.advance(HOUR / 2)
    await holder.opens(holder.first)

    assert await uses(server) == before


async def test_what_failed_is_no_use(server, holder):
    before = await uses(server)
    await holder.opens("wrong")

    assert await uses(server) == before


async def uses(server) -> dict:
    return {one.id: one.at async for one in server.store.scan(LAST_USES)}


async def test_uses_are_forgotten_with_their_secret(server, holder):
    known = set(await uses(server))
    await holder.opens(holder.first)
    (id,) = set(await uses(server)) - known
    await holder.rotate(overlap="1h")
    assert id in await uses(server)

    await holder.rotate()

    assert id not in await uses(server)


async def test_a_token_is_issued_by_either_secret(server, shop):
    holder = await of_service_user(shop)
    new = await holder.rotate(overlap="1h")
    for secret in (holder.first, new):
        party = RelyingParty(server.issuer, holder.client_id, secret, "")
        assert_granted(await party.token(shop.owner.visitor, holder.form))
