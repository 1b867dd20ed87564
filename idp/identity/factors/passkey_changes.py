"""Adding and removing passkeys, with the changes of the user in the same unit.

All sessions and tokens of the user end, and the user gets a mail. Recovery codes are made with the
first factor and removed with the last one.
"""

from __future__ import annotations

from collections.abc import Mapping

from idp.identity.factors import passkeys, second_factors, webauthn
from idp.identity.factors.second_factors import FactorChange
from idp.identity.factors.webauthn import RelyingParty
from idp.identity.users.subjects import Subject
from idp.mail.templates import passkeys as passkey_messages
from idp.records import Passkey
from idp.service import Service


async def add(
    service: Service, party: RelyingParty, subject: Subject, name: str, text: str, bound_to: str
) -> tuple[Passkey, FactorChange]:
    """Returns a new passkey for the key in a browser's answer (`text`, JSON), and the change of
    the user that stores it, for the caller to commit.

    `name` is what the user calls the passkey, and `bound_to` is that of the challenge. The writes
    fail with Conflict if the answer was used before or the key is registered already, and with
    Stale if the user was changed concurrently. Raises InvalidArgument for the name;
    WebAuthnRefused.
    """
    name, user = passkeys.checked_name(name), subject.user
    if len(await passkeys.of_user(service, user.id)) >= passkeys.MAX_PASSKEYS:
        raise webauthn.WebAuthnRefused("the user has as many passkeys as one may have")
    passkey, writes = passkeys.registered(service, party, user, name, text, bound_to)
    change = await second_factors.added(service, subject, {}, "user.passkey_added")
    mails = passkey_messages.added(service, user)
    return passkey, FactorChange([*writes, *change.writes, *mails], change.subject, change.codes)


async def remove(
    service: Service,
    subject: Subject,
    passkey: Passkey,
    actor: str,
    further_values: Mapping[str, object] = second_factors.NOTHING,
) -> FactorChange:
    """Returns the change of the user whose passkey is removed, for the caller to commit together
    with the deletion of the passkey, which it does not include.

    `actor` is that of the event; `further_values` are other fields of the user to set.
    """
    user = subject.user
    other_passkeys = [
        each for each in await passkeys.of_user(service, user.id) if each.id != passkey.id
    ]
    is_last = not other_passkeys and user.totp is None
    change = await second_factors.removed(
        service, subject, further_values, "user.passkey_removed", actor, is_last
    )
    mails = passkey_messages.removed(service, user)
    return FactorChange([*change.writes, *mails], change.subject)
