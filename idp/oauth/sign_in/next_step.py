"""The decision on the next step of an authorization request: a response, or one of the pages.

`decide` is a pure function of the request, the browser's open sessions and the time; the pages
call it again after every step. So a second tab, a reload or the back button cannot skip a step:
whatever the browser shows, the stored request and the sessions decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct

from idp.config.settings import Config
from idp.identity import authentication_context
from idp.identity.factors import second_factors
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions.lifetime import LiveSession
from idp.identity.users import lookup as user_lookup
from idp.identity.users.lookup import typed_key
from idp.oauth import reserved_scopes
from idp.oauth.errors import InteractionRequired, LoginRequired, OAuthError
from idp.oauth.sign_in import authentication_progress
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.required_actions import ActionKind, RequiredAction
from idp.oauth.tokens.allowed_users import AccessDecision
from idp.records import AuthRequest


class SignInPage(StrEnum):
    """A page of a sign-in on which the user acts."""

    LOGIN_NAME = "login-name"
    PASSWORD = "password"  # noqa: S105 - a page
    ACCOUNTS = "accounts"
    CHANGE_PASSWORD = "change-password"  # noqa: S105 - a page
    FACTOR = "factor"
    TOTP = "totp"
    RECOVERY_CODE = "recovery-code"
    FACTOR_OFFER = "factor-offer"
    TOTP_ENROL = "totp-enrol"
    RECOVERY_CODES = "recovery-codes"
    PASSKEY = "passkey"
    PASSKEY_ENROL = "passkey-enrol"
    ORGANIZATION = "organization"
    REGISTER = "register"
    VERIFY_EMAIL = "verify-email"
    USER_NAME = "user-name"
    RESET = "reset"
    RESET_CODE = "reset-code"
    CONSENT = "consent"
    DEVICE_CONFIRM = "device-confirm"
    NOT_ALLOWED = "not-allowed"
    IDP_ACCOUNT = "idp-account"
    IDP_LINK = "idp-link"


_NO_GROUNDS: Final = AccessDecision(None, None)


class Continue(Struct, frozen=True):
    """The step of a complete sign-in: the request is answered for the session's user.

    `decision` has the grounds by which the user may use the client; a page of the service has
    none.
    """

    live_session: LiveSession
    decision: AccessDecision = _NO_GROUNDS


class Refuse(Struct, frozen=True):
    """The step of a sign-in that ends with an error for the client.

    A page would be needed that `prompt=none` forbids, or the client's requirements cannot be met.
    """

    error: OAuthError


class ShowPage(Struct, frozen=True):
    """The step of a sign-in that needs the user to act on a page.

    `login_name` is set when only the password is missing, and `live_session` when only the consent
    of its user is. `progress` is that of a user who has authenticated in part; `factors` are the
    second factors that the page accepts, or that may be set up there; with `is_optional` the user
    may skip the page.
    """

    page: SignInPage
    login_name: str | None = None
    live_session: LiveSession | None = None
    progress: AuthenticationProgress | None = None
    factors: frozenset[str] = frozenset()
    is_optional: bool = False


class SufficientSession(Struct, frozen=True):
    """An intermediate result of `decide`: the session `live_session` can answer the request, if
    its user need not do something first.

    The caller then finds out whether a second factor or a new password is due.
    """

    live_session: LiveSession


Step: TypeAlias = Continue | Refuse | ShowPage


def decide(
    config: Config,
    request: AuthRequest,
    live_sessions: Sequence[LiveSession],
    now: datetime,
    *,
    remembers: bool = False,
    org_id: str | None = None,
) -> Step | SufficientSession:
    """Returns the next step of `request` in a browser with the sessions `live_sessions`.

    A result `Continue` does not mean that consent was given: the caller checks it. `remembers` is
    whether the browser remembers accounts. `org_id` is the organization that is signed in to:
    `login_hint` may also be a login name that is valid at this organization only.
    """
    if request.is_acr_essential and not authentication_context.can_meet(
        config, request.acr_values
    ):
        return Refuse(LoginRequired("no acr that claims demands can be reached here"))
    # First, so that neither the silent nor the interactive way can use a session of another
    # organization.
    live_sessions = admitted(config, request, live_sessions)
    if "none" in request.prompt:
        return _decide_silently(config, request, live_sessions, now, org_id)
    step = _decide_interactively(config, request, live_sessions, now, org_id)
    requests_choice = "select_account" in request.prompt and request.hinted_user_id is None
    # Remembered accounts can be chosen although none of them is signed in.
    if step == ShowPage(SignInPage.LOGIN_NAME) and remembers and requests_choice:
        return ShowPage(SignInPage.ACCOUNTS)
    return step


_PAGES: Final[Mapping[ActionKind, SignInPage]] = {
    ActionKind.FACTOR: SignInPage.FACTOR,
    ActionKind.PASSWORD: SignInPage.CHANGE_PASSWORD,
    ActionKind.CONFIRM_CODES: SignInPage.RECOVERY_CODES,
    ActionKind.ENROL: SignInPage.FACTOR_OFFER,
    ActionKind.OFFER: SignInPage.FACTOR_OFFER,
}
_FACTOR_PAGES: Final[Mapping[str, SignInPage]] = {
    second_factors.TOTP: SignInPage.TOTP,
    second_factors.PASSKEY: SignInPage.PASSKEY,
}
_ENROLMENT_PAGES: Final[Mapping[str | None, SignInPage]] = {
    second_factors.TOTP: SignInPage.TOTP_ENROL,
    second_factors.PASSKEY: SignInPage.PASSKEY_ENROL,
}


def step_of(
    request: AuthRequest, progress: AuthenticationProgress, action: RequiredAction
) -> Step:
    """Returns the step for the required action: its page, or the error if `prompt=none` forbids
    the page or the action is not possible."""
    if action.kind is ActionKind.NOT_POSSIBLE:
        return Refuse(LoginRequired("the user can't sign in with an acr that claims demands"))
    if "none" in request.prompt:
        return Refuse(InteractionRequired("a second factor of the user is missing"))
    page = (
        _ENROLMENT_PAGES[request.adding] if action.kind is ActionKind.ADD else _PAGES[action.kind]
    )
    if action.kind is ActionKind.FACTOR and len(action.factors) == 1:
        page = _FACTOR_PAGES[next(iter(action.factors))]
    is_optional = action.kind is ActionKind.OFFER or (
        action.kind is ActionKind.ADD and request.is_for_own_page
    )
    return ShowPage(page, progress=progress, factors=action.factors, is_optional=is_optional)


def _decide_interactively(
    config: Config,
    request: AuthRequest,
    live_sessions: Sequence[LiveSession],
    now: datetime,
    org_id: str | None,
) -> Step | SufficientSession:
    chosen = _chosen(request, live_sessions, org_id)
    must_authenticate = request.sealed_identity is not None and not _is_of_flow(request, chosen)
    if chosen is not None and _is_recent_enough(request, chosen, now) and not must_authenticate:
        if not _is_admitted(config, request, chosen):
            return ShowPage(SignInPage.ACCOUNTS)  # the page says why this session can't be used
        return _for_session(config, request, chosen, now)
    begun_page = _begun_page(request)
    if begun_page is not None:
        return begun_page
    if chosen is not None:
        # Signed in, but too long ago for this request: the same user authenticates again.
        return ShowPage(SignInPage.PASSWORD, login_name=chosen.subject.user.user_name)
    if "create" in request.prompt:
        return ShowPage(SignInPage.REGISTER)
    return ShowPage(
        SignInPage.ACCOUNTS
        if live_sessions and request.hinted_user_id is None
        else SignInPage.LOGIN_NAME
    )


def _begun_page(request: AuthRequest) -> ShowPage | None:
    """Returns the page on which the person continues the step that was begun, or None."""
    if request.reset_id is not None:
        return ShowPage(SignInPage.RESET_CODE, login_name=request.login_name)
    if request.login_name is not None:
        return ShowPage(SignInPage.PASSWORD, login_name=request.login_name)
    if request.registration_id is not None:
        return ShowPage(SignInPage.VERIFY_EMAIL)
    return ShowPage(SignInPage.IDP_ACCOUNT) if request.sealed_identity is not None else None


def _is_of_flow(request: AuthRequest, chosen: LiveSession | None) -> bool:
    """Returns whether the user of the session authenticated in this sign-in."""
    return chosen is not None and chosen.session.id == request.authenticated_session_id


def admitted(
    config: Config, request: AuthRequest, live_sessions: Sequence[LiveSession]
) -> list[LiveSession]:
    """Returns the sessions among `live_sessions` that may answer the request.

    If a scope names an organization, these are the sessions of its users; otherwise all. The
    session that was opened or picked in this flow is always among them.
    """
    return [
        live_session
        for live_session in live_sessions
        if live_session.session.id == request.session_id
        or _is_admitted(config, request, live_session)
    ]


def _is_admitted(config: Config, request: AuthRequest, live_session: LiveSession) -> bool:
    return reserved_scopes.admit(config, request.scopes, live_session.subject.organization)


def _for_session(
    config: Config, request: AuthRequest, chosen: LiveSession, now: datetime
) -> Step | SufficientSession:
    """Returns the step for the session that is chosen.

    Only the user whom `id_token_hint` or `claims` names may answer (OpenID Connect Core 3.1.2.1
    and 5.5.1), with the authentication that `claims` (5.5.1.1) and the user's organization
    require.
    """
    if request.hinted_user_id not in (None, chosen.subject.user.id):
        description = "another user signed in than the one of id_token_hint or claims"
        return Refuse(LoginRequired(description))
    is_enough = _is_strong_enough(request, chosen, now) and request.adding is None
    return Continue(chosen) if is_enough else SufficientSession(chosen)


def _is_strong_enough(request: AuthRequest, chosen: LiveSession, now: datetime) -> bool:
    reached = chosen.reached(now)
    # `acr_values` is voluntary: without a page no user can be asked for more.
    requested = [] if "none" in request.prompt else request.acr_values[:1]
    # The second factor is older than the organization allows, so it has to be repeated.
    has_factor_expired = (
        authentication_context.meets(chosen.session.acr, authentication_context.TWO_FACTORS)
        and reached == authentication_context.PASSWORD
    )
    required = authentication_progress.required_context(request, chosen.login, chosen.session.amr)
    return not has_factor_expired and all(
        authentication_context.meets(reached, each) for each in (required, *requested)
    )


def _decide_silently(
    config: Config,
    request: AuthRequest,
    live_sessions: Sequence[LiveSession],
    now: datetime,
    org_id: str | None,
) -> Step | SufficientSession:
    """OpenID Connect Core 3.1.2.1, `prompt=none`: a response or an error, never a page."""
    matching = [
        live_session
        for live_session in live_sessions
        if _matches_hints(request, live_session, org_id)
    ]
    if not matching:
        return Refuse(LoginRequired("the user is not signed in"))
    if len(matching) > 1:
        return Refuse(InteractionRequired("several users are signed in: one has to be chosen"))
    if not _is_recent_enough(request, matching[0], now):
        return Refuse(LoginRequired("the user has to authenticate again"))
    return _for_session(config, request, matching[0], now)


def _chosen(
    request: AuthRequest, live_sessions: Sequence[LiveSession], org_id: str | None
) -> LiveSession | None:
    """Returns the session that was opened or picked in this flow, or the only one that can be
    meant."""
    if request.session_id is not None:
        return next(
            (
                live_session
                for live_session in live_sessions
                if live_session.session.id == request.session_id
            ),
            None,
        )
    if request.login_name is not None or {"select_account", "create"} & set(request.prompt):
        return None
    if request.hinted_user_id is not None or request.login_hint is not None:
        matching = [
            live_session
            for live_session in live_sessions
            if _matches_hints(request, live_session, org_id)
        ]
        return matching[0] if len(matching) == 1 else None
    return live_sessions[0] if len(live_sessions) == 1 else None


def _matches_hints(request: AuthRequest, live_session: LiveSession, org_id: str | None) -> bool:
    """Returns whether the session matches `id_token_hint`, or else `login_hint`; without both,
    every one does."""
    user = live_session.subject.user
    if request.hinted_user_id is not None:
        return user.id == request.hinted_user_id
    if request.login_hint is not None:
        return typed_key(request.login_hint) in login_names(live_session, org_id)
    return True


def login_names(live_session: LiveSession, org_id: str | None) -> set[str]:
    """Returns all login names of the session's user, in the form in which they are compared
    (`login_key`).

    They are the user name, user name@primary domain, and the e-mail address if it is a login name
    for everybody or at the organization `org_id`.
    """
    user, organization = live_session.subject.user, live_session.subject.organization
    names, _ = user_lookup.login_names(organization, user.user_name, user.email)
    return names | user_lookup.address_keys(user, org_id)


def _is_recent_enough(request: AuthRequest, live_session: LiveSession, now: datetime) -> bool:
    """Returns whether the last authentication of the session is recent enough for this request."""
    if live_session.session.id == request.authenticated_session_id:
        return True  # the user authenticated for this request
    if "login" in request.prompt:
        return False
    allowed = live_session.check_seconds
    if request.max_age is not None:
        allowed = min(allowed, request.max_age)
    return allowed > 0 and session_lifetime.is_recent(live_session.session, allowed, now)
