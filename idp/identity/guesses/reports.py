"""Reports the outcome of each attempt at a password or a code: to the log, and as events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from idp.audit import failure_events
from idp.foundation import logs, metrics
from idp.identity.users.lookup import typed_key
from idp.limits.origin import AttemptOrigin
from idp.service import Service
from idp.usage import counts
from storage import Write

_log: Final = logs.logger(__name__)
AFTER_ANSWER_SECONDS: Final = 0.1
_NAME_CHARACTERS: Final = 16

Cause: TypeAlias = Literal[
    "accepted",
    "unknown",  # no user has the name, or the user has no password
    "wrong",
    "unusable",  # right, but the account or its one-time password can't be used
    "closed",
    "locked",  # by the lockout policy
    "paced",
    "network",
]
Secret: TypeAlias = Literal["password", "totp", "recovery_code", "user_code", "mail_code"]


class Outcome(Struct, frozen=True):
    """The outcome of an attempt at a password or code.

    `cause` is `accepted` or the reason of the refusal, and `secret` the kind of the secret.
    `org_id` is the organization of the user. Without a user (`user_id` None), `name` is the login
    name that was typed, of which only a MAC is reported.
    """

    cause: Cause
    secret: Secret
    origin: AttemptOrigin
    user_id: str | None = None
    name: str = ""
    is_known_browser: bool = False
    org_id: str | None = None


def report(service: Service, outcome: Outcome) -> None:
    """Counts an attempt. A refused one is also counted for its organization, logged, and recorded
    in an audit event, which counts several of them."""
    metrics.SIGN_INS.count(outcome.cause, outcome.secret)
    if outcome.cause == "accepted":
        return
    origin = outcome.origin
    if outcome.user_id:
        identity = {"user": outcome.user_id}
        counts.count(service, "sign_in_failed", outcome.org_id)
        failure_events.sign_in(
            service, outcome.user_id, outcome.cause, origin.network, origin.client_id
        )
    elif not outcome.name:
        identity = {}  # a user code of a device
    else:
        identity = {"name": _hidden(service, outcome)}
        counts.count(service, "sign_in_failed", origin.org_id)
        failure_events.unknown_name_sign_in(service, identity["name"], origin.network)
    _log.info(
        "sign-in refused",
        cause=outcome.cause,
        secret_kind=outcome.secret,
        client=origin.client_id,
        network=origin.network,
        address=origin.address,
        known_browser="yes" if outcome.is_known_browser else "no",
        **identity,
    )


async def mail_after_answer(service: Service, mails: Sequence[Write]) -> None:
    """Stores messages a moment later, in a background task: so the duration of an answer does not
    depend on them."""
    await service.timer.sleep(AFTER_ANSWER_SECONDS)
    if mails:
        await service.store.commit(*mails)


def _hidden(service: Service, outcome: Outcome) -> str:
    key = typed_key(outcome.name)
    return service.master_key.mac("typed-name", key).hex()[:_NAME_CHARACTERS]
