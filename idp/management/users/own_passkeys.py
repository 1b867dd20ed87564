"""Changes that signed-in persons make to their own passkeys: a new name, and removal.

A passkey is registered during a sign-in.
"""

from __future__ import annotations

from idp import changes
from idp.audit import events
from idp.audit.events import AuditEntry
from idp.changes import Change
from idp.foundation.errors import FailedPrecondition
from idp.identity.factors import last_factor, passkey_changes, passkeys, second_factors
from idp.identity.sessions.lifetime import LiveSession
from idp.mail.templates import security as security_messages
from idp.management.call import Call
from idp.management.users import passkeys as user_passkeys
from idp.records import PASSKEYS
from idp.schema.answers import Changed
from idp.service import Service


async def rename(service: Service, call: Call, passkey_id: str, name: str) -> Change[Changed]:
    """Gives one of the caller's own passkeys another name.

    Raises InvalidArgument, NotFound, Busy.
    """
    name, user = passkeys.checked_name(name), call.caller
    passkey = await user_passkeys.find(service, user, passkey_id)
    return changes.updated(
        service, call, PASSKEYS, passkey, {"name": name}, "passkey.changed", user.org_id
    ).change()


async def remove(
    service: Service, live_session: LiveSession, passkey_id: str, new_password: str = ""
) -> None:
    """Removes one of the passkeys of the person who is signed in by the session `live_session`.

    All other sessions of the person end, and the person is informed by mail. If it is the last
    second factor, `new_password` replaces a password that is too short without one. Raises
    NotFound; FailedPrecondition if the person could not sign in without it, or if it is the last
    second factor where the policy demands one; PasswordTooShort, PasswordNotAccepted, HashingBusy;
    Stale if the user was changed concurrently.
    """
    subject, user = live_session.subject, live_session.subject.user
    passkey = await user_passkeys.find(service, user, passkey_id)
    if len(await passkeys.of_user(service, user.id)) == 1:
        if user.password is None or await second_factors.is_needed(
            service, user, second_factors.PASSKEY
        ):
            raise FailedPrecondition(
                "it is the user's last authentication method", error_code="passkey.last"
            )
    further_values = await last_factor.password_change_for(
        service, subject, second_factors.PASSKEY, new_password
    )
    change = await passkey_changes.remove(service, subject, passkey, user.id, further_values)
    now = service.clock.now()
    removal = events.removal(
        service.random, PASSKEYS, passkey, AuditEntry("passkey.deleted", user.id, now, user.org_id)
    )
    # The removal changes the stamp that sessions hold, so the current session is renewed.
    session_writes = await live_session.keep_valid_writes(service, change.subject)
    messages = security_messages.password_changed(service, user) if further_values else []
    await changes.store(service, *removal, *change.writes, *session_writes, *messages)
