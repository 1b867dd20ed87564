"""The console's first page: figures over time, the newest events, and what is to be done first."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from handlers.console import overview
from idp.management.instance.onboarding import Checklist
from idp.usage import counts, flushing
from tests.handlers.console.test_console_entry import sent_bytes
from tests.support.management import console
from tests.support.management.callers import new_organization
from tests.support.sign_in.steps import text_of

OVERVIEW = "/ui/console"
MOST_BYTES = 40_000


async def happened(server, kind, number, org_id=None, **ago):
    at = server.clock.now() - timedelta(**ago)
    for _ in range(number):
        counts.count(server.service, kind, org_id, at)
    await flushing.flush_all(server.service)


async def at_overview(server, visitor, query=""):
    """The first page for the administrator, without what their own sign-in counts."""
    await console.admin(server, visitor)
    server.service.usage.clear()
    server.service.active_users.clear()
    return await visitor.open(OVERVIEW + query)


def stats(page):
    found = re.findall(r"<dd><bdi>(.*?)</bdi></dd>\n(?:<dd class=\"hint\">(.*?)</dd>)?", page.text)
    return [(number, re.sub("<.*?>", "", detail)) for number, detail in found]


async def test_four_numbers_say_what_happened_today_and_how_that_differs_from_yesterday(
    server, visitor
):
    await happened(server, "sign_in", 5)
    await happened(server, "sign_in", 2, days=1)
    await happened(server, "sign_in", 100, days=1, hours=-1)  # later in the day than now
    await happened(server, "sign_in_failed", 3, days=1)
    await happened(server, "active_month", 7, days=5)
    await happened(server, "active_month", 50, days=20)  # last month
    await happened(server, "active_day", 4)
    page = await at_overview(server, visitor)

    assert stats(page) == [
        ("2", ""),
        ("7", "4 today"),
        ("5", "+3 compared with yesterday at this time"),
        ("0", "-3 compared with yesterday at this time"),
    ]


async def test_two_plots_have_the_figures_of_the_last_30_days(server, visitor):
    await happened(server, "sign_in", 2, days=29)
    await happened(server, "sign_in", 3, days=30)
    await happened(server, "registration", 1)
    page = await at_overview(server, visitor)
    spoken = re.findall(r'<svg role="img" aria-label="(.*?)"', page.text)

    assert spoken == [
        "From Apr 17 to May 16. Sign-ins: 2. Failed attempts: 0.",
        "From Apr 17 to May 16. Active users: 0. Registrations: 1.",
    ]
    table = await visitor.open(f"{OVERVIEW}?view=table")
    assert table.text.count("<tr><th>") == 30


@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [("24h", "24 hours", 24), ("7d", "7 days", 7), ("90d", "90 days", 90), ("2y", "30 days", 30)],
)
async def test_the_period_is_chosen_by_a_link(server, visitor, name, text, rows):
    page = await at_overview(server, visitor, f"?range={name}&view=table")
    links = re.findall(
        r'<a href="/ui/console\?range=(\w+)&amp;view=table"( aria-current="true")?>(.*?)<',
        page.text,
    )

    assert [each for each, *_ in links] == ["24h", "7d", "30d", "90d"]
    assert [label for _, is_current, label in links if is_current] == [text]
    assert page.text.count("<tr><th>") == rows


async def test_where_nothing_happened_a_sentence_says_so(server, visitor):
    page = await at_overview(server, visitor)

    assert "No sign-ins in this period yet." in page.text
    assert "No active users in this period yet." in page.text
    assert 'role="img"' not in page.text


async def test_a_manager_of_one_organization_sees_its_figures_and_no_others(server, visitor):
    acme = await new_organization(server, "acme.example")
    await happened(server, "sign_in", 2, acme.id)
    await happened(server, "sign_in", 4, "elsewhere")
    page = await console.manager(server, visitor, "ORG_OWNER", org_id=acme.id)

    assert stats(page)[2] == ("2", "+2 compared with yesterday at this time")
    assert "acme.example" in text_of(page)
    assert "Get started" not in page.text


async def test_an_administrator_sees_the_figures_of_the_organization_that_the_address_names(
    server, visitor
):
    acme = await new_organization(server, "acme.example")
    await happened(server, "sign_in", 2, acme.id)
    await happened(server, "sign_in", 4, "elsewhere")
    everywhere = await at_overview(server, visitor)
    there = await visitor.open(f"{OVERVIEW}?org={acme.id}&range=7d")

    assert (stats(everywhere)[2][0], stats(there)[2][0]) == ("6", "2")
    assert "The whole installation." in everywhere.text
    assert (
        f"range=24h&amp;org={acme.id}" in there.text
        or f"org={acme.id}&amp;range=24h" in there.text
    )


async def test_who_may_read_no_organization_gets_links_and_no_figures(server, visitor):
    page = await console.manager(server, visitor, "ORG_PROJECT_CREATOR")

    assert 'class="stats"' not in page.text
    assert "/ui/console/projects" in page.text


async def test_the_newest_eight_events_say_who_did_what_and_when(server, visitor):
    server.clock.advance(60)
    page = await at_overview(server, visitor)
    log = page.text.partition('<ol class="log">')[2].partition("</section>")[0]

    assert log.count("<li>") == 8
    assert "Administrator signed in." in re.sub("<.*?>", "", log)
    assert "1 minute ago" in log
    assert "<pre" not in log


@pytest.mark.parametrize("is_done", [True, False])
async def test_the_checklist_is_open_until_all_is_done(server, visitor, monkeypatch, is_done):
    async def read(service):
        return Checklist(*[True] * 5, mail=is_done)

    monkeypatch.setattr(overview.instance_onboarding, "read_checklist", read)
    page = await at_overview(server, visitor)
    before, found, checklist = page.text.partition('<details class="card"')

    assert found
    assert checklist.startswith(" open>") is not is_done
    assert ('class="stats"' in before) is is_done


@pytest.mark.parametrize("tag", ["en", "ar"])
@pytest.mark.parametrize("view", ["plots", "table"])
async def test_the_page_is_light_with_all_figures_of_90_days(server, visitor, tag, view):
    for kind in ("sign_in", "sign_in_failed", "active_day", "registration"):
        for days in range(90):
            counts.count(server.service, kind, None, server.clock.now() - timedelta(days=days))
    server.service.usage.update({key: 123 + 7 * n for n, key in enumerate(server.service.usage)})
    await flushing.flush_all(server.service)
    page = await at_overview(server, visitor, f"?range=90d&lang={tag}&view={view}")
    needed = re.findall(r'(?:href|src)="(/ui/static/[^"]+\.(?:css|js))"', page.text)
    sent = [await sent_bytes(visitor, each) for each in set(needed)]

    assert page.text.count("<tr><th>") == (90 if view == "table" else 0)
    assert len(page.text.encode()) + sum(sent) < MOST_BYTES
