"""Every page with a form that changes something: how a person gets there, and what completes it.

Another page is a function and a line in FORMS. Each returns the page and the fields that a person
fills in.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from idp.records import APPLICATIONS, PROJECTS
from storage import Update
from tests.support.browsers.authenticator import Device
from tests.support.browsers.visitor import Visitor
from tests.support.protocol.relying_party import RelyingParty
from tests.support.service import Server
from tests.support.sign_in import passkeys
from tests.support.sign_in.account import ACCOUNT, enter
from tests.support.sign_in.factors import code, give_app, give_codes, secret_of, set_rules
from tests.support.sign_in.registering import at_code, code_for
from tests.support.sign_in.resetting import (
    NEW_PASSWORD,
    at_reset,
    at_reset_code,
    give_address,
    newest,
)
from tests.support.sign_in.steps import Seen


@dataclass
class Place:
    """Where a person is."""

    server: Server
    visitor: Visitor
    party: RelyingParty

    async def sign_in(self):
        page = await self.visitor.sign_in(self.party.authorize_url(), *self.server.user)
        self.server.clock.advance(1)
        return page


async def _reset(place):
    await give_address(place.server)
    page = await at_reset(place.visitor, place.party)
    return page, {"loginName": page.inputs["loginName"]}


async def _reset_code(place):
    await give_address(place.server)
    page = await at_reset_code(place.visitor, place.party)
    return page, {"code": (await newest(place.visitor))["code"]}


async def _reset_password(place):
    page, fields = await _reset_code(place)
    return await place.visitor.submit(page, **fields), {"newPassword": NEW_PASSWORD}


async def _reset_link(place):
    await _reset_code(place)
    link = (await newest(place.visitor))["url"]
    place.visitor.cookies.clear()
    return await place.visitor.open(link), {"newPassword": NEW_PASSWORD}


async def _user_name(place):
    page = await at_code(place.visitor, place.party, userName=place.server.user[0])
    page = await place.visitor.submit(page, code=await code_for(place.visitor))
    return page, {"userName": "somebody-else"}


async def _offered(place):
    await set_rules(place.server, force_mfa=True)
    return await place.sign_in(), {"factor": "totp"}


async def _new_app(place):
    page, fields = await _offered(place)
    page = await place.visitor.submit(page, **fields)
    typed = {"code": code(place.server.clock, secret_of(page)), "deviceName": "Pixel 9"}
    return page, typed


async def _new_codes(place):
    page, typed = await _new_app(place)
    return await place.visitor.submit(page, **typed), {}


async def _app(place):
    await give_app(place.server)
    return await place.sign_in(), {"code": code(place.server.clock)}


async def _recovery(place):
    first, *_ = await give_codes(place.server)
    page, _ = await _app(place)
    page = await place.visitor.open(page.url.replace("/login/totp", "/login/recovery-code"))
    return page, {"code": first}


async def _new_passkey(place):
    await place.sign_in()
    page = await place.visitor.open(passkeys.NEW)
    made = Device(place.server.issuer).create(passkeys.options_of(page))
    return page, {"deviceName": "Phone", "passkey": made}


async def _passkey(place):
    await place.sign_in()
    device, _ = await passkeys.enrol(place.visitor, place.server)
    place.visitor.cookies.clear()
    page = await place.sign_in()
    return page, {"passkey": device.get(passkeys.options_of(page), user_handle=None)}


async def _consent(place):
    wiki = await place.server.register("Wiki", is_third_party=True)
    await place.sign_in()
    return await place.visitor.open(wiki.authorize_url()), {"decision": "allow"}


async def _not_allowed(place):
    wiki = await place.server.register("Wiki")
    client = await place.server.store.get(APPLICATIONS, wiki.client_id)
    required = {"requires_role": True}
    await place.sign_in()
    await place.server.store.commit(Update(PROJECTS, client.project_id, set=required))
    return await place.visitor.open(wiki.authorize_url()), {"decision": "cancel"}


def _own(path, **fields):
    """A form of the person's own account."""

    async def there(place):
        return await enter(place.server, place.visitor, path), fields

    return there


async def _own_password(place):
    page = await enter(place.server, place.visitor, "/password")
    return page, {"currentPassword": place.server.user[1], "newPassword": NEW_PASSWORD}


async def _confirming(place):
    page = await enter(place.server, place.visitor, "/email")
    page = await place.visitor.submit(page, email="dana@new.example")
    return page, {"verificationCode": await code_for(place.visitor, "dana@new.example")}


async def _own_app(place):
    await enter(place.server, place.visitor)
    page = await place.visitor.open(f"{ACCOUNT}/authenticator/new")
    return page, {"code": code(place.server.clock, secret_of(page)), "deviceName": "Pixel 9"}


async def _own_codes(place):
    await _app_signed_in(place)
    return await place.visitor.open(f"{ACCOUNT}/recovery-codes"), {}


async def _app_removal(place):
    await _app_signed_in(place)
    return await place.visitor.open(f"{ACCOUNT}/authenticator/remove"), {}


async def _app_signed_in(place):
    page, fields = await _app(place)
    await place.visitor.submit(page, **fields)


async def _passkey_name(place):
    await place.sign_in()
    _, page = await passkeys.enrol(place.visitor, place.server)
    (path,) = [link for link in _links(page) if link.endswith("/rename")]
    return await place.visitor.open(path), {"name": "Key ring"}


async def _logout(place):
    await place.sign_in()
    return await place.visitor.open("/oidc/v1/end_session"), {"decision": "logout"}


def _links(page):
    return [urlsplit(link).path for link in Seen(page).links]


FORMS = {
    "reset": _reset,
    "reset, code": _reset_code,
    "reset, new password": _reset_password,
    "reset, link": _reset_link,
    "user name": _user_name,
    "factor, offered": _offered,
    "factor, new app": _new_app,
    "factor, recovery codes": _new_codes,
    "factor, app": _app,
    "factor, recovery code": _recovery,
    "passkey, new": _new_passkey,
    "passkey": _passkey,
    "consent": _consent,
    "not-allowed": _not_allowed,
    "logout": _logout,
    "own password": _own_password,
    "own profile": _own(
        "/profile/edit", **{"profile.givenName": "Dina", "profile.familyName": "Demo"}
    ),
    "own e-mail": _own("/email", email="dana@new.example"),
    "own e-mail, code": _confirming,
    "own phone": _own("/phone", phone="+41791234567"),
    "own language": _own("/language", **{"profile.preferredLanguage": "de"}),
    "own app": _own_app,
    "own app, removal": _app_removal,
    "own recovery codes": _own_codes,
    "own passkey, name": _passkey_name,
}
