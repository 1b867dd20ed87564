"""The authentication methods that a user has completed in an unfinished sign-in, and the missing
ones."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from msgspec import Struct, structs

from idp.foundation.opaque_tokens import Confidential
from idp.identity import authentication_context
from idp.identity.factors import second_factors
from idp.identity.sessions.lifetime import LiveSession
from idp.identity.users import lookup as user_lookup
from idp.identity.users import password_change
from idp.identity.users.subjects import Subject, is_active
from idp.oauth.sign_in import required_actions
from idp.oauth.sign_in.required_actions import RequiredAction, Situation
from idp.policies import page_settings
from idp.records import AuthRequest, Browser, LoginRules, Session, User, sealed_fields
from idp.records.browsers import SignInConnection
from idp.service import Service
from idp.upstream import links

NOTHING: Final[Mapping[str, Any]] = {
    "proven_user_id": None,
    "proven_stamp": None,
    "proven_secret_hash": None,
    "proven_amr": [],
    "proven_auth_time": None,
    "sign_in_connection": None,
    "sealed_setup": None,
}


class AuthenticationProgress(Struct, frozen=True):
    """The user of an unfinished sign-in and the authentication methods completed so far.

    The methods are values of `amr` (`idp.identity.authentication_context`). If they add to those
    of an open session, `auth_time` is that session's; otherwise it is None. `connection` is the
    one by which the user has signed in at another provider, if any.
    """

    subject: Subject
    amr: tuple[str, ...] = ()
    auth_time: datetime | None = None
    connection: SignInConnection | None = None

    def with_methods(self, *methods: str) -> AuthenticationProgress:
        """Returns the progress of the same user with `methods` authentication methods, as values
        of `amr`."""
        return structs.replace(self, amr=tuple(dict.fromkeys([*self.amr, *methods])))

    def with_user(self, user: User) -> AuthenticationProgress:
        """Returns the same progress with `user` as the changed record of its user."""
        return structs.replace(self, subject=structs.replace(self.subject, user=user))


async def find(
    service: Service, request: AuthRequest, browser: Browser | None, sessions: Sequence[Session]
) -> AuthenticationProgress | None:
    """Returns the authentication progress stored in `request`; None if there is none or it is not
    valid.

    It becomes invalid when the browser's secret or the user's security stamp changes, or when the
    session that it adds to is not among `sessions`, the browser's open sessions.
    """
    if request.proven_user_id is None or browser is None:
        return None
    if request.proven_secret_hash != browser.secret_hash:
        return None  # a logout or another sign-in since then has made it invalid
    subject = await user_lookup.find_subject(service, request.proven_user_id)
    # The stamp changes with a new password or factor: what was authenticated before is then
    # invalid.
    if subject is None or not is_active(subject) or subject.user.stamp != request.proven_stamp:
        return None
    owner = (subject.user.id, request.proven_auth_time)
    if owner[1] is not None and owner not in [
        (session.user_id, session.auth_time) for session in sessions
    ]:
        return None
    connection = request.sign_in_connection
    if connection is not None and not await links.is_valid(service, connection, subject.user.id):
        return None
    return AuthenticationProgress(
        subject, tuple(request.proven_amr), request.proven_auth_time, connection
    )


def stored_fields(browser: Browser, progress: AuthenticationProgress) -> dict[str, Any]:
    """Returns the fields, by name, that store this progress in the record of an authorization
    request.

    They bind it to the current secret of `browser` and the user's security stamp.
    """
    return {
        "proven_user_id": progress.subject.user.id,
        "proven_stamp": progress.subject.user.stamp,
        "proven_secret_hash": browser.secret_hash,
        "proven_amr": list(progress.amr),
        "proven_auth_time": progress.auth_time,
        "sign_in_connection": progress.connection,
    }


async def confirm(service: Service, progress: AuthenticationProgress) -> None:
    """Checks, once the session is stored, that the connection by which the user has signed in and
    the link are still there (`idp.upstream.links.confirm`). Raises Stale after ending it."""
    if progress.connection is not None:
        await links.confirm(service, progress.connection, progress.subject.user.id)


def of_session(live_session: LiveSession, now: datetime) -> AuthenticationProgress:
    """Returns the progress of a session's user: the methods of the session that are still
    valid."""
    return AuthenticationProgress(
        live_session.subject, live_session.methods(now), live_session.session.auth_time
    )


async def next_action(
    service: Service, request: AuthRequest, progress: AuthenticationProgress
) -> RequiredAction | None:
    """Returns the next action that the user has to take before the request is answered, or
    None."""
    user = progress.subject.user
    rules = (await page_settings.find(service, user.org_id)).login
    allowed = second_factors.allowed(service.config, rules)
    needs_password, factor_kinds = await asyncio.gather(
        _needs_password(service, progress), second_factors.of_user(service, user)
    )
    methods = [*progress.amr, *([authentication_context.AMR_PASSWORD] if needs_password else [])]
    return required_actions.next_action(
        Situation(
            reached=authentication_context.acr_of(methods),
            required=required_context(request, rules, progress.amr),
            requested=request.acr_values[0]
            if request.acr_values
            else authentication_context.PASSWORD,
            factors=factor_kinds & allowed,
            addable=allowed,
            needs_password=needs_password,
            is_adding=request.adding is not None,
            has_unconfirmed_codes=_has_unconfirmed_codes(service, request, user),
            # An open session is not interrupted by the offer of a second factor.
            offers=progress.auth_time is None and _offers(service, user, rules),
        )
    )


def required_context(request: AuthRequest, rules: LoginRules, methods: Collection[str]) -> str:
    """Returns the weakest authentication context (`acr`) with which the user may sign in.

    It is the stronger one of the client's requirement and that of `rules`, those of the user's
    organization. `methods` are those used so far: `force_mfa_local_only` does not apply to
    a sign-in at another provider.
    """
    # Of several acceptable contexts the weakest is enough for the client.
    by_client = (
        authentication_context.weakest(request.acr_values)
        if request.is_acr_essential
        else authentication_context.PASSWORD
    )
    is_local = authentication_context.AMR_FEDERATED not in methods
    is_forced = rules.force_mfa or (rules.force_mfa_local_only and is_local)
    return authentication_context.strongest(
        by_client,
        authentication_context.TWO_FACTORS if is_forced else authentication_context.PASSWORD,
    )


async def _needs_password(service: Service, progress: AuthenticationProgress) -> bool:
    """Returns whether the user has to choose a password: a change is due, or the user signed in by
    a mailed code instead of a password."""
    if (
        progress.auth_time is not None
        or authentication_context.acr_of(progress.amr) == authentication_context.PASSKEY
    ):
        return False
    if authentication_context.AMR_FEDERATED in progress.amr:
        return False
    if authentication_context.AMR_PASSWORD not in progress.amr:
        return True
    return await password_change.is_due(service, progress.subject.user)


def _has_unconfirmed_codes(service: Service, request: AuthRequest, user: User) -> bool:
    enrolment = find_enrolment(service, request, user)
    return bool(enrolment and enrolment.codes)


def _offers(service: Service, user: User, rules: LoginRules) -> bool:
    if not rules.offer_factor_seconds:
        return False
    offer_interval = timedelta(seconds=rules.offer_factor_seconds)
    declined_at = user.factor_declined_at
    return declined_at is None or service.clock.now() >= declined_at + offer_interval


# The secret of an app that is not confirmed yet, and then the recovery codes until they are saved.
_ENROLMENT_PURPOSE: Final = sealed_fields.FACTOR_SETUP.purpose


class FactorEnrolment(Confidential, frozen=True):
    """An unfinished enrolment of a second factor: the app's `secret`, or the recovery `codes`.

    It is for one user: another user who signs in in the same flow does not get it.
    """

    user_id: str
    secret: str | None = None
    codes: list[str] = []


def seal_enrolment(service: Service, enrolment: FactorEnrolment) -> str:
    """Returns the encrypted enrolment, as the request's record stores it."""
    return service.master_key.seal(msgspec.json.encode(enrolment), _ENROLMENT_PURPOSE)


def find_enrolment(service: Service, request: AuthRequest, user: User) -> FactorEnrolment | None:
    """Returns the unfinished enrolment of this user in a request, or None."""
    if request.sealed_setup is None:
        return None
    data = service.master_key.open(request.sealed_setup, _ENROLMENT_PURPOSE)
    enrolment = msgspec.json.decode(data, type=FactorEnrolment)
    return enrolment if enrolment.user_id == user.id else None
