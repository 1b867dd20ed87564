"""Password changes by the users themselves outside of a sign-in: while signed in, or at set-up."""

from __future__ import annotations

from idp import changes
from idp.identity.factors import second_factors
from idp.identity.sessions import browsers, password_check, sign_ins
from idp.identity.sessions import creation as session_creation
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions.browsers import Cookie
from idp.identity.sessions.lifetime import LiveSession
from idp.identity.users import password_change
from idp.identity.users.subjects import Subject
from idp.limits.origin import AttemptOrigin
from idp.records import BROWSERS, Browser
from idp.service import Service
from storage import Conflict, Stale, Write


async def verify_password(
    service: Service, live_session: LiveSession, password: str, origin: AttemptOrigin
) -> Subject:
    """Checks the present password of the session's user, and returns the user as stored now.

    Attempts are limited as those of a sign-in. Raises password_check.SignInRefused, Throttled,
    HashingBusy.
    """
    checked = await password_check.check_current(
        service, live_session.subject.user, password, origin
    )
    await password_check.succeeded(service, checked)
    return checked.subject


async def replace(
    service: Service, browser: Browser, live_session: LiveSession, subject: Subject, password: str
) -> Cookie:
    """Replaces the password of `subject`, and the session `live_session` by a new one with the
    same other methods, in one unit. Returns the browser's new cookie.

    `subject` is what `verify_password` returned. All other sessions and tokens of the user end
    with the old security stamp. Raises HashingBusy; Stale if the password or the session changed
    concurrently.
    """
    change = await password_change.prepare(service, subject, password, actor=subject.user.id)
    methods = live_session.methods(service.clock.now())
    opened = session_creation.prepare(
        service,
        browser,
        change.subject,
        (),
        tuple(dict.fromkeys([*session_lifetime.PASSWORD, *methods])),
        factor_at=live_session.session.factor_at,
    )
    end_writes = session_lifetime.end_writes_without_messages(service, live_session.session)
    await changes.store(service, *change.writes, *opened.writes, *end_writes)
    return opened.cookie


async def verify_one_time(
    service: Service, login_name: str, password: str, origin: AttemptOrigin
) -> Subject:
    """Checks a one-time password and returns its user. Attempts are limited as those of a sign-in.

    Raises password_check.SignInRefused, also for a password that need not be changed; Throttled,
    HashingBusy.
    """
    checked = await password_check.check_password(service, login_name, password, origin)
    subject = checked.subject
    if subject.user.password is None or not subject.user.password.must_change:
        raise password_check.SignInRefused("unusable")
    await password_check.succeeded(service, checked)
    return subject


async def replace_one_time(
    service: Service,
    browser: Browser | None,
    subject: Subject,
    password: str,
    *further_writes: Write,
) -> Cookie | None:
    """Replaces the one-time password and signs its user in, in one unit with the writes in
    `further_writes`, so that it is used once. A user who needs a second factor is not signed in,
    and gets no cookie.

    Raises HashingBusy; Stale if the password was used or replaced meanwhile; Conflict of the other
    writes.
    """
    change = await password_change.prepare(service, subject, password, actor=subject.user.id)
    writes = [*change.writes, *further_writes]
    if await second_factors.is_asked_for(service, subject.user):
        await changes.store(service, *writes)
        return None
    browser = browser or browsers.new(service).browser
    opened = session_creation.prepare(service, browser, change.subject, ())
    try:
        await changes.store(service, *writes, *opened.writes)
    except Conflict as error:  # a new browser has sent two forms at once
        if error.collection != BROWSERS.name:
            raise
        raise Stale(BROWSERS.name, browser.id) from error
    sign_ins.count(service, subject.user, opened.session.amr)
    return opened.cookie
