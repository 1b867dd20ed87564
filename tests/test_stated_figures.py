"""Figures that documents state and the program has: a page that states another one is found."""

from __future__ import annotations

import re

import pytest

from handlers.http import base
from idp.audit import anchors, sealing
from idp.config.profiles import PUBLIC, TRIAL
from idp.doctor import examination
from idp.foundation.tracing import exporting
from idp.identity.guesses import mail_limits
from idp.keys import key_ring
from idp.limits import admission
from idp.mail import delivery
from idp.oauth import request_limits
from idp.oauth.endpoints import sealed_requests
from idp.server import certificate, connections, heartbeats, http_server
from storage import upgrades
from storage.sqlite import free_space
from tests.support.repository import read as read_page
from tests.test_house import MANUAL

OPERATING, BACKUP = "the pages for operators", "docs/how-to/backup.md"
METRICS = "docs/reference/metrics.md"


def read(page):
    return "\n".join(map(read_page, MANUAL)) if page == OPERATING else read_page(page)


def seconds(interval):
    return f"{interval.total_seconds():.0f}"


def pauses(unit, least, most):
    """The pauses between attempts to send a mail that are as long as that, in this unit."""
    found = [round(each.total_seconds() / unit) for each in delivery.PAUSES]
    listed = [str(n) for n in found if least <= n <= most]
    return f"{', '.join(listed[:-1])} and {listed[-1]}"


STALLED_KIB = http_server.STALLED_SECONDS * connections.LEAST_BYTES_PER_SECOND >> 10
SHARED = [
    f"{group.max_of_caller} of the {group.max_running} slots"
    for group in (admission.MANAGEMENT, admission.BULK)
]
STATED = [
    (OPERATING, f"the next one resumes once {seconds(upgrades.LEASE)} seconds have passed"),
    (BACKUP, f"is taken over {seconds(upgrades.LEASE)} seconds later"),
    (METRICS, f"`idle` (no request for {http_server.IDLE_SECONDS} s)"),
    (
        METRICS,
        f"read less than {STALLED_KIB} KiB of a response in {http_server.STALLED_SECONDS} s)",
    ),
    (OPERATING, f"has at most {SHARED[0]} of `management` and {SHARED[1]} of `bulk`"),
    (OPERATING, f"no new connections after {heartbeats.SILENT_SECONDS:.0f} seconds"),
    (OPERATING, f"may keep the key set for {key_ring.PUBLISHED_CACHE_SECONDS} seconds"),
    (
        OPERATING,
        f"Within {key_ring.PUBLISHED_CACHE_SECONDS} seconds of the last time it is refused",
    ),
    (OPERATING, f"by other processes within {key_ring.CACHE_SECONDS:.0f} seconds"),
    (OPERATING, f"they are noticed within {certificate.CHECK_SECONDS:.0f} seconds"),
    (OPERATING, f"in use within {certificate.CHECK_SECONDS + 5:.0f} seconds, without a restart"),
    (OPERATING, f"up to {sealed_requests.MAX_CHARACTERS:,} characters, and a cookie"),
    (
        OPERATING,
        f"{free_space.MIN_BYTES >> 20} MiB are free, {free_space.PAGES_PER_RELEASE} pages",
    ),
    (OPERATING, f"has signed in before | {request_limits.FIRST_FORMS_BY_NETWORK:,} | |"),
    (
        OPERATING,
        f"for a note | {request_limits.LONG_BY_NETWORK};"
        f" beyond {request_limits.LONG_BY_ALL} of all networks,"
        f" {request_limits.LONG_BY_NETWORK_OF_MANY} more"
        f" and {request_limits.LONG_OF_MANY:,} of all",
    ),
    (
        OPERATING,
        f"| device authorization | {request_limits.DEVICES_BY_NETWORK}"
        f" | {request_limits.DEVICES_BY_CLIENT} |",
    ),
    (OPERATING, f"requests of public clients | {request_limits.PUSHES_BY_NETWORK} | |"),
    (OPERATING, f"requests of other clients | | {request_limits.PUSHES_BY_CLIENT} |"),
    (OPERATING, f"password resets request | {mail_limits.MAX_PER_MINUTE} | |"),
    (OPERATING, f"takes more than {base.PROMPT_SECONDS} seconds to arrive"),
    (OPERATING, "{0} to {2} seconds at random".format(*admission.RETRY_AFTER_SECONDS)),
    (OPERATING, f"waits at most {examination.OPENING_SECONDS} seconds to open a store"),
    (OPERATING, f"and {examination.WAITING_SECONDS:.0f} seconds for all other machines together"),
    (OPERATING, f"a process holds {exporting.MAX_QUEUE:,} spans"),
    (OPERATING, f"waits at most {exporting.FLUSH_SECONDS:.0f} seconds for the last spans"),
    (OPERATING, f"{sealing.GRACE.days} days, and each start logs from when on"),
    (
        OPERATING,
        "Once an hour the service logs the heads" if anchors.EVERY.seconds == 3600 else "",
    ),
    (
        OPERATING,
        f"tried again after {pauses(60, 1, 30)} minutes, {pauses(3600, 1, 24)} hours",
    ),
]
ROW = "| `{name}` | [^|]+ | {max_running} | {max_waiting} | {max_wait_seconds:.0f} s |"


@pytest.mark.parametrize(("page", "words"), STATED, ids=[words for _, words in STATED])
def test_a_page_states_the_figure_of_the_program(page, words):
    assert words in re.sub(r"\s+", " ", read(page))


@pytest.mark.parametrize("group", admission.GROUPS[1:], ids=lambda group: group.name)
def test_the_table_of_places_has_those_of_the_program(group):
    row = ROW.format_map({name: getattr(group, name) for name in group.__struct_fields__})

    assert re.search(row, read(OPERATING))


@pytest.mark.parametrize("name", ["docs/explanation/security.md", OPERATING])
def test_a_page_that_lists_the_defaults_of_each_profile_has_all_of_them(name):
    page = read(name)
    rows = {
        name: (_as_text(getattr(TRIAL, name)), _as_text(getattr(PUBLIC, name)))
        for name in TRIAL._fields
    }

    found = {
        name: values for name, *values in re.findall(r"\(`(\w+)`\) \| `(\S+)` \| `(\S+)` \|", page)
    }

    assert {name: tuple(values) for name, values in found.items() if name in rows} == rows


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
