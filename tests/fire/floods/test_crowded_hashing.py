"""One address that sends very many sign-ins at once: the sign-ins of another one wait for few of
its hashes. That is counted, because the time that a hash takes depends on the machine."""

from __future__ import annotations

import asyncio

import pytest

from tests.fire.floods.noted_hashes import NOTES_VARIABLE
from tests.fire.ground import ROOT
from tests.support.programs.program import eventually
from tests.support.sign_in.steps import at_password

CROWD, OTHERS = "198.51.100.1", "192.0.2.1"
COUNT, FEW = 200, 5
MOST_WAITED_FOR = 2
PREPARED_AT_ONCE = 10


@pytest.fixture
def notes(tmp_path):
    return tmp_path / "hashes"


@pytest.fixture
def program(start_program, notes):
    settings = {
        NOTES_VARIABLE: notes,
        "IDP_TRUSTED_PROXIES": "127.0.0.1",
        "IDP_KNOWN_NETWORKS": CROWD,  # so that the limits on guesses refuse none of them
        "IDP_HASHING_THREADS": 1,
        "IDP_HASHING_QUEUE": COUNT,
    }
    return start_program(module="tests.fire.floods.noted_hashes", PYTHONPATH=ROOT, **settings)


async def at_passwords(open_browser, program, address, names):
    """A browser for each name, with the page that asks for its password."""
    at_once = asyncio.Semaphore(PREPARED_AT_ONCE)

    async def prepared(name):
        browser = open_browser(program, headers={"X-Forwarded-For": address}, timeout=600)
        async with at_once:
            return browser, await at_password(browser, program.demo(), name)

    return await asyncio.gather(*map(prepared, names))


def waited_for(events):
    """For how many hashes of the crowd each of the others' waited, after it was asked for and the
    one before it had its turn."""
    asked = [place for place, event in enumerate(events) if event == ("asked", OTHERS)]
    began = [place for place, event in enumerate(events) if event == ("began", OTHERS)]
    free = [0, *began]
    return [
        events[max(its_asked, before) : its_began].count(("ended", CROWD))
        for its_asked, before, its_began in zip(asked, free, began, strict=False)
    ]


@pytest.mark.load
@pytest.mark.gen_test(timeout=600)
@pytest.mark.promise("overload: hashing")
async def test_few_sign_ins_wait_for_two_hashes_of_a_crowd_of_another_address(
    program, notes, open_browser, record_property
):
    unknown = [f"nobody-{n}" for n in range(COUNT)]
    crowd = await at_passwords(open_browser, program, CROWD, unknown)
    name, password = program.user
    others = await at_passwords(open_browser, program, OTHERS, FEW * [name])
    notes.write_text("")

    crowding = [
        asyncio.ensure_future(browser.send(page, password="wrong")) for browser, page in crowd
    ]
    await asyncio.to_thread(eventually, lambda: notes.read_text().count("began") > FEW, "a hash")
    answers = await asyncio.gather(
        *(browser.send(page, password=password) for browser, page in others)
    )
    await asyncio.gather(*crowding)

    events = [tuple(line.split()) for line in notes.read_text().splitlines()]
    waited = waited_for(events)
    record_property("counts", f"waited for {waited} of {COUNT} hashes")
    assert [answer.status for answer in answers] == FEW * [303]
    assert events.count(("began", CROWD)) == COUNT
    assert len(waited) == FEW
    assert max(waited) <= MOST_WAITED_FOR
