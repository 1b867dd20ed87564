"""The release before and this one serve one store side by side, up and down again."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Final

import pytest

from idp.foundation.clock import SystemClock
from idp.records import SCHEMA
from idp.records.upgrades import add_family_keys
from tests.support import invariants
from tests.support.programs.program import Program, demo_of
from tests.support.servers.mongod import fresh_database
from tests.support.store.backups import as_served
from tests.upgrades import release_before
from tests.upgrades.release_before import ReleaseBefore
from tests.upgrades.side_by_side import Balancer, Person, add_person

TOGETHER_SECONDS: Final = 60
ALONE_SECONDS: Final = 10
RUNNERS: Final = 4
ISSUER: Final = "http://localhost"


@pytest.fixture(scope="module")
def python_of_the_release_before(tmp_path_factory) -> Path:
    return release_before.install(tmp_path_factory.mktemp("release"))


@pytest.fixture(params=["sqlite", "mongodb"])
def store_flags(request):
    if request.param == "sqlite":
        yield ()
    else:
        with fresh_database(request.getfixturevalue("mongod")) as url:
            yield ("--store", url)


class Load:
    """Runners whose people come in at the balancer, ever more of them."""

    def __init__(self, balancer: Balancer, program: Program) -> None:
        self.people: list[Person] = []
        self.turns = 0
        self.is_over = False
        self._balancer = balancer
        self._party = demo_of(program.announcement)
        self._token = program.announcement["adminPat"]

    async def run(self, runner: int) -> None:
        """One person after the other signs in; each fifth one is new."""
        random, own = Random(runner), []
        for n in itertools.count():
            if self.is_over:
                break
            if n % 5 == 0:
                own.append(await self._newcomer(f"person-{runner}-{n}"))
            await random.choice(own).turn(random)
            self.turns += 1

    async def _newcomer(self, name: str) -> Person:
        async with self._balancer.one() as port:
            await add_person(name, self._party.issuer, port, self._token)
        self.people.append(Person(name, self._party, self._balancer))
        return self.people[-1]

    async def all_are_whole(self) -> None:
        """Assert that each person signs in, and each family of tokens is as its owner left it."""
        for person in self.people:
            for number in range(len(person.living)):
                await person.refresh(number)
            await person.is_refused()
            await person.turn(Random(1))


@pytest.mark.load
@pytest.mark.gen_test(timeout=900)
async def test_no_request_fails_on_the_way_up_and_down_again(
    python_of_the_release_before, store_flags, tmp_path, record_property
):
    balancer = Balancer(Random(1))
    settings = {"IDP_ADMIN_PAT": tmp_path / "pat", "IDP_ISSUER": ISSUER}
    with ExitStack() as stack:

        async def put_in(program: Program) -> Program:
            stack.callback(program.kill)
            await asyncio.to_thread(program.start)
            balancer.put_in(program)
            return program

        def before() -> Program:
            return ReleaseBefore(python_of_the_release_before, tmp_path, *store_flags, **settings)

        def present() -> Program:
            return Program(tmp_path, *store_flags, **settings)

        old = await put_in(before())
        load = Load(balancer, old)
        async with asyncio.TaskGroup() as runners:
            for runner in range(RUNNERS):
                runners.create_task(load.run(runner))
            await asyncio.sleep(ALONE_SECONDS)
            new = await put_in(present())
            await asyncio.sleep(TOGETHER_SECONDS)
            await take_out(balancer, old)
            await asyncio.sleep(ALONE_SECONDS)
            old = await put_in(before())
            await asyncio.sleep(TOGETHER_SECONDS)
            await take_out(balancer, new)
            await asyncio.sleep(ALONE_SECONDS)
            load.is_over = True
        record_property("turns", load.turns)
        await load.all_are_whole()
        new = await put_in(present())
        await take_out(balancer, old)
        await load.all_are_whole()
        await take_out(balancer, new)

    assert load.turns > 100
    async with as_served(new.announcement["store"], SystemClock(), SCHEMA) as store:
        await add_family_keys(store)  # the late step, a day later
        await invariants.hold(store)


async def take_out(balancer: Balancer, program: Program) -> None:
    await balancer.take_out(program)
    await asyncio.to_thread(program.stop)
