"""The scenarios: requests to the service, the same requests to the yardsticks, and the targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct

from benchmarks.protocol.load import HELD, PendingSignIn, Step
from benchmarks.protocol.party import SCOPE, Client, Party
from benchmarks.protocol.steps import basic, bearer, get, post

_REFRESHED: Final = '"refresh_token":"([^"]+)"'
_CODE: Final = r"[?&]code=([^&\s]+)"


class Target(Struct, frozen=True):
    """A target: the processor time of the yardstick is `at_least` times the service's."""

    store: str
    yardstick: str
    at_least: float


class Scenario(Struct, frozen=True):
    """`flows` are the requests to a party; `signed` is the member of the last answer that the
    service signs for each request, so that the bare handler signs too."""

    flows: Callable[[Party], list[PendingSignIn]]
    is_common: bool = True  # oidc-provider has it, too
    signed: str = ""
    targets: tuple[Target, ...] = ()


def sign_in(party: Party, cookie: str, scope: str = SCOPE) -> PendingSignIn:
    """Returns an authorization request of a browser with a live session, and the exchange of its
    code for tokens."""
    query = {
        "client_id": party.web.id,
        "redirect_uri": party.redirect_uri,
        "response_type": "code",
        "scope": scope,
        "state": "a-state-of-the-usual-length",
        "nonce": "a-nonce-of-the-usual-length",
    }
    path = f"{party.paths['authorize']}?{urlencode(query)}"
    asked = get(
        party.host, path, {"Cookie": f"{party.cookie_name}={cookie}"}, status=303, takes=_CODE
    )
    form = {"grant_type": "authorization_code", "code": HELD, "redirect_uri": party.redirect_uri}
    return PendingSignIn([asked, _token(party, party.web, form)])


def _token(party: Party, client: Client, form: dict[str, str], takes: str = "") -> Step:
    headers = basic(client.id, client.secret)
    return post(party.host, party.paths["token"], form, headers, takes)


def _oidc_session(party: Party) -> list[PendingSignIn]:
    return [sign_in(party, cookie) for cookie in party.cookies]


def _introspect(party: Party) -> list[PendingSignIn]:
    path, headers = party.paths["introspect"], basic(party.api.id, party.api.secret)
    return [
        PendingSignIn([post(party.host, path, {"token": token}, headers)])
        for token in party.tokens
    ]


def _user_info(party: Party) -> list[PendingSignIn]:
    return [_asked_who(party, token) for token in party.tokens]


def _machine_pat_login(party: Party) -> list[PendingSignIn]:
    return [_asked_who(party, machine.pat) for machine in party.machines]


def _asked_who(party: Party, token: str) -> PendingSignIn:
    return PendingSignIn([get(party.host, party.paths["userinfo"], bearer(token))])


def _client_credentials(party: Party) -> list[PendingSignIn]:
    form = {"grant_type": "client_credentials"}
    return [PendingSignIn([_token(party, machine.client, form)]) for machine in party.machines]


def _client_credentials_jwt(party: Party) -> list[PendingSignIn]:
    form = {"grant_type": "client_credentials", **party.jwt_form}
    return [PendingSignIn([_token(party, party.signer, form)]) for _ in party.machines]


def _refresh(party: Party) -> list[PendingSignIn]:
    form = {"grant_type": "refresh_token", "refresh_token": HELD}
    return [
        PendingSignIn([_token(party, party.web, form, takes=_REFRESHED)], held=token)
        for token in party.refresh_tokens
    ]


def _key_set(party: Party) -> list[PendingSignIn]:
    return _fetched(party, "keys")


def _discovery(party: Party) -> list[PendingSignIn]:
    return _fetched(party, "discovery")


def _fetched(party: Party, name: str) -> list[PendingSignIn]:
    """Returns a request for a document that is the same for everybody, once for each of the
    machines."""
    return [PendingSignIn([get(party.host, party.paths[name], {})]) for _ in party.machines]


def _asked(on_sqlite: float, on_mongodb: float, times_oidc_provider: float) -> tuple[Target, ...]:
    return (
        Target("sqlite", "bare", on_sqlite),
        Target("mongodb", "bare", on_mongodb),
        Target("mongodb", "oidc-provider", times_oidc_provider),
    )


SCENARIOS: Final[dict[str, Scenario]] = {
    "introspect": Scenario(_introspect, targets=_asked(0.7, 0.5, 4)),
    "user_info": Scenario(_user_info, targets=_asked(0.7, 0.5, 4)),
    "machine_pat_login": Scenario(_machine_pat_login, is_common=False),
    "machine_client_credentials_login": Scenario(_client_credentials, targets=_asked(0.7, 0.5, 2)),
    "machine_client_credentials_login_jwt": Scenario(
        _client_credentials_jwt, signed="access_token", targets=(Target("sqlite", "bare", 0.75),)
    ),
    "refresh": Scenario(_refresh, signed="id_token"),
    "key_set": Scenario(_key_set),
    "discovery": Scenario(_discovery),
    "oidc_session": Scenario(_oidc_session, signed="id_token"),
}
