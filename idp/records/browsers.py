"""Browsers, the sessions in them, and requests that wait for a user's action."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from idp.records.clients import ResponseType
from storage import Collection, Record


class KnownUser(Struct, kw_only=True):
    """A user whose account knows the browser in whose record this is (`Browser.known`).

    It holds as long as `stamp` equals the user's security stamp and `browsers_stamp`
    (`idp/identity/sessions/known_browsers.py`).
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
    `factor_at` the last one by a second factor or a passkey. `connection_id` is the connection by
    whose provider the user has signed in, if any.

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
    connection_id: str | None = None


class SignInConnection(Struct, frozen=True):
    """A connection by whose provider a user was authenticated, its stamp then, and the link by
    which that was the user."""

    id: str
    stamp: str
    link_id: str


class AuthRequest(Record):
    """An authorization request during the sign-in of a user (OpenID Connect Core 3.1.2.1).

    A pushed request (RFC 9126) is stored in this form, too: its id is then the digest of the
    reference's secret, and `pushed_id` of the sign-ins that use it names it. The fields that are
    not parameters of the request are explained where they are defined.
    """

    client_id: str
    redirect_uri: str
    response_type: ResponseType
    response_mode: Literal["query", "fragment", "form_post"]
    scopes: list[str]
    created_at: datetime
    expires_at: datetime
    # The browser's id; None until the first page is opened, as a POST from another site has no
    # cookie.
    agent_id: str | None = None
    # Percent-encoded, so that any byte is returned as it was sent.
    state: str | None = None
    nonce: str | None = None
    prompt: list[str] = []
    max_age: int | None = None
    login_hint: str | None = None
    # The user in the `id_token_hint`, or the one that `claims` names.
    hinted_user_id: str | None = None
    ui_locales: str | None = None
    code_challenge: str | None = None
    # The parameter of that name, as JSON.
    claims: str | None = None
    # The requested classes, the preferred one first; with `is_acr_essential` one is required.
    acr_values: list[str] = []
    is_acr_essential: bool = False
    language: str | None = None
    # The login name that the user entered.
    login_name: str | None = None
    # The user who was authenticated by the methods `proven_amr` while another step is required.
    # It is valid while the browser's secret and the user's stamp stay the same. `proven_amr` is
    # empty if a code from a mail was used and a new password has to be chosen.
    proven_user_id: str | None = None
    proven_stamp: str | None = None
    proven_secret_hash: str | None = None
    proven_amr: list[str] = []
    # Set if the authentication of a session is part of it.
    proven_auth_time: datetime | None = None
    # Set if the user was authenticated by another identity provider.
    sign_in_connection: SignInConnection | None = None
    # The person at another identity provider who is linked to no user yet
    # (`idp/upstream/identities.py`).
    sealed_identity: str | None = None
    # The second factor that the user sets up in this sign-in, and the data for that
    # (`idp/oauth/sign_in/authentication_progress.py`).
    adding: Literal["totp", "passkey"] | None = None
    sealed_setup: str | None = None
    # The account that waits for the verification of its mailbox, and the organization in which
    # the user registers.
    registration_id: str | None = None
    home_org_id: str | None = None
    # The password reset, and when its mail was sent.
    reset_id: str | None = None
    reset_sent_at: datetime | None = None
    # The session that was chosen or created in this sign-in.
    session_id: str | None = None
    # The session whose password was entered in this sign-in.
    authenticated_session_id: str | None = None
    # The user who gave consent in this sign-in.
    consented_user_id: str | None = None
    # The device request that the user allows or denies.
    device_id: str | None = None
    # The organization whose pages are rendered, if it is not the client's.
    brand_org_id: str | None = None
    # There is no client: the sign-in ends at a page of the service.
    is_for_own_page: bool = False
    completed_at: datetime | None = None
    # The answer that completed it (`idp/oauth/endpoints/repeated_answers.py`).
    sealed_answer: str | None = None
    # The end of the sign-in, if it is not that of the record: a record of a request that was at
    # first only in the encrypted text in its pages' addresses
    # (`idp/oauth/endpoints/sealed_requests.py`) is stored for longer, so that this text can't
    # begin another sign-in.
    ends_at: datetime | None = None
    # The id of the pushed request that this sign-in uses.
    pushed_id: str | None = None


class Consent(Record):
    """The scopes and claims that a user allowed a third-party application; its id is the digest of
    the user's and the application's.

    A record that is older than its user or its application belonged to an earlier one with the
    same id, and is ignored. `org_id` is the user's organization. `claims` are the names of the
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

    `hinted_user_id` and `hinted_session_id` are the user and the session in an `id_token_hint`.
    `ended_session_ids` are the sessions that the logout has ended, if the browser has to load the
    front-channel addresses of applications.
    """

    expires_at: datetime
    client_id: str | None = None
    hinted_user_id: str | None = None
    hinted_session_id: str | None = None
    post_logout_redirect_uri: str | None = None
    state: str | None = None
    ui_locales: str | None = None
    ended_session_ids: list[str] = []


SHORT_RETENTION: Final = timedelta(minutes=10)  # for records that anonymous requests can create
BROWSERS: Final = Collection("agents", Browser, expires=True, retention=SHORT_RETENTION)
SESSIONS: Final = Collection(
    "sessions",
    Session,
    lists=(("agent_id", "ended_at"), ("user_id",), ("org_id", "ended_at", "created_at")),
    expires=True,
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
