"""A story told against a service that dies at one of its writes; then every write has its turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count

import httpx

from idp.records import EVENTS, USERS
from storage import Collection
from tests.fire.ground import Ground
from tests.support.browsers.visitor import Page
from tests.support.protocol.relying_party import RelyingParty

Story = Callable[["Run"], Awaitable[None]]

# Each request on a connection of its own: one that the dead process had is no answer.
NO_REUSE = httpx.Limits(max_keepalive_connections=0)


class Run(httpx.AsyncBaseTransport):
    """One telling. Whatever `browser` asks is asked again if the process died over it.

    `was_done` is true when the last request had been done by the process that died, though
    nobody was told; its answer is that of the repetition.
    """

    def __init__(self, ground: Ground, crash: str, *, is_last_write: bool = False) -> None:
        self.ground = ground
        self.place = ground.place
        self.was_done = False
        self.requests = 0
        self.died_in: int | None = None
        self._crash = crash
        self._is_done_after = is_last_write and crash.startswith("after")
        self._connections = httpx.AsyncHTTPTransport(limits=NO_REUSE)
        self.browser = ground.browser(transport=self)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        self.was_done = False
        try:
            return await self._connections.handle_async_request(request)
        except httpx.TransportError:
            self.ground.bury()
            await self.ground.check()
        self.died_in, self.was_done = self.requests, self._is_done_after
        await self.ground.start()
        return await self._connections.handle_async_request(request)

    async def aclose(self) -> None:
        await self._connections.aclose()

    async def get(self, url: str) -> Page:
        return await self.browser.get(url)

    async def submit(self, page: Page, **fields: str) -> Page:
        """Send a page's form, and follow nothing."""
        return await self.browser.send(page, **fields)

    async def person(self) -> tuple[str, str]:
        """Somebody who has never signed in: login name and password."""
        return await self.place.copy_user(f"person-{self.place.service.random.id().lower()}")

    async def new_code(self, party: RelyingParty) -> str:
        """A code for whoever is signed in at the browser."""
        return self.keep((await party.silently(self.browser))["code"])

    @property
    def was_interrupted(self) -> bool:
        """Whether the process died over the last request, at any of its writes."""
        return self.died_in == self.requests

    async def stored(self, collection: Collection, party: RelyingParty | None = None) -> int:
        """How many records there are, of one application."""
        where = {"client_id": party.client_id} if party else None
        return len([one.id async for one in self.place.store.scan(collection, where)])

    async def deeds(self, name: str, prefix: str) -> list[str]:
        """The types of events that somebody has caused, of those that begin with `prefix`."""
        store = self.place.store
        user = (await store.find(USERS, {"login_key": name})).records[0]
        found = await store.find(EVENTS, {"actor": user.id}, order="at", limit=100)
        return [event.type for event in found.records if event.type.startswith(prefix)]

    def is_safe_from_here(self) -> None:
        """Nothing dies over what follows: it is only looking, or has its own story."""
        self.ground.disarm()

    def is_in_danger_from_here(self) -> None:
        """The process dies over what follows, unless it has died before."""
        if self.died_in is None:
            self.ground.arm(self._crash)

    def keep(self, secret: str) -> str:
        """Nothing of this may be found in the store."""
        self.ground.secrets.add(secret)
        return secret


async def tell(ground: Ground, story: Story, crash: str, **options: bool) -> Run:
    """Tell the story once, with a death at `crash`; what the store holds at its end is checked."""
    run = Run(ground, crash, **options)
    run.is_in_danger_from_here()
    try:
        await story(run)
        ground.secrets |= set(run.browser.cookies.values())
        await ground.check()
    except Exception as error:
        error.add_note(
            f"killed {crash} in request {run.died_in}: {ground.program.printed[-3000:]}"
        )
        raise
    finally:
        run.is_safe_from_here()
    return run


async def burn(ground: Ground, story: Story) -> int:
    """Kill the service before and after each write of the story; how many writes it has."""
    await ground.start()
    died_in: list[int] = []
    for n in count(1):
        run = await tell(ground, story, f"before {n}")
        if run.died_in is None:
            break
        died_in.append(run.died_in)
    for n, request in enumerate(died_in, 1):
        is_last_write = died_in[n : n + 1] != [request]
        run = await tell(ground, story, f"after {n}", is_last_write=is_last_write)
        assert run.died_in == request
    ground.program.stop()
    ground.check_files()
    return len(died_in)
