"""Messages in the outbox, and the codes in them."""

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
    "codes_closed",
    "email_changed",
    "invite",
    "connection_trust_changed",
    "identity_linked",
    "identity_unlinked",
]


MailState = Literal["held", "queued", "sending", "sent", "failed"]
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


class OutboxMessage(Record):
    """A message in the outbox, by e-mail or SMS. `sealed` is its content, encrypted under the
    master key because it contains addresses and codes; it is deleted once the message is sent.

    `held`: there is no mail server or SMS hook for it. `queued`: it is to be sent at `due_at`.
    `sending`: a process has claimed it, by incrementing `attempts`; the claim expires at `due_at`,
    and then any process may send it. `failed`: there are no more attempts. `last_error` is the
    reason of the last failure, without an address, and `sequence` counts how often an
    administrator had it sent again.
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
    """A code that verifies a user's address or phone number, or allows the user to set a new
    password.

    Of a user's codes for `email`, for `phone` and for `password` (requested by an administrator),
    only the newest of each is valid. A code for `reset` (requested by the user) belongs to one
    sign-in, and is valid along with others; one with an empty `user_id`, for a login name to which
    no message can be sent, never is. `key_mac` is the MAC of the secret in the message's link, by
    which a password is set. `verified_by` is the party by which the address or number is verified:
    a code that was not sent, but returned to an administrator, verifies no mailbox.
    """

    user_id: str
    code_mac: str
    proves: Literal["email", "phone", "password", "reset"]
    created_at: datetime
    expires_at: datetime
    key_mac: str | None = None
    verified_by: VerifiedBy = "mailbox"


class Registration(Record):
    """An account that waits for the verification of its mailbox. It belongs to one sign-in.

    `sealed` is the data that the user entered, with the password's hash, encrypted under the
    master key. `code_mac` is the MAC of the last code, which was sent at `sent_at`; None if the
    message states that there is an account already. `proven_at` is set if the code was right, but
    another user has the user name.
    """

    flow_id: str
    sealed: str
    sent_at: datetime
    expires_at: datetime
    code_mac: str | None = None
    proven_at: datetime | None = None


OUTBOX: Final = Collection(
    "outbox",
    OutboxMessage,
    # For searches, for the messages that are held, and for the delivery.
    lists=(("created_at",), ("state", "created_at"), ("state", "due_at")),
    expires=True,
)
VERIFICATIONS: Final = Collection(
    "verifications", Verification, lists=(("user_id", "proves", "created_at"),), expires=True
)
REGISTRATIONS: Final = Collection("registrations", Registration, expires=True)
