"""Closing of a password to browsers that its account does not know, and the mail about it.

It is decided after the answer to a wrong attempt, so that the answer's time does not reveal who
has a passkey.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from msgspec import structs

from idp.foundation import logs
from idp.foundation.errors import FailedPrecondition
from idp.identity.factors import passkeys, webauthn
from idp.identity.guesses import streaks
from idp.identity.guesses.reports import AFTER_ANSWER_SECONDS
from idp.identity.users import memberships
from idp.limits import account_attempts, compare_and_set
from idp.mail import messages
from idp.mail.templates import guesses as guess_messages
from idp.policies import effective, page_settings
from idp.records import (
    FAILURE_STREAKS,
    INSTANCE_ID,
    INSTANCES,
    USERS,
    FailureStreak,
    User,
)
from idp.service import Service
from storage import Stale

_log: Final = logs.logger(__name__)


async def close_or_report(service: Service, user_id: str) -> None:
    """Decides whether an account with too many wrong passwords still accepts its password from
    unknown browsers, and stores that or sends the user a mail.

    It waits until the answer to the attempt was sent. An account without another way to sign in
    stays open at first, and is closed where a hundred passwords would be compared: then `idp admin
    reset-password` or another administrator sets a new one. The user of an account that is closed
    gets one mail for each series of wrong passwords.
    """
    await service.timer.sleep(AFTER_ANSWER_SECONDS)
    user, streak = await service.store.get_many([(USERS, user_id), (FAILURE_STREAKS, user_id)])
    if user is None or streak is None:
        return
    limits = account_attempts.limits_of(service.config)
    if streak.unknown < limits.max_unknown:
        return  # a sign-in succeeded meanwhile
    stays_open = not await _has_another_way_to_sign_in(service, user) or await _is_needed(
        service, user
    )
    is_closed = not stays_open or streak.unknown >= limits.max_slow
    if stays_open != streak.stays_open:
        await streaks.change(
            service, streak, lambda each: structs.replace(each, stays_open=stays_open)
        )
    elif is_closed and streak.told_at is None:
        with suppress(Stale):
            await _report_closed(service, user, streak)


async def _report_closed(service: Service, user: User, streak: FailureStreak) -> None:
    """One mail per streak: of two concurrent processes, one fails with Stale."""
    _log.warning(
        "an account is closed to unknown browsers: too many wrong passwords", user=user.id
    )
    reported = structs.replace(
        streak, told_at=service.clock.now(), revision=service.random.token(bits=64)
    )
    await service.store.commit(
        compare_and_set.write(FAILURE_STREAKS, streak, reported),
        *guess_messages.password_closed(service, user),
    )


async def _has_another_way_to_sign_in(service: Service, user: User) -> bool:
    """Whether the user can sign in without this password: by a code from a mail, or by a
    passkey."""
    has_verified_email = user.email is not None and user.email.is_verified
    if (
        has_verified_email
        and messages.is_readable(service.config)
        and await _is_reset_offered(service, user)
    ):
        return True
    login = (await page_settings.find(service, user.org_id)).login
    if webauthn.relying_party(service.config) is None or not login.allow_passwordless:
        return False
    return bool(await passkeys.of_user(service, user.id))


async def _is_reset_offered(service: Service, user: User) -> bool:
    """Whether the user's organization offers a new password by mail, and so do the service's own
    pages, to which the mail about the closed password links: these follow the installation's first
    organization."""
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    org_ids = {user.org_id, *([instance.org_id] if instance else [])}
    return all([await effective.offers_password_reset(service, org_id) for org_id in org_ids])


async def _is_needed(service: Service, user: User) -> bool:
    """Whether the user is the last active owner of the installation or of an organization."""
    try:
        await memberships.owner_guards(service, user.id)
    except FailedPrecondition:
        return True
    return False
