"""Replacing the master key ends nothing: what people and applications hold is recognised before,
during and after it."""

from __future__ import annotations

import pytest

from idp.identity.sessions import known_browsers
from idp.records import BROWSERS
from tests.support.sign_in import factors, passkeys
from tests.support.sign_in.factors import give_app, give_codes
from tests.support.store.backups import master_key_of
from tests.support.store.master_keys import NEW, begun, done, restart


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "keys"


async def before(server, directory):
    pass


async def during(server, directory):
    await begun(server.service, directory)


async def after(server, directory):
    await begun(server.service, directory)
    await done(server)
    await restart(server.service, directory.with_name("alone"), NEW)
    assert master_key_of(server.service) == NEW


moments = pytest.mark.parametrize("moment", [before, during, after])


@pytest.mark.promise("master key: replacement")
@moments
async def test_an_app_and_a_recovery_code_are_accepted(
    server, new_visitor, demo, directory, moment
):
    await give_app(server)
    codes = await give_codes(server)

    await moment(server, directory)

    one, other = new_visitor(), new_visitor()
    page = await one.sign_in(demo.authorize_url(), *server.user)
    by_app = await one.submit(page, code=factors.code(server.clock))
    page = await other.sign_in(demo.authorize_url(), *server.user)
    page = await other.open(page.url.replace("/ui/login/totp", "/ui/login/recovery-code"))
    by_code = await other.submit(page, code=codes[0])

    assert "code" in by_app.answer
    assert "code" in by_code.answer


@pytest.mark.promise("master key: replacement")
@moments
async def test_a_passkey_names_its_user(server, visitor, new_visitor, demo, directory, moment):
    await visitor.sign_in(demo.authorize_url(), *server.user)
    device, _ = await passkeys.enrol(visitor, server)

    await moment(server, directory)

    page = await passkeys.sign_in(new_visitor(), demo, device)
    assert "code" in page.answer


@pytest.mark.promise("master key: replacement")
@moments
async def test_tokens_and_sessions_go_on(server, visitor, demo, directory, moment):
    tokens = await demo.tokens_by_pages(visitor, *server.user)

    await moment(server, directory)

    refreshed = await demo.refresh(visitor, tokens["refresh_token"])
    assert refreshed.status == 200, refreshed.text
    assert (await demo.userinfo(visitor, tokens["access_token"])).status == 200
    assert "code" in await demo.silently(visitor)


@pytest.mark.promise("master key: replacement")
@moments
async def test_a_browser_stays_known_to_the_account(server, visitor, demo, directory, moment):
    await visitor.sign_in(demo.authorize_url(), *server.user)

    await moment(server, directory)

    page = await visitor.sign_in(demo.authorize_url(prompt="login"), *server.user)
    assert "code" in page.answer
    (browser,) = [one async for one in server.store.scan(BROWSERS)]
    assert known_browsers.is_known(browser, await factors.user_of(server))


async def test_a_sign_in_that_was_begun_before_it_is_finished_after_it_has_begun(
    server, visitor, demo, directory
):
    page = await visitor.get(demo.authorize_url())
    page = await visitor.submit(await visitor.get(page.location), loginName=server.user[0])
    assert page.name == "password"

    await begun(server.service, directory)

    page = await visitor.submit(page, password=server.user[1])
    assert "code" in page.answer
