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
from idp.identity.guesses import account_names, counting
from idp.identity.guesses import reports as guess_reports
from idp.identity.guesses.reports import Cause, Outcome
from idp.identity.users.lookup import login_key
from idp.limits.account_attempts import MAX_CODES
from idp.limits.compare_and_set import ReadRecord
from idp.limits.origin import AttemptOrigin
from idp.mail.templates import guesses as guess_messages
from idp.records import FAILURE_STREAKS, LOGIN_NAME_BACKOFFS, FailureStreak, User
from idp.service import Service

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
        account = account_names.account(service, user, name)
        backoff = await service.store.get(LOGIN_NAME_BACKOFFS, account)
        await counting.write_without_effect(service, account, backoff)
        return True

    def counted(streak: FailureStreak | None) -> FailureStreak:
        before = streak or FailureStreak(id=user.id)
        return structs.replace(before, mail_codes=before.mail_codes + 1)

    stored = await service.store.get(FAILURE_STREAKS, user.id)
    streak = await counting.change(service, ReadRecord(FAILURE_STREAKS, user.id, stored), counted)
    codes = streak.mail_codes if streak else 0
    if codes == MAX_CODES:
        service.background_tasks.start(_report_closed(service, user))
    return codes <= MAX_CODES


async def accepted(service: Service, user: User) -> None:
    """Ends the count of wrong codes of the user after a right one."""
    streak = await service.store.get(FAILURE_STREAKS, user.id)
    if streak is not None and streak.mail_codes:
        await counting.change_streak(
            service, streak, lambda each: structs.replace(each, mail_codes=0)
        )


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
