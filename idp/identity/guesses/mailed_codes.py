"""Limits on guesses at codes that anyone may have sent again.

Five attempts at each code are not enough where another one can be requested. So wrong codes for a
new password are counted in the account's streak over all its codes, and those that verify an
address or a number for that over all accounts. Links in the same mails have a long secret and are
not limited.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from idp.foundation import logs
from idp.identity.factors import mail_codes
from idp.identity.factors.mail_codes import MailCodeRefused
from idp.identity.guesses import reports as guess_reports
from idp.identity.guesses import streaks as guess_streaks
from idp.identity.guesses import throttle
from idp.identity.guesses.origin import AttemptOrigin
from idp.identity.guesses.reports import Cause, Outcome
from idp.identity.users.lookup import login_key
from idp.mail.templates import guesses as guess_messages
from idp.records import User
from idp.service import Service

MAX_CODES: Final = 50
CONTACT_WINDOW: Final = timedelta(hours=24)
_AFTER_ANSWER_SECONDS: Final = 0.1
_log: Final = logs.logger(__name__)


async def is_open_to(service: Service, user: User | None, name: str, *, is_known: bool) -> bool:
    """Counts an attempt at a code for a new password of the user, before it is compared; returns
    whether the account still accepts such codes.

    Only a browser that this account knows (`is_known`) is not counted. Without a user (None), for
    the login name `name`, it writes as much and stores nothing. At the last attempt that is
    accepted the user gets a mail.
    """
    if user is None or is_known:
        (_, key), _ = throttle.keys(service, throttle.account_of(user, name))
        await service.store.increment(key, 0, window=throttle.WINDOW)
        return True
    stored = await guess_streaks.find(service, user.id)
    streak = await guess_streaks.count(service, user.id, stored, "mail_codes")
    if streak.mail_codes == MAX_CODES:
        service.background_tasks.start(_report_closed(service, user))
    return streak.mail_codes <= MAX_CODES


async def accepted(service: Service, user: User) -> None:
    """Ends the count of wrong codes of the user after a right one."""
    streak = await guess_streaks.find(service, user.id)
    if streak is not None and streak.mail_codes:
        await guess_streaks.end(service, streak, ("mail_codes",))


def refused(
    service: Service, user: User | None, name: str, origin: AttemptOrigin, *, is_closed: bool
) -> None:
    """Reports a code for a new password that was not accepted: `name` is the login name that was
    typed."""
    cause: Cause = "closed" if is_closed else "wrong" if user else "unknown"
    user_id = user.id if user else None
    guess_reports.report(service, Outcome(cause, "mail_code", origin, user_id, name))


async def check_contact(
    service: Service, expected: str | None, issue: str, address: str, typed: str
) -> None:
    """Checks a code that verifies an e-mail address or a phone number, as `mail_codes.check` does,
    and counts it for the address before it is compared. Raises MailCodeRefused, with the error
    code `code.closed` beyond 50 wrong ones in a day."""
    key = f"contact-codes:{service.master_key.mac('mailbox', login_key(address)).hex()[:32]}"
    counter = await service.store.increment(key, window=CONTACT_WINDOW)
    if counter.n > MAX_CODES:
        _log.warning("codes for an address are closed for a day: too many were wrong")
        text = "too many wrong codes were entered for this address or number: try again tomorrow"
        raise MailCodeRefused(text, error_code="code.closed")
    await mail_codes.check(service, expected, issue, address, typed)
    await service.store.reset(key)


async def _report_closed(service: Service, user: User) -> None:
    # After the answer, so that its duration does not depend on the mail.
    await service.timer.sleep(_AFTER_ANSWER_SECONDS)
    mails = guess_messages.codes_closed(service, user)
    if mails:
        await service.store.commit(*mails)
