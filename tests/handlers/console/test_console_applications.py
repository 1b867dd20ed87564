"""Applications in the console: registered by kind and preset, changed, shut and deleted."""

from __future__ import annotations

import base64
import html
import json
import re

import pytest

from idp.clients import presets
from idp.records import APPLICATIONS, PROJECTS
from tests.support.management import console
from tests.support.management.api_samples import PUBLIC_KEY
from tests.support.management.callers import new_organization
from tests.support.store.stored import everything

NEW = "/ui/console/applications/new"
CALLBACK = "https://shop.example/cb"


async def stored(server, collection, **values):
    found = [one async for one in server.store.scan(collection)]
    return [
        one for one in found if all(getattr(one, key) == value for key, value in values.items())
    ]


def shown(page, heading):
    """The text below a heading that is in a box of its own."""
    found = re.search(rf'id="{heading}".*?<code>(.*?)</code>', page.text, re.DOTALL)
    return html.unescape(found[1]) if found else None


async def register(visitor, query="kind=web", **values):
    """Send the form of a new application: the page that comes back."""
    page = await visitor.get(f"{NEW}?{query}")
    given = {"name": "Shop", "projectId": ""} | values
    return await visitor.submit(page, **given)


async def address_of(server, name="Shop"):
    """The page of the application of that name."""
    app = (await stored(server, APPLICATIONS, name=name))[0]
    return f"/ui/console/projects/{app.project_id}/applications/{app.id}", app


async def test_the_page_asks_kind_and_tool_and_gives_its_reasons(server, visitor):
    await console.admin(server, visitor)
    first = await visitor.get(NEW)
    second = await visitor.get(f"{NEW}?kind=web")
    third = await visitor.get(f"{NEW}?preset=grafana")

    assert "What kind of application is it?" in first.text
    assert "What do you use?" not in first.text
    assert "Grafana" in second.text
    assert "Kubernetes" not in second.text
    for choice in presets.find("grafana").chosen.values():
        assert html.escape(choice.reason.msgid, quote=False) in html.unescape(third.text)
    assert third.inputs["name"] == "Grafana"
    assert "--name NAME --preset grafana --host HOST" in third.text


async def test_a_preset_registers_what_it_says_and_shows_the_secret_once(server, visitor):
    await console.admin(server, visitor)
    page = await register(visitor, "preset=grafana", name="Metrics", host="metrics.example")
    address, app = await address_of(server, "Metrics")

    assert (page.status, page.name) == (200, "console/registered")
    assert shown(page, "client-id") == app.id
    expected = presets.expand("grafana", "metrics.example")
    assert app.redirect_uris == expected["redirectUris"]
    assert (app.groups_claim, app.id_token_role_assertion) == ("groups", True)
    assert shown(page, "configuration") == presets.configuration(
        "grafana", server.issuer, app.id, "metrics.example"
    )
    secret = shown(page, "secret")
    assert secret
    assert secret not in (await visitor.get(address)).text
    assert [one.name for one in await stored(server, PROJECTS, id=app.project_id)] == ["Metrics"]


async def test_a_warning_is_shown_once_with_the_uris_that_it_is_about(server, visitor):
    await console.admin(server, visitor)
    page = await register(visitor, "preset=flask", name="Shop", host="localhost:5000")

    uris = [f"http://localhost:5000/{path}</code>" for path in ("auth/callback", "")]
    assert all(page.text.count(each) == 1 for each in uris)
    assert page.text.count("three different hosts") == 1
    assert "Native applications" not in page.text


async def test_a_form_that_is_sent_twice_registers_one_application(server, visitor):
    await console.admin(server, visitor)
    page = await visitor.get(f"{NEW}?kind=web")
    values = {"name": "Shop", "projectId": "", "redirectUris": CALLBACK}
    first = await visitor.submit(page, **values)
    second = await visitor.submit(page, **values)

    assert shown(first, "secret") == shown(second, "secret")
    assert len(await stored(server, APPLICATIONS, name="Shop")) == 1
    assert len(await stored(server, PROJECTS, name="Shop")) == 1


@pytest.mark.parametrize(
    ("kind", "type", "method"),
    [
        ("web", "web", "client_secret_basic"),
        ("user_agent", "user_agent", "none"),
        ("native", "native", "none"),
        ("api", "api", "client_secret_basic"),
    ],
)
async def test_each_kind_is_registered_as_it_should_be(server, visitor, kind, type, method):
    await console.admin(server, visitor)
    places = {} if kind == "api" else {"redirectUris": f"{CALLBACK}\n{CALLBACK}/2\n"}
    page = await register(visitor, f"kind={kind}", **places)
    _, app = await address_of(server)

    assert page.name == "console/registered", page.text
    assert (app.app_type, app.auth_method) == (type, method)
    assert app.redirect_uris == ([] if kind == "api" else [CALLBACK, f"{CALLBACK}/2"])
    assert bool(shown(page, "secret")) == (method != "none")


@pytest.mark.parametrize(
    ("query", "values"),
    [
        ("kind=web", {"redirectUris": "http://shop.example/cb"}),
        ("kind=web", {"redirectUris": "https://shop.example/#a"}),
        ("kind=web", {"redirectUris": "https://*.shop.example/"}),
        ("kind=web", {"redirectUris": f"{CALLBACK}\n{CALLBACK}"}),
        ("kind=web", {"redirectUris": CALLBACK, "name": ""}),
        ("kind=web", {"redirectUris": CALLBACK, "name": "x" * 201}),
        ("preset=grafana", {"host": "not a host"}),
        ("preset=grafana", {"host": ""}),
    ],
)
async def test_what_cannot_be_registered_comes_back_with_the_reason(
    server, visitor, query, values
):
    await console.admin(server, visitor)
    before = await everything(server.store)
    page = await register(visitor, query, **values)

    assert (page.status, page.name) == (400, "console/new-application")
    assert 'class="problem"' in page.text
    name, value = next((k, v) for k, v in values.items() if v != CALLBACK or k == "redirectUris")
    assert not value or html.escape(value.splitlines()[0], quote=False) in page.text, name
    assert await everything(server.store) == before


async def test_a_user_who_may_only_look_registers_nothing(server, visitor):
    await console.manager(server, visitor, "ORG_OWNER_VIEWER")
    before = await everything(server.store)
    page = await visitor.get(f"{NEW}?kind=web")
    listed = await visitor.get("/ui/console/applications")
    sent = await visitor.submit(page, name="Shop", projectId="x", redirectUris=CALLBACK)

    assert "New application" not in listed.text
    assert (sent.status, sent.name) == (403, "console/message")
    assert await everything(server.store) == before


async def test_a_form_without_its_word_registers_nothing(server, visitor):
    await console.admin(server, visitor)
    page = await visitor.get(f"{NEW}?kind=web")
    before = await everything(server.store)
    values = {**page.hidden, "name": "Shop", "projectId": "", "redirectUris": CALLBACK}
    for word in ("", "x", None):
        sent = {k: v for k, v in {**values, "token": word}.items() if v is not None}
        assert (await visitor.post(page.url, sent)).status == 403
    cross = await visitor.post(page.url, values, headers={"Sec-Fetch-Site": "cross-site"})

    assert cross.status == 403
    assert await everything(server.store) == before


async def registered(server, visitor, **values):
    await console.admin(server, visitor)
    await register(visitor, **({"redirectUris": CALLBACK} | values))
    return await address_of(server)


async def test_the_settings_are_replaced_by_the_values_of_the_form(server, visitor):
    address, _ = await registered(server, visitor)
    form = await visitor.get(f"{address}/settings")
    page = await visitor.submit(
        form,
        redirectUris=f"{CALLBACK}/new",
        groupsClaim="groups",
        accessTokenType="OIDC_TOKEN_TYPE_JWT",
    )
    _, app = await address_of(server)

    assert page.url.endswith(f"{address}?done=saved")
    assert "Saved." in page.text
    assert (app.redirect_uris, app.groups_claim) == ([f"{CALLBACK}/new"], "groups")
    assert (app.access_token_type, app.grant_types) == ("jwt", ["authorization_code"])


@pytest.mark.full
async def test_settings_that_somebody_else_changed_meanwhile_are_not_overwritten(server, visitor):
    address, _ = await registered(server, visitor)
    one, other = [await visitor.get(f"{address}/settings") for _ in range(2)]
    await visitor.submit(one, groupsClaim="first")
    page = await visitor.submit(other, groupsClaim="second")
    _, app = await address_of(server)

    assert (page.status, page.name) == (412, "console/action")
    assert "Someone else has changed this." in page.text
    assert app.groups_claim == "first"


async def test_a_pair_of_keys_is_made_and_its_file_stored_once(server, visitor):
    address, app = await registered(server, visitor)
    form = await visitor.get(f"{address}/keys/new")
    page = await visitor.submit(form, expirationDate="2999-12-31")
    file = await visitor.submit(page, keep="file")
    shown_key = await visitor.get(f"{address}/credentials")

    assert (page.status, page.name) == (200, "console/made")
    assert json.loads(file.text)["appId"] == app.id
    assert file.headers["Content-Disposition"] == 'attachment; filename="key.json"'
    assert json.loads(file.text)["keyId"] in shown_key.text
    assert 'title="2999-12-31 23:59:' in shown_key.text
    assert ">December 31, 2999, 11:59" in shown_key.text
    assert "PRIVATE" not in shown_key.text


async def test_a_public_key_is_uploaded_as_people_have_it(server, visitor):
    address, _ = await registered(server, visitor)
    form = await visitor.get(f"{address}/keys/upload")
    wrong = await visitor.submit(form, publicKey="no key")
    pem = base64.b64decode(PUBLIC_KEY).decode()
    page = await visitor.submit(wrong, publicKey=pem)

    assert (wrong.status, wrong.name) == (400, "console/action")
    assert "Added." in page.text


@pytest.mark.full
async def test_an_application_is_deleted_by_typing_its_name(server, visitor):
    address, app = await registered(server, visitor)
    form = await visitor.get(f"{address}/delete")
    wrong = await visitor.submit(form, confirm="Shop 2")
    still_there = await server.store.get(APPLICATIONS, app.id)
    page = await visitor.submit(wrong, confirm="Shop")

    assert wrong.status == 400
    assert still_there
    assert "Deleted." in page.text
    assert await server.store.get(APPLICATIONS, app.id) is None
    assert (await visitor.get(address)).status == 404


async def test_an_application_is_shut_and_opened(server, visitor):
    address, app = await registered(server, visitor)
    await visitor.submit(await visitor.get(f"{address}/deactivate"))
    shut = await server.store.get(APPLICATIONS, app.id)
    page = await visitor.get(address)
    await visitor.submit(await visitor.get(f"{address}/reactivate"))

    assert shut.state == "inactive"
    assert "deactivated" in page.text
    assert (await server.store.get(APPLICATIONS, app.id)).state == "active"


@pytest.mark.full
async def test_what_belongs_to_another_organization_is_not_there(server, visitor, new_visitor):
    address, _ = await registered(server, visitor)
    stranger, other = new_visitor(), await new_organization(server, "other.example")
    await console.manager(server, stranger, "ORG_OWNER", org_id=other.id)
    pages = [f"{address}{rest}" for rest in ("", "/settings", "/secret", "/delete", "/test")]
    before = await everything(server.store)
    answers = [await stranger.get(page) for page in [*pages, f"{address}?org={other.id}"]]

    assert [answer.status for answer in answers] == [404] * 6
    assert all("Shop" not in answer.text for answer in answers)
    assert await everything(server.store) == before
