"""The main job, in one piece: a person signs in to an application, and out again."""

import pytest


@pytest.mark.promise("service: authorization server", "authorization: endpoint")
async def test_a_person_signs_in_and_the_application_learns_who_it_is(server, visitor, demo):
    tokens = await demo.tokens(visitor, *server.user)
    userinfo = await demo.userinfo(visitor, tokens["access_token"])

    assert tokens["token_type"] == "Bearer"
    assert userinfo.json()["email"] == "dana@example.com"


async def test_a_signed_in_browser_is_known_without_a_page(server, visitor, demo):
    await demo.tokens(visitor, *server.user)

    assert "code" in await demo.silently(visitor)


async def test_a_refreshed_token_works(server, visitor, demo):
    tokens = await demo.tokens(visitor, *server.user)
    refreshed = (await demo.refresh(visitor, tokens["refresh_token"])).json()

    assert (await demo.userinfo(visitor, refreshed["access_token"])).status == 200


@pytest.mark.promise("logout: afterwards")
async def test_after_the_logout_nobody_is_signed_in(server, visitor, demo):
    tokens = await demo.tokens(visitor, *server.user)
    page = await visitor.get(demo.logout_url(id_token_hint=tokens["id_token"]))

    assert page.location == demo.post_logout_redirect_uri
    assert (await demo.silently(visitor))["error"] == "login_required"
    assert (await demo.userinfo(visitor, tokens["access_token"])).status == 401


async def test_the_first_administrator_chooses_a_password_once(server, visitor, demo):
    admin = server.start.admin
    page = await visitor.sign_in(demo.authorize_url(), admin.login_name, admin.password)
    assert page.name == "change-password"
    page = await visitor.submit(page, newPassword="correct horse battery staple")

    assert "code" in page.answer
