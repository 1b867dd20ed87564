"""What an administrator is told of a person's ways to sign in, and the end of their app."""

from __future__ import annotations

from idp.records import EVENTS, RECOVERY_CODES
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.sign_in.factors import SECRET, code, give_app, give_codes, user_of
from tests.support.store.stored import everything

TYPE = "AUTHENTICATION_METHOD_TYPE_"


async def methods(caller, user, **headers):
    page = await caller.get(f"/v2/users/{user.id}/authentication_methods", **headers)
    assert page.status == 200, page.text
    return page.json()


async def test_the_ways_to_sign_in_are_listed_without_a_secret(server, owner):
    user = await user_of(server)
    assert (await methods(owner, user))["authMethodTypes"] == [TYPE + "PASSWORD"]
    await give_app(server)
    codes = await give_codes(server)
    found = await methods(owner, user)

    assert found["authMethodTypes"] == [
        TYPE + "PASSWORD",
        TYPE + "TOTP",
        TYPE + "RECOVERY_CODE",
    ]
    assert found["totp"]["state"] == "AUTH_FACTOR_STATE_READY"
    assert found["recoveryCodes"]["left"] == 10
    assert SECRET not in repr(found)
    assert not any(each in repr(found) for each in codes)


async def test_an_app_that_is_removed_is_asked_for_no_more(
    server, owner, visitor, new_visitor, demo
):
    await give_app(server)
    await give_codes(server)
    user = await user_of(server)
    page = await visitor.sign_in(demo.authorize_url(), *server.user)
    assert "code" in (await visitor.submit(page, code=code(server.clock))).answer
    page = await owner.request("DELETE", f"/v2/users/{user.id}/totp", None)
    assert page.status == 200, page.text

    assert (await user_of(server)).totp is None
    assert [one async for one in server.store.scan(RECOVERY_CODES)] == []
    removed = [e async for e in server.store.scan(EVENTS) if e.type == "user.totp_removed"]
    assert len(removed) == 1
    assert removed[0].actor != user.id
    assert (await demo.silently(visitor))["error"] == "login_required"
    assert "code" in (await new_visitor().sign_in(demo.authorize_url(), *server.user)).answer


async def test_there_is_nothing_to_remove_twice(server, owner):
    await give_app(server)
    user = await user_of(server)
    await owner.request("DELETE", f"/v2/users/{user.id}/totp", None)
    before = await everything(server.store)
    page = await owner.request("DELETE", f"/v2/users/{user.id}/totp", None)

    assert page.status == 404
    assert page.json()["details"][0]["id"] == "totp.not_found"
    assert await everything(server.store) == before


async def test_another_organization_knows_nothing_of_them(server, visitor):
    await give_app(server)
    other = await new_organization(server, "other.example")
    stranger = await new_caller(server, visitor, other, "ORG_OWNER")
    user = await user_of(server)
    before = await everything(server.store)
    for method, path in (("GET", "authentication_methods"), ("DELETE", "totp")):
        page = await stranger.request(method, f"/v2/users/{user.id}/{path}", None)
        refused(page, 404, 5)

    assert await everything(server.store) == before


async def test_a_second_factor_can_be_forced_and_what_counts_be_chosen(server, owner):
    path = "/admin/v1/policies/login"
    both = {"forceMfa": True, "secondFactors": [], "multiFactors": []}
    assert refused(await owner.request("PUT", path, both), 400, 3) == {
        "secondFactors": "login_policy.no_factor"
    }
    wanted = {
        "forceMfa": True,
        "secondFactors": ["SECOND_FACTOR_TYPE_OTP"],
        "mfaInitSkipLifetime": "720h0m0s",
        "passwordlessType": "PASSWORDLESS_TYPE_NOT_ALLOWED",
    }
    page = await owner.request("PUT", path, wanted)
    assert page.status == 200, page.text
    policy = (await owner.get(path)).json()["policy"]

    assert {name: policy[name] for name in wanted} == wanted
    assert policy["secondFactorCheckLifetime"] == "18h0m0s"
    assert policy["multiFactors"] == ["MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION"]
