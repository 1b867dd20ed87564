"""Parameters that only wish for something: whatever they say, the request is answered."""

from __future__ import annotations

import pytest

PATH = "/oauth/v2/authorize"
CLAIMS = '{"userinfo": {"name": {"essential": true}}, "id_token": {"acr": null}}'
WISHES = [
    *[("display", each) for each in ("page", "popup", "touch", "wap", "hologram")],
    *[("claims", each) for each in (CLAIMS, "{}", "[]", "no JSON")],
    *[("claims_locales", each) for each in ("de en-GB", "xx tlh-Latn")],
    *[("ui_locales", each) for each in ("de en-GB", "xx tlh-Latn")],
    *[("acr_values", each) for each in ("urn:idp:acr:password", "phr urn:x:unknown")],
]


@pytest.mark.promise("authorization: optional parameters")
@pytest.mark.parametrize(("name", "value"), WISHES)
async def test_an_optional_parameter_is_no_error_by_get_and_by_post(signed_in, demo, name, value):
    got = await signed_in.get(demo.authorize_url(**{name: value}))
    posted = await signed_in.post(PATH, demo.authorize_form(**{name: value}))
    silent = await demo.silently(signed_in, **{name: value})

    for answer in (got.answer, (await signed_in.follow(posted)).answer, silent):
        assert set(answer) == {"code", "state", "iss"}


@pytest.mark.promise("authorization: optional parameters")
@pytest.mark.parametrize(("name", "value"), WISHES)
async def test_an_optional_parameter_without_a_session_leads_to_the_sign_in_page(
    visitor, demo, name, value
):
    page = await visitor.open(demo.authorize_url(**{name: value}))

    assert (page.status, page.name) == (200, "login-name")


@pytest.mark.promise("authorization: optional parameters")
@pytest.mark.parametrize("name", ["login_hint", "ui_locales"])
@pytest.mark.parametrize("value", ["a\0b", "l" * 4097], ids=["NUL", "too long"])
async def test_a_requested_class_that_can_not_be_used_is_no_error(visitor, demo, name, value):
    page = await visitor.open(demo.authorize_url(**{name: value}))

    assert (page.status, page.name) == (200, "login-name")


@pytest.mark.parametrize("name", ["display", "acr_values", "claims", "unknown"])
async def test_a_parameter_that_is_not_used_may_not_be_repeated_either(visitor, demo, name):
    page = await visitor.get(f"{demo.authorize_url()}&{name}=1&{name}=2")

    assert page.answer["error"] == "invalid_request"
    assert page.answer["state"] == "state-1"


@pytest.mark.promise(
    "authorization: ui_locales",
    "authorization: optional parameters",
    "session: login_hint and ui_locales",
)
@pytest.mark.parametrize(
    ("ui_locales", "browser", "language"),
    [("xx de-AT", "en", "de"), ("xx", "de", "de"), (None, "de", "de"), ("xx", "yy", "en")],
)
async def test_ui_locales_choose_the_language_and_unknown_ones_the_browser_s(
    visitor, demo, ui_locales, browser, language
):
    visitor.http.headers["Accept-Language"] = browser
    page = await visitor.open(demo.authorize_url(ui_locales=ui_locales))

    assert page.headers["Content-Language"] == language
