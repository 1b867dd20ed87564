"""A genuine request of every kind, made of what the world holds now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.fuzz.request import Request, encoded, pairs
from tests.fuzz.world import CALLBACK, SECRET, TYPES, Client, World, signed
from tests.support.protocol import device, exchanging
from tests.support.protocol.asserting import JWT_BEARER

TOKEN: Final = "/oauth/v2/token"
MODES: Final = [None, "query", "fragment", "form_post"]
GETS: Final = [
    *["/.well-known/openid-configuration", "/oauth/v2/keys", "/", "/healthz", "/readyz"],
    *["/ui/login", "/ui/device", "/ui/logout", "/ui/logged-out", "/ui/account/password"],
    *[
        "/ui/device/done",
        "/ui/setup",
        "/ui/reset",
        "/ui/connection-test",
        "/demo",
        "/demo/callback",
        "/static/page.css",
        "/nowhere",
    ],
    *[
        "/ui/account",
        "/ui/account/data/download",
        "/ui/account/profile/edit",
        "/ui/login/accounts",
    ],
    *["/.well-known/change-password", "/.well-known/oauth-authorization-server"],
    *["/ui/brand/preview.css", f"/ui/brand/{'x' * 43}/{'0' * 16}.png"],
]


def of(world: World) -> list[Request]:
    """One of each kind."""
    found = [request for client in world.clients.values() for request in _by(world, client)]
    found += [*_of_machine(world), *world.forms, *world.strangers, *_shown(world)]
    cookie = ((b"Cookie", world.cookie),)
    return [
        *found,
        *(Request(f"GET {path}", b"GET", path.encode(), (), None, cookie) for path in GETS),
    ]


def _by(world: World, client: Client) -> Iterator[Request]:
    yield from _authorizing(world, client)
    yield from _granting(world, client)
    yield from _asking(world, client)
    yield world.asking_for_codes(client)
    yield world.pushing(client)


def _authorizing(world: World, client: Client) -> Iterator[Request]:
    path, cookie = b"/oauth/v2/authorize", ((b"Cookie", world.cookie),)
    for response_type in TYPES:
        for mode in MODES:
            form = client.party.authorize_form(
                response_type=response_type,
                response_mode=mode,
                prompt="none",
                redirect_uri=CALLBACK,
                id_token_hint=client.held["id_token"],
                claims='{"userinfo":{"name":null},"id_token":{"acr":{"essential":true}}}',
                max_age="100",
                ui_locales="de en",
                acr_values="urn:idp:acr:password",
            )
            kind = f"authorize {response_type} {mode}"
            yield Request(kind, b"GET", path, pairs(form), None, cookie)
            yield Request(f"{kind} POST", b"POST", path, (), pairs(form), cookie)
    reference = {"client_id": client.party.client_id, "request_uri": client.held["request_uri"]}
    yield Request("authorize by reference", b"GET", path, pairs(reference), None, cookie)


def _granting(world: World, client: Client) -> Iterator[Request]:
    held = client.held
    yield world.redeeming(client)
    yield world.redeeming(client, "spare")
    yield client.post(
        "refresh",
        TOKEN,
        grant_type="refresh_token",
        refresh_token=held["refresh_token"],
        scope="openid profile offline_access",
    )
    yield client.post("client credentials", TOKEN, grant_type="client_credentials", scope="openid")
    yield client.post("device", TOKEN, grant_type=device.GRANT, device_code=held["device_code"])
    yield client.post(
        "token exchange",
        TOKEN,
        grant_type=exchanging.GRANT,
        subject_token=held["access_token"],
        subject_token_type=exchanging.ACCESS,
        actor_token=world.clients["client_secret_basic"].held["access_token"],
        actor_token_type=exchanging.ACCESS,
        requested_token_type=exchanging.JWT,
        audience=client.party.client_id,
        scope="openid offline_access",
    )


def _asking(world: World, client: Client) -> Iterator[Request]:
    held = client.held
    for name in ("access_token", "refresh_token"):
        yield client.post(f"introspect {name}", "/oauth/v2/introspect", token=held[name])
    yield client.post(
        "revoke", "/oauth/v2/revoke", token=held["implicit"], token_type_hint="access_token"
    )
    bearer = ((b"Authorization", b"Bearer " + held["access_token"].encode()),)
    path = b"/oidc/v1/userinfo"
    yield Request("userinfo", b"GET", path, (), None, bearer)
    in_form = pairs({"access_token": held["access_token"]})
    yield Request("userinfo by form", b"POST", path, (), in_form)
    form = pairs(
        {
            "id_token_hint": held["id_token"],
            "post_logout_redirect_uri": client.party.post_logout_redirect_uri,
            "state": "state-1",
            "client_id": client.party.client_id,
            "ui_locales": "ar",
        }
    )
    cookie = ((b"Cookie", world.cookie),)
    yield Request(
        "end_session without a hint", b"GET", b"/oidc/v1/end_session", form[1:], None, cookie
    )
    yield Request("end_session", b"POST", b"/oidc/v1/end_session", (), form, cookie)


def _of_machine(world: World) -> Iterator[Request]:
    form = {"grant_type": "client_credentials", "scope": "openid profile"}
    basic = ((b"Authorization", world.machine.basic()["Authorization"].encode()),)
    yield Request("service user's secret", b"POST", TOKEN.encode(), (), pairs(form), basic)
    in_form = form | {"client_id": world.machine.client_id, "client_secret": SECRET}
    yield Request("service user's secret in form", b"POST", TOKEN.encode(), (), pairs(in_form))
    form = {
        "grant_type": JWT_BEARER,
        "assertion": signed(world.machine_key, world.machine_key.claims()),
        "scope": "openid urn:idp:iam:org:projects:roles",
    }
    yield Request("JWT profile", b"POST", TOKEN.encode(), (), pairs(form))
    bearer = ((b"Authorization", b"Bearer " + world.pat.encode()),)
    yield Request("userinfo by PAT", b"GET", b"/oidc/v1/userinfo", (), None, bearer)


def _shown(world: World) -> Iterator[Request]:
    """The pages of the forms themselves."""
    for form in (*world.forms, *world.strangers):
        query = (*form.query, (b"lang", b"de"))
        yield Request(
            form.kind.replace("form", "page"), b"GET", form.path, query, None, form.headers
        )
    code = ((b"user_code", encoded(world.clients["none"].held["user_code"])),)
    yield Request("page of device by its link", b"GET", b"/ui/device", code)
