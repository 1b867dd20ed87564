"""Browsers, the sessions in them, and requests that wait for a user's action."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from idp.records.clients import ResponseType
from storage import Collection, Record


class KnownUser(Struct, kw_only=True):
    """A user whose account knows the browser, as long as `stamp` equals the user's
    `browsers_stamp` (`known_browsers`).
    """

    user_id: str
    stamp: str


class Browser(Record):
    """A browser in which a form was sent: its cookie holds the id and a secret, which changes at
    every sign-in.

    `browser` and `system` are the names of the program and of its operating system, if known.
    `remembered` are the users who signed in here, the latest first, until they are removed from
    the list; `known` are those of them whose account knows the browser.
    """

    secret_hash: str
    created_at: datetime
    expires_at: datetime
    browser: str | None = None
    system: str | None = None
    remembered: list[str] = []
    known: list[KnownUser] = []


class Session(Record):
    """A user who is signed in at a browser. `auth_time` is the last authentication, and
    `factor_at` the last one by a second factor or a passkey.

    The record outlives the last token that names it; `expires_at` is the end of the record, not of
    the session.
    """

    agent_id: str
    user_id: str
    org_id: str
    stamps: str
    auth_time: datetime
    amr: list[str]
    acr: str
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime
    sequence: int = 1
    factor_at: datetime | None = None
    ended_at: datetime | None = None


class AuthRequest(Record):
    """An authorization request during the sign-in of a user (OpenID Connect Core 3.1.2.1).

    The sign-in ends at `ends_at`, or else with the record: a record of a request that was at first
    only in the encrypted text in its pages' addresses (`idp/oauth/endpoints/notes.py`) is stored
    longer than the sign-in lasts, so that this text can't begin another sign-in. `agent_id` is the
    browser's id, None until the first page is opened (a cross-site POST has no cookie). `state` is
    stored percent-encoded, so that any byte is returned as it was sent. `login_name` is what the
    user typed. `proven_user_id` is set when the user was authenticated by `proven_amr` but another
    step is required; it is valid while the browser's secret and the user's stamp stay the same.
    `proven_auth_time` is set if a session's authentication is included; `proven_amr` is empty if a
    code from a mail was used and a new password has to be chosen. `registration_id` is the account
    that waits for the verification of its mailbox, `reset_id` the password reset whose mail was
    sent at `reset_sent_at`. `session_id` is the session that was chosen or created here,
    `authenticated_session_id` the one whose password was entered here; `consented_user_id` is the
    user who gave consent here. `device_id` is the device request that the user allows or denies.
    `brand_org_id` is the organization whose pages are rendered if it is not the client's. With
    `is_for_own_page` there is no client: the sign-in ends at a page of the service. `adding` is
    the factor that the user sets up here, and `sealed_setup` the data for that
    (`idp/oauth/sign_in/factor_enrolment.py`). `home_org_id` is the organization in which the user
    registers. `claims` is the parameter of that name, as JSON. `acr_values` are the requested
    classes, the preferred one first; with `is_acr_essential` one of them is required. A pushed
    request (RFC 9126) is stored in this form, too: its id is then the digest of the reference's
    secret, and `pushed_id` of the requests that use it names it.
    """

    client_id: str
    redirect_uri: str
    response_type: ResponseType
    response_mode: Literal["query", "fragment", "form_post"]
    scopes: list[str]
    created_at: datetime
    expires_at: datetime
    agent_id: str | None = None
    state: str | None = None
    nonce: str | None = None
    prompt: list[str] = []
    max_age: int | None = None
    login_hint: str | None = None
    hinted_user_id: str | None = None
    ui_locales: str | None = None
    code_challenge: str | None = None
    claims: str | None = None
    acr_values: list[str] = []
    is_acr_essential: bool = False
    language: str | None = None
    login_name: str | None = None
    proven_user_id: str | None = None
    proven_stamp: str | None = None
    proven_secret_hash: str | None = None
    proven_amr: list[str] = []
    proven_auth_time: datetime | None = None
    adding: Literal["totp", "passkey"] | None = None
    sealed_setup: str | None = None
    registration_id: str | None = None
    home_org_id: str | None = None
    reset_id: str | None = None
    reset_sent_at: datetime | None = None
    session_id: str | None = None
    authenticated_session_id: str | None = None
    consented_user_id: str | None = None
    device_id: str | None = None
    brand_org_id: str | None = None
    is_for_own_page: bool = False
    completed_at: datetime | None = None
    ends_at: datetime | None = None
    pushed_id: str | None = None


class Consent(Record):
    """The scopes and claims that a user allowed a third-party application; its id is the digest of
    the user's and the application's.

    A record that is older than its user or its application belonged to an earlier one with the
    same id, and does not count. `org_id` is the user's organization. `claims` are the names of the
    claims that no allowed scope contains.
    """

    user_id: str
    client_id: str
    scopes: list[str]
    created_at: datetime
    changed_at: datetime
    org_id: str | None = None
    sequence: int = 1
    claims: list[str] = []


class LogoutRequest(Record):
    """A logout that waits for the browser or the user's confirmation (RP-Initiated Logout 2).

    `hinted_user_id` is the user in an `id_token_hint`. `ended_session_ids` are the sessions that
    the logout has ended, if the browser has to load the front-channel addresses of applications.
    """

    expires_at: datetime
    client_id: str | None = None
    hinted_user_id: str | None = None
    post_logout_redirect_uri: str | None = None
    state: str | None = None
    ui_locales: str | None = None
    ended_session_ids: list[str] = []


SHORT_RETENTION: Final = timedelta(minutes=10)  # for records that anonymous requests can create
AGENTS: Final = Collection("agents", Browser, expires=True, retention=SHORT_RETENTION)
SESSIONS: Final = Collection(
    "sessions", Session, lists=(("agent_id", "ended_at"), ("user_id",)), expires=True
)
AUTH_REQUESTS: Final = Collection(
    "auth_requests", AuthRequest, expires=True, retention=SHORT_RETENTION
)
PUSHED_REQUESTS: Final = Collection(
    "pushed_requests", AuthRequest, expires=True, retention=SHORT_RETENTION
)
CONSENTS: Final = Collection("consents", Consent, lists=(("user_id",), ("client_id",)))
LOGOUT_REQUESTS: Final = Collection(
    "logout_requests", LogoutRequest, expires=True, retention=SHORT_RETENTION
)
