"""GET /admin/v1/doctor: whether what is registered and configured is safe, on both stores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from handlers.console import safety
from idp import doctor
from idp.doctor.check import Installation
from idp.foundation import i18n
from idp.records import USED_VALUES, UsedValue
from storage import Insert
from tests.support.management import console
from tests.support.store.both_stores import settings  # noqa: F401  a fixture

DOCTOR = "/admin/v1/doctor"
SAFETY = "/ui/console/settings/safety"


@pytest.mark.promise("doctor: exit codes")
async def test_the_checks_of_what_is_stored_are_answered(server, owner):
    await server.register("Shop")

    page = await owner.get(DOCTOR)

    found = {each["id"]: each for each in page.json()["result"]}
    areas = [doctor.AREAS[area] for area in doctor.STORED_AREAS]
    assert page.status == 200
    assert list(found) == [each.id for checks in areas for each in checks]
    pkce = found["applications.pkce"]
    assert (pkce["state"], pkce["names"], pkce["count"]) == ("warn", ["Shop"], "1")
    assert "--require-pkce" in pkce["commands"][0]
    assert {each["state"] for each in found.values()} == {"ok", "warn"}


async def test_records_that_the_sweep_has_missed_are_counted_an_hour_after_they_were_due(server):
    ends_at = server.clock.now() + timedelta(minutes=1)
    await server.store.commit(Insert(USED_VALUES, UsedValue(id="one", expires_at=ends_at)))
    assert await server.store.count_overdue(up_to=10) == 0

    server.clock.advance(2 * 3600)
    assert await server.store.count_overdue(up_to=10) == 0
    server.clock.advance(120)

    assert await server.store.count_overdue(up_to=10) == 1


async def test_a_mongodb_server_reports_its_time_and_a_file_has_none(server):
    found = await server.store.server_time()

    if server.service.config.store.startswith("sqlite"):
        assert found is None
    else:
        assert abs(found - datetime.now(UTC)) < timedelta(seconds=5)


async def test_a_clock_that_is_apart_from_that_of_the_server_fails(server):
    class Wrong:
        def now(self):
            return datetime.now(UTC) + timedelta(seconds=30)

    service = server.service
    installation = Installation(service.config, service.clock, service.store, wall_clock=Wrong())

    found = {each.check.id: each.finding for each in await doctor.examine(installation, ["store"])}

    is_file = service.config.store.startswith("sqlite")
    assert found["store.clock"].state == ("skipped" if is_file else "fail")


async def test_the_checks_of_both_stores_find_what_is_there(server):
    service = server.service
    installation = Installation(service.config, service.clock, service.store, max_records=None)

    results = await doctor.examine(installation, ["store"])

    found = {each.check.id: each.finding.state for each in results}
    is_file = service.config.store.startswith("sqlite")
    of_file, of_server = ("ok", "skipped") if is_file else ("skipped", "ok")
    assert {id: found[id] for id in found if id.startswith("sqlite.")} == {
        "sqlite.integrity": of_file,
        "sqlite.free": of_file,
        "sqlite.wal": of_file,
    }
    assert found["store.indexes"] == found["store.unsettled"] == "ok"
    for id in ("mongo.version", "mongo.lifetime", "mongo.history", "mongo.sharded"):
        assert found[id] == of_server
    assert found["mongo.transactions"] == of_server
    assert found["mongo.members"] == ("skipped" if is_file else "warn")  # it is one alone


async def test_the_console_shows_what_to_look_at_first(server, visitor):
    await console.admin(server, visitor)
    shop_client = await server.register("Shop & Sons")

    page = await visitor.get(SAFETY)

    assert f"/applications/{shop_client.client_id}" in page.text
    assert 'href="/ui/console/policies/installation/login"' in page.text
    first_ok, shop = page.text.index(">OK<"), page.text.index("Shop &amp; Sons")
    assert shop < first_ok
    assert "Require PKCE for each application whose library supports it." in page.text
    assert "idp doctor" in page.text


async def test_the_console_shows_it_to_who_sees_the_whole_installation_alone(server, visitor):
    await console.manager(server, visitor, "ORG_OWNER")

    assert (await visitor.get(SAFETY)).status == 403
    assert SAFETY not in (await visitor.get("/ui/console")).text


@pytest.mark.parametrize("tag", sorted(i18n.available()))
def test_every_text_of_the_safety_page_is_translated(tag):
    bundle = i18n.load(tag)
    areas = [doctor.AREAS[area] for area in doctor.STORED_AREAS]
    checks = [*(one for checks in areas for one in checks), *also_shown()]
    texts = [text for check in checks for text in (check.about, check.fix)]

    assert [t.msgid for t in texts if not bundle.is_translated(t.msgid, t.context)] == []


def also_shown():
    every = {one.id: one for checks in doctor.AREAS.values() for one in checks}
    return [every[id] for id in safety.FURTHER_CHECK_IDS]
