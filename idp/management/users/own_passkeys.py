"""A signed-in person's own passkeys: named and removed. They are made in a sign-in."""

from __future__ import annotations

from idp.audit import versioned_updates
from idp.foundation.errors import FailedPrecondition
from idp.identity.factors import last_factor, passkey_changes, passkeys, second_factors
from idp.identity.sessions.lifetime import LiveSession
from idp.mail.templates import security as security_messages
from idp.management.call import Call
from idp.management.users import passkeys as user_passkeys
from idp.records import PASSKEYS, Passkey
from idp.service import Service
from storage.settling import commit_settled


async def rename(service: Service, call: Call, passkey_id: str, name: str) -> Passkey:
    """Call one of the caller's own otherwise. Raises InvalidArgument, NotFound, Busy."""
    name, user = passkeys.checked_name(name), call.caller
    return await versioned_updates.changed(
        service,
        PASSKEYS,
        lambda: user_passkeys.find(service, user, passkey_id),
        lambda _: {"name": name},
        "passkey.changed",
        call,
        org_id=user.org_id,
    )


async def remove(
    service: Service, live: LiveSession, passkey_id: str, new_password: str = ""
) -> None:
    """Removes the passkey: every session ends but this one, and the person gets a mail. With the
    last factor, `new_password` replaces a password that is too short to stand alone.

    Raises NotFound; FailedPrecondition: it is their last way to sign in, or the last second factor
    where one is demanded; PasswordTooShort, PasswordNotAccepted, HashingBusy; Stale: another
    change was made meanwhile.
    """
    subject, user = live.subject, live.subject.user
    passkey = await user_passkeys.find(service, user, passkey_id)
    if len(await passkeys.of_user(service, user.id)) == 1:
        if user.password is None or await second_factors.is_needed(
            service, user, second_factors.PASSKEY
        ):
            raise FailedPrecondition("it is the last way to sign in", slug="passkey.last")
    also = await last_factor.password_change_for(
        service, subject, second_factors.PASSKEY, new_password
    )
    change = await passkey_changes.remove(service, subject, passkey, user.id, also)
    now, type = service.clock.now(), "passkey.deleted"
    gone = versioned_updates.removal(service, PASSKEYS, passkey, type, user.id, now, user.org_id)
    stays = await live.staying(service, change.subject)
    messages = security_messages.password_changed(service, user) if also else []
    await commit_settled(service.store, *gone, *change.writes, *stays, *messages)
