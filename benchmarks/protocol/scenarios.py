"""The scenarios: requests to the service, the same requests to the yardsticks, and the targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct

from benchmarks.protocol.load import ADDRESS, Flow, Step, held
from benchmarks.protocol.party import SCOPE, Client, Party
from benchmarks.protocol.steps import basic, bearer, get, post

BARE: Final = "bare"
IN_MEMORY: Final = "oidc-provider in memory"
OVER_SQLITE: Final = "oidc-provider over SQLite"
OVER_MONGODB: Final = "oidc-provider"

_BROWSER: Final = {"Accept": "text/html,*/*;q=0.8", "Accept-Language": "en-GB,en;q=0.9"}
_REFRESHED: Final = '"refresh_token":"([^"]+)"'
_CODE: Final = r"[?&]code=([^&\s]+)"


class Target(Struct, frozen=True):
    """A target: the processor time of the yardstick is `at_least` times the service's. A missed
    wish is printed, and is no failure."""

    store: str
    yardstick: str
    at_least: float
    is_wish: bool = False


class Scenario(Struct, frozen=True):
    """`flows` are the requests to a party; `signed` is the member of the last answer that the
    service signs for each request, so that the bare handler signs too."""

    flows: Callable[[Party], list[Flow]]
    is_common: bool = True  # oidc-provider has it, too
    has_bare: bool = True  # a bare handler can give the same answers
    has_password: bool = False
    signed: str = ""
    targets: tuple[Target, ...] = ()


def sign_in(party: Party, cookie: str, scope: str = SCOPE) -> Flow:
    """Returns an authorization request of a browser with a live session, and the exchange of its
    code for tokens."""
    headers = {"Cookie": f"{party.cookie_name}={cookie}"}
    asked = get(
        party.host, _authorize_path(party, scope), headers, status=303, takes={"code": _CODE}
    )
    return Flow([asked, _redemption(party)])


def _whole_sign_in(party: Party) -> list[Flow]:
    return [_in_new_browser(party, login_name) for login_name in party.login_names]


def _in_new_browser(party: Party, login_name: str) -> Flow:
    """Returns an authorization request, the forms of the login pages, of which each is the answer
    to the request before, and the exchange of the code for tokens."""
    filled = [
        {name: value.format(login_name) for name, value in form.items()} for form in party.forms
    ]
    hidden: dict[str, object] = {"is_browser": True}
    if party.hidden:
        hidden["takes"] = {"hidden": party.hidden}
    last = {"is_browser": True, "status": 303, "takes": {"code": _CODE}}
    expected = [*[hidden] * (len(filled) - 1), last]
    pages = [
        post(party.host, held(ADDRESS), form, _BROWSER, **each)
        for form, each in zip(filled, expected, strict=True)
    ]
    asked = get(party.host, _authorize_path(party, SCOPE), _BROWSER, **hidden)
    return Flow([asked, *pages, _redemption(party)])


def _authorize_path(party: Party, scope: str) -> str:
    query = {
        "client_id": party.web.id,
        "redirect_uri": party.redirect_uri,
        "response_type": "code",
        "scope": scope,
        "state": "a-state-of-the-usual-length",
        "nonce": "a-nonce-of-the-usual-length",
    }
    return f"{party.paths['authorize']}?{urlencode(query)}"


def _redemption(party: Party) -> Step:
    form = {
        "grant_type": "authorization_code",
        "code": held("code"),
        "redirect_uri": party.redirect_uri,
    }
    return _token(party, party.web, form)


def _token(party: Party, client: Client, form: dict[str, str], **expected: object) -> Step:
    headers = basic(client.id, client.secret)
    return post(party.host, party.paths["token"], form, headers, **expected)


def _oidc_session(party: Party) -> list[Flow]:
    return [sign_in(party, cookie) for cookie in party.cookies]


def _introspect(party: Party) -> list[Flow]:
    path, headers = party.paths["introspect"], basic(party.api.id, party.api.secret)
    return [Flow([post(party.host, path, {"token": token}, headers)]) for token in party.tokens]


def _user_info(party: Party) -> list[Flow]:
    return [_asked_who(party, token) for token in party.tokens]


def _machine_pat_login(party: Party) -> list[Flow]:
    return [_asked_who(party, machine.pat) for machine in party.machines]


def _asked_who(party: Party, token: str) -> Flow:
    return Flow([get(party.host, party.paths["userinfo"], bearer(token))])


def _client_credentials(party: Party) -> list[Flow]:
    form = {"grant_type": "client_credentials"}
    return [Flow([_token(party, machine.client, form)]) for machine in party.machines]


def _client_credentials_jwt(party: Party) -> list[Flow]:
    form = {"grant_type": "client_credentials", **party.jwt_form}
    return [Flow([_token(party, party.signer, form)]) for _ in party.machines]


def _refresh(party: Party) -> list[Flow]:
    form = {"grant_type": "refresh_token", "refresh_token": held("token")}
    step = _token(party, party.web, form, takes={"token": _REFRESHED})
    return [Flow([step], held={"token": token}) for token in party.refresh_tokens]


def _key_set(party: Party) -> list[Flow]:
    return _fetched(party, "keys")


def _discovery(party: Party) -> list[Flow]:
    return _fetched(party, "discovery")


def _fetched(party: Party, name: str) -> list[Flow]:
    """Returns a request for a document that is the same for everybody, once for each of the
    machines."""
    return [Flow([get(party.host, party.paths[name], {})]) for _ in party.machines]


def _asked(in_memory: float, over_mongodb: float | None = None) -> tuple[Target, ...]:
    """Returns the targets beside oidc-provider: its processor time by that of the service over
    SQLite, and the same with both over MongoDB."""
    targets = (Target("sqlite", IN_MEMORY, in_memory),)
    if over_mongodb is None:
        return targets
    return (*targets, Target("mongodb", OVER_MONGODB, over_mongodb))


SCENARIOS: Final[dict[str, Scenario]] = {
    "introspect": Scenario(_introspect, targets=_asked(1.0, 6)),
    "user_info": Scenario(_user_info, targets=_asked(1.0, 6)),
    "machine_pat_login": Scenario(_machine_pat_login, is_common=False),
    "machine_client_credentials_login": Scenario(
        _client_credentials,
        targets=(*_asked(0.85, 4), Target("sqlite", IN_MEMORY, 1.0, is_wish=True)),
    ),
    "machine_client_credentials_login_jwt": Scenario(
        _client_credentials_jwt, signed="access_token"
    ),
    "refresh": Scenario(_refresh, signed="id_token", targets=_asked(0.8, 4)),
    "key_set": Scenario(_key_set, targets=_asked(0.8)),
    "discovery": Scenario(_discovery, targets=_asked(0.8)),
    "oidc_session": Scenario(_oidc_session, signed="id_token"),
    "whole_sign_in": Scenario(
        _whole_sign_in, has_bare=False, has_password=True, targets=_asked(0.95, 1.3)
    ),
}
