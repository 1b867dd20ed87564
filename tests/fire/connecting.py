"""People who come from another identity provider, which this process is, while the service dies at
every write."""

from __future__ import annotations

from idp.records import ORGANIZATIONS, SESSIONS, USERS
from idp.records.identity_links import IDENTITY_LINKS
from tests.fire import managing
from tests.fire.run import Run
from tests.support.management.connecting import Connecting
from tests.support.sign_in.federating import AT_ONCE, Federation
from tests.support.sign_in.hostile_provider import HostileProvider


async def a_person_comes_from_another_provider(run: Run) -> None:
    """An answer of the provider counts once. Whoever has lost what came of it begins again, and is
    then the user that the first one made, if it made any."""
    provider = HostileProvider(run.place.service.clock)
    try:
        await _comes_twice(run, provider)
    finally:
        await provider.close()


async def _comes_twice(run: Run, provider: HostileProvider) -> None:
    run.is_safe_from_here()
    federation = await _connected(run, provider)
    name = run.place.service.random.id().lower()
    provider.claims = {
        "sub": name,
        "preferred_username": name,
        "given_name": "Ada",
        "family_name": "Lovelace",
    }
    provider.userinfo = {"sub": name}
    page = await federation.begin(run.browser)
    address = provider.answer_at(await federation.leave(page, run.browser))
    run.is_in_danger_from_here()
    # Each request of the way may be the one that dies.
    page = await run.browser.open(address)
    run.is_safe_from_here()

    if "code" not in page.answer:
        assert run.died_in is not None, page.text
        assert page.name in ("login-name", "expired"), page.text
        page = await federation.begin(run.browser)
    if "code" not in page.answer:  # else the session had been stored
        page = await federation.come_back(await federation.leave(page, run.browser), run.browser)
    assert "code" in page.answer, page.text
    await _is_one_user(run, name)


async def _connected(run: Run, provider: HostileProvider) -> Federation:
    caller = await managing.owner(run)
    home = await run.place.store.find(ORGANIZATIONS, {"primary_domain": "localhost"})
    party = await run.place.register()
    run.keep(party.client_secret)
    connecting = Connecting(caller, home.records[0].id)
    federation = Federation(run.place, connecting, party, run.browser, provider)
    name = f"Corp {run.place.service.random.id()}"
    return await federation.make(name=name, issuer=provider.issuer, providerOptions=AT_ONCE)


async def _is_one_user(run: Run, name: str) -> None:
    links = [one async for one in run.place.store.scan(IDENTITY_LINKS) if one.external_id == name]
    users = [one async for one in run.place.store.scan(USERS) if one.user_name == name]
    assert [one.user_id for one in links] == [one.id for one in users]
    assert len(users) == 1
    sessions = run.place.store.scan(SESSIONS, {"user_id": users[0].id})
    assert {one.connection_id async for one in sessions} == {links[0].connection_id}
