"""`kill -9` of the service and of its backups under load: what a backup holds is one moment."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from idp.records import SCHEMA, USERS
from tests.fire.ground import Ground
from tests.program.backups.backing_up import CLOCK, PASSPHRASE, write_passphrase
from tests.support import invariants
from tests.support.management.callers import Caller, instance_owner
from tests.support.programs.program import command, environment
from tests.support.store.backups import as_served, restored

SIGN_INS = 2  # at one moment


class Load:
    """Sign-ins, and one caller who creates users with rising numbers, each after the one before
    was acknowledged. The service may be killed: what got no answer is tried again."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.begun = 0  # users that may be stored
        self.acknowledged = 0  # users that are stored
        self.is_over = False
        self._is_up = asyncio.Event()
        self._is_up.set()
        self._caller: Caller

    async def prepare(self) -> None:
        self._caller = await instance_owner(self.ground.place, self.ground.browser())

    async def kill_the_service(self) -> None:
        self._is_up.clear()
        self.ground.program.kill()
        await self.ground.start()
        self._is_up.set()

    async def create_users(self) -> None:
        while not self.is_over:
            await self._is_up.wait()
            with suppress(httpx.TransportError):
                self.begun = self.acknowledged + 1
                await self._create(self.acknowledged)
                self.acknowledged += 1

    async def _create(self, number: int) -> None:
        user = {
            "username": f"number-{number}",
            "profile": {"givenName": "Some", "familyName": "Body"},
            "email": {"email": f"number-{number}@example.com", "isVerified": True},
        }
        page = await self._caller.post("/v2/users/human", user)
        # It had been stored before a kill, and nobody was told.
        assert page.status in (200, 409), page.text

    async def sign_in(self) -> None:
        place, party = self.ground.place, self.ground.place.demo()
        while not self.is_over:
            await self._is_up.wait()
            browser = self.ground.browser()
            with suppress(httpx.TransportError):
                tokens = await party.tokens(browser, *place.user)
                page = await party.refresh(browser, tokens["refresh_token"])
                assert page.status == 200, page.text
            await browser.close()


class Backups:
    """Backups into a directory. `finished` has for each how many users it must and may hold."""

    def __init__(self, load: Load) -> None:
        self.finished: dict[Path, tuple[int, int]] = {}
        self.directory = load.ground.directory / "saved"
        self.directory.mkdir()
        self._load = load
        self._seal = write_passphrase(load.ground.directory)

    async def run(self, *, kill=None) -> float:
        """Run one, and `kill` meanwhile, given the process; how many seconds it took."""
        # Its name is the second in which it begins.
        await asyncio.sleep(1.01 - time.time() % 1)
        load, at_least = self._load, self._load.acknowledged
        store = load.ground.program.announcement["store"]
        words = ("backup", "--into", "saved", "--passphrase-file", str(self._seal))
        began = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *command(*words, "--store", store),
            cwd=load.ground.directory,
            env=environment(),
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        if kill is not None:
            await kill(process)
        _, said = await process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), said.decode()
        for path in set(self.directory.glob("idp-*.idp")) - self.finished.keys():
            self.finished[path] = at_least, load.begun
        return time.monotonic() - began

    async def check(self) -> None:
        """Assert that each can be restored, and holds what was stored at one moment."""
        for path, (at_least, at_most) in self.finished.items():
            url = f"sqlite:///{path.with_suffix('')}/idp.sqlite3"
            path.with_suffix("").mkdir()
            await restored(url, path.read_bytes(), CLOCK, passphrase=PASSPHRASE)
            async with as_served(url, CLOCK, SCHEMA) as store:
                await invariants.hold(store)
                numbers = await numbers_in(store)
            assert numbers == list(range(len(numbers)))
            assert at_least <= len(numbers) <= at_most


async def numbers_in(store) -> list[int]:
    names = [user.user_name async for user in store.scan(USERS)]
    return sorted(int(name.split("-")[1]) for name in names if name.startswith("number-"))


async def burn(ground: Ground, kills: int, seed: int) -> Backups:
    """Kill the service and the backup in turn, each at any moment of the backup."""
    chance = random.Random(seed)
    await ground.start()
    load = Load(ground)
    await load.prepare()
    backups = Backups(load)
    runners = [load.create_users(), *(load.sign_in() for _ in range(SIGN_INS))]
    tasks = [asyncio.ensure_future(each) for each in runners]
    lasts = await backups.run()
    for n in range(kills):
        moment = lasts * chance.uniform(0, 1)

        async def kill(process, n=n, moment=moment):
            await asyncio.sleep(moment)
            if n % 2:
                await load.kill_the_service()
            elif process.returncode is None:
                process.kill()

        await backups.run(kill=kill)
    load.is_over = True
    await asyncio.gather(*tasks)
    assert await numbers_in(ground.place.store) == list(range(load.acknowledged))
    await ground.check()
    ground.program.stop()
    return backups


@pytest.mark.load
@pytest.mark.gen_test(timeout=1500)
async def test_each_backup_of_fifty_that_were_killed_under_load_is_one_moment(
    new_ground, record_property
):
    backups = await burn(new_ground("--processes", "2"), kills=50, seed=1)
    await backups.check()

    record_property("finished", len(backups.finished))
    assert len(backups.finished) > 20
