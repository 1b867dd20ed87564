"""What is told by mail, and what a mail asks its reader to bring back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, Literal

from idp.records.users import VerifiedBy
from storage import Collection, Record

MailKind = Literal[
    "register",
    "account_exists",
    "verify_email",
    "verify_phone",
    "reset_password",
    "passkey_added",
    "passkey_removed",
    "factor_added",
    "factor_removed",
    "recovery_codes_made",
    "recovery_code_used",
    "password_changed",
    "account_locked",
    "password_closed",
    "wrong_codes",
    "email_changed",
    "invite",
]


MailState = Literal["held", "queued", "sending", "sent", "failed"]
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Mail(Record):
    """A mail in the outbox. `sealed` is the letter, encrypted: it holds addresses and codes, and
    is gone once the mail is sent.

    `held`: no way to send it was configured. `queued`: it is to be sent at `due_at`. `sending`:
    whoever counted `attempts` up has until `due_at` for it; then it is anybody's again. `failed`:
    it was given up. `last_error` tells how the last attempt ended, without an address,
    and `sequence` counts how often an administrator had it sent again.
    """

    kind: MailKind
    sealed: str
    created_at: datetime
    expires_at: datetime
    state: MailState = "held"
    user_id: str | None = None
    due_at: datetime = _NEVER
    attempts: int = 0
    last_error: str = ""
    sequence: int = 0


class Verification(Record):
    """A code that proves a user's address or phone number, or that a new password may be set;
    of several, the newest counts.

    `key_mac` is of the secret in the mail's link, by which a password is set. A `reset` belongs to
    the sign-in that asked for it, and counts beside others; without a `user_id` it is nobody's.
    `verified_by` is by whom the address or number is verified by it: a code that was not sent, but
    answered to whoever manages the user, proves no mailbox.
    """

    user_id: str
    code_mac: str
    proves: Literal["email", "phone", "password", "reset"]
    created_at: datetime
    expires_at: datetime
    key_mac: str | None = None
    verified_by: VerifiedBy = "mailbox"


class Registration(Record):
    """An account that waits for the proof of its mailbox. It belongs to one flow.

    `sealed` is what was typed, with the password's hash. `code_mac` is of the last code that
    was sent, at `sent_at`; None when the mail said that there is an account already. `proven_at`
    is set when the code was right, but the user name was somebody else's.
    """

    flow_id: str
    sealed: str
    sent_at: datetime
    expires_at: datetime
    code_mac: str | None = None
    proven_at: datetime | None = None


OUTBOX: Final = Collection(
    "outbox",
    Mail,
    lists=(("created_at",), ("state", "created_at"), ("state", "due_at")),
    expires=True,
)
VERIFICATIONS: Final = Collection(
    "verifications", Verification, lists=(("user_id", "proves", "created_at"),), expires=True
)
REGISTRATIONS: Final = Collection("registrations", Registration, expires=True)
