"""Sign-ins whose unit is stored at the moment at which somebody deactivates their users."""

from __future__ import annotations

import asyncio

import pytest

from idp.records import SESSIONS, USERS
from storage import Insert
from tests.support.management.callers import instance_owner

AT_ONCE = 5
ROUNDS = 6


@pytest.fixture
def settings(request, tmp_path):
    """A store of each kind."""
    if request.param == "sqlite":
        return {"store": f"sqlite:///{tmp_path}/db.sqlite3"}
    return {"store": request.getfixturevalue("emptied_mongodb")}


class Gate:
    """Holds the units that open a session, until all of them are to be stored at once."""

    def __init__(self, store, monkeypatch) -> None:
        self._commit = store.commit
        self._is_open = asyncio.Event()
        self._arrived = asyncio.Condition()
        self._waiting = 0
        monkeypatch.setattr(store, "commit", self._held)

    async def _held(self, *writes):
        if any(isinstance(each, Insert) and each.collection is SESSIONS for each in writes):
            async with self._arrived:
                self._waiting += 1
                self._arrived.notify_all()
            await self._is_open.wait()
        await self._commit(*writes)

    async def has(self, count: int) -> None:
        """Return when so many units are held."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: self._waiting == count)

    def open(self) -> None:
        self._is_open.set()


class Somebody:
    """A user at the page of the password, in a browser of their own."""

    def __init__(self, browser, page, password, path) -> None:
        self.browser = browser
        self.page = page
        self.password = password
        self.path = path

    @classmethod
    async def at_password(cls, server, browser, party):
        name, password = await server.copy_user(f"person-{server.service.random.id().lower()}")
        found = await server.store.find(USERS, {"login_key": name})
        page = await browser.submit(await browser.open(party.authorize_url()), loginName=name)
        return cls(browser, page, password, f"/v2/users/{found.records[0].id}")

    async def survives(self, party, answer) -> bool:
        """Whether anything of the sign-in counts."""
        assert answer.status == 303, answer.text
        page = await self.browser.follow(answer)
        redeemed = await party.redeem(self.browser, page.answer["code"])
        return redeemed.status == 200 or "code" in await party.silently(self.browser)


@pytest.mark.full
@pytest.mark.parametrize("settings", ["sqlite", "mongodb"], indirect=True)
async def test_of_thirty_sign_ins_none_survives_a_deactivation_at_the_same_moment(
    server, new_visitor, demo, monkeypatch
):
    owner = await instance_owner(server, new_visitor())
    survivors = []
    for is_before in [False, True] * (ROUNDS // 2):
        people = [await Somebody.at_password(server, new_visitor(), demo) for _ in range(AT_ONCE)]
        with monkeypatch.context() as patching:
            gate = Gate(server.store, patching)
            sending = [
                asyncio.ensure_future(one.browser.send(one.page, password=one.password))
                for one in people
            ]
            await gate.has(AT_ONCE)
            ending = asyncio.gather(*(owner.post(f"{one.path}/deactivate", {}) for one in people))
            if is_before:  # after everything was read, and before the unit
                await ending
            gate.open()
            ended = await ending
            answers = await asyncio.gather(*sending)
        assert [each.status for each in ended] == [200] * AT_ONCE
        for one in people:
            assert (await owner.post(f"{one.path}/reactivate", {})).status == 200
        pairs = zip(people, answers, strict=True)
        survivors += [one for one, answer in pairs if await one.survives(demo, answer)]

    assert survivors == []
