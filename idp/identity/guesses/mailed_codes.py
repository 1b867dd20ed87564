"""Limits on guesses at codes that anyone may have sent again.

Five attempts at each code are not enough where another one can be requested. So wrong codes for a
new password are counted in the account's streak over all its codes, and those that verify an
address or a number for that over all accounts. Links in the same mails have a long secret and are
not limited.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from msgspec import structs

from idp.foundation import logs
from idp.identity.factors import mail_codes
from idp.identity.factors.mail_codes import MailCodeRefused
from idp.identity.guesses import account_names, login_name_backoffs, mail_limits, streaks
from idp.identity.guesses import reports as guess_reports
from idp.identity.guesses.reports import Cause, Outcome
from idp.limits import account_attempts
from idp.limits.account_attempts import MAX_CODES
from idp.limits.origin import AttemptOrigin
from idp.mail.templates import guesses as guess_messages
from idp.records import FAILURE_STREAKS, LOGIN_NAME_BACKOFFS, User
from idp.service import Service

CONTACT_WINDOW: Final = timedelta(hours=24)
_log: Final = logs.logger(__name__)


async def is_open_to(service: Service, user: User | None, name: str, *, is_known: bool) -> bool:
    """Counts an attempt at a code for a new password of the user, before it is compared; returns
    whether the account still accepts such codes.

    Only a browser that this account knows (`is_known`) is not counted. Without a user (None), for
    the login name `name`, it makes the same writes and counts nothing. At the last attempt that is
    accepted the user gets a mail.
    """
    if user is None or is_known:
        account = account_names.account(service, user, name)
        backoff = await service.store.get(LOGIN_NAME_BACKOFFS, account)
        await login_name_backoffs.write_decoy(service, account, backoff)
        return True

    stored = await service.store.get(FAILURE_STREAKS, user.id)
    attempt = await streaks.count(service, user.id, stored, account_attempts.with_mail_code)
    if attempt.streak.mail_codes == MAX_CODES:
        mails = guess_messages.codes_closed(service, user)
        service.background_tasks.start(guess_reports.mail_after_answer(service, mails))
    return not attempt.is_closed


async def accepted(service: Service, user: User) -> None:
    """Ends the count of wrong codes of the user after a right one."""
    streak = await service.store.get(FAILURE_STREAKS, user.id)
    if streak is not None and streak.mail_codes:
        await streaks.change(service, streak, lambda each: structs.replace(each, mail_codes=0))


def refused(
    service: Service, user: User | None, name: str, origin: AttemptOrigin, *, is_closed: bool
) -> None:
    """Reports a code for a new password that was not accepted: `name` is the login name that was
    typed."""
    cause: Cause = "closed" if is_closed else "wrong" if user else "unknown"
    user_id, org_id = (user.id, user.org_id) if user else (None, None)
    outcome = Outcome(cause, "mail_code", origin, user_id, name, org_id=org_id)
    guess_reports.report(service, outcome)


async def check_contact(
    service: Service, expected: str | None, issue: str, address: str, typed: str
) -> None:
    """Checks a code that verifies an e-mail address or a phone number, and counts
    it before that, for the mail and for the address. Raises MailCodeRefused, with the error code
    `code.closed` beyond 50 wrong ones in a day."""
    await mail_codes.count(service, issue)
    key = f"contact-codes:{mail_limits.mailbox_key(service, address)}"
    counter = await service.store.increment(key, window=CONTACT_WINDOW)
    if counter.n > MAX_CODES:
        _log.warning("codes for an address are closed for a day: too many were wrong")
        text = "too many wrong codes were entered for this address or number: try again tomorrow"
        raise MailCodeRefused(text, error_code="code.closed")
    mail_codes.compare(service, expected, issue, address, typed)
    await service.store.reset(key)
