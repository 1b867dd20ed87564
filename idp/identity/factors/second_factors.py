"""Second factors: which a user has set up, which the policy accepts, adding and removing them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.config.settings import Config
from idp.identity.factors import recovery_codes, totp, webauthn
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users.subjects import Subject
from idp.mail.templates import factors as factor_messages
from idp.policies import effective
from idp.records import PASSKEYS, USERS, LoginRules, Totp, User, sealed_fields
from idp.service import Service
from storage import Write

TOTP: Final = "totp"
PASSKEY: Final = "passkey"
NOTHING: Final[Mapping[str, object]] = {}
_PURPOSE: Final = sealed_fields.TOTP_SECRET.purpose


class FactorChange(Struct, frozen=True):
    """A change of a user's factors: its writes, which the caller commits, the subject as it is
    after that (with a new security stamp), and new recovery codes, which are displayed only
    once."""

    writes: list[Write]
    subject: Subject
    codes: list[str] = []


def allowed(config: Config, rules: LoginRules) -> frozenset[str]:
    """Returns the kinds of second factors that the policy accepts and users can set up here."""
    accepts_passkeys = "u2f" in (*rules.second_factors, *rules.multi_factors)
    switches: Mapping[str, bool] = {
        TOTP: "otp" in rules.second_factors,
        PASSKEY: accepts_passkeys and webauthn.relying_party(config) is not None,
    }
    return frozenset(kind for kind, is_on in switches.items() if is_on)


async def of_user(service: Service, user: User) -> frozenset[str]:
    """Returns the kinds of second factors that the user has set up, whether the policy accepts
    them or not."""
    conditions = {"user_id": user.id}
    passkeys = await service.store.find(PASSKEYS, conditions, order="created_at", limit=1)
    is_held_by_kind = {TOTP: user.totp is not None, PASSKEY: bool(passkeys.records)}
    return frozenset(kind for kind, is_held in is_held_by_kind.items() if is_held)


def sealed(service: Service, user_id: str, secret: str) -> str:
    """Returns `secret`, that of an authenticator app, encrypted for storage and bound to the user;
    `secret_of` decrypts it."""
    return service.master_key.seal(f"{user_id}\n{secret}", _PURPOSE)


def secret_of(service: Service, user: User) -> str | None:
    """Returns the decrypted secret of the user's authenticator app; None if the user has no
    app."""
    if user.totp is None:
        return None
    owner, secret = service.master_key.open(user.totp.sealed_secret, _PURPOSE).decode().split("\n")
    # A sealed secret that was copied from another user's record is not accepted.
    return secret if owner == user.id else None


def imported(service: Service, user_id: str, secret: str) -> Totp:
    """Returns the record of an authenticator app whose `secret` comes from another system. Raises
    ValueError if the secret can't be used."""
    sealed_secret = sealed(service, user_id, totp.read_secret(secret))
    return Totp(sealed_secret=sealed_secret, name="", created_at=service.clock.now())


async def add_totp(
    service: Service, subject: Subject, secret: str, name: str, step: int
) -> FactorChange:
    """Returns the change that sets the user's authenticator app (TOTP, RFC 6238), in place of an
    earlier one.

    `name` is what the user calls the app, and `step` is the time step of the code by which it was
    verified. The change ends all sessions and tokens of the user, sends the user a mail, and
    creates recovery codes with the first factor.
    """
    user, now = subject.user, service.clock.now()
    sealed_secret = sealed(service, user.id, secret)
    app = Totp(sealed_secret=sealed_secret, name=name, created_at=now, last_step=step)
    change = await added(service, subject, {"totp": app}, "user.totp_added")
    mails = factor_messages.notification(service, user, "factor_added")
    return FactorChange([*change.writes, *mails], change.subject, change.codes)


async def added(
    service: Service, subject: Subject, values: Mapping[str, object], type: str
) -> FactorChange:
    """Returns the change of a user who gets a factor, with recovery codes if it is the first one;
    the caller commits its writes.

    `values` are the fields of the user to set, and `type` is that of the event.
    """
    user, now = subject.user, service.clock.now()
    if user.recovery_codes_at is not None:
        return await _changing(service, subject, values, type, user.id)
    new_codes = await recovery_codes.make(service, user, now)
    values = {**values, "recovery_codes_at": now}
    change = await _changing(service, subject, values, type, user.id)
    return FactorChange([*change.writes, *new_codes.writes], change.subject, new_codes.codes)


async def remove_totp(
    service: Service, subject: Subject, actor: str, further_values: Mapping[str, object] = NOTHING
) -> FactorChange:
    """Returns the change that removes the user's authenticator app (TOTP, RFC 6238), and with the
    last factor the recovery codes. `further_values` are other fields of the user to set.

    The change ends all sessions and tokens of the user, and sends the user a message.
    """
    user = subject.user
    is_last = not await of_user(service, structs.replace(user, totp=None))
    values = {"totp": None, **further_values}
    change = await removed(service, subject, values, "user.totp_removed", actor, is_last)
    mails = factor_messages.notification(service, user, "factor_removed")
    return FactorChange([*change.writes, *mails], change.subject)


async def removed(
    service: Service,
    subject: Subject,
    values: Mapping[str, object],
    type: str,
    actor: str,
    is_last: bool,
) -> FactorChange:
    """Returns the change of a user who loses a factor; the caller commits its writes.

    `values` are the fields of the user to set; `type` and `actor` are those of the event. If the
    factor `is_last`, the recovery codes are deleted.
    """
    if not is_last:
        return await _changing(service, subject, values, type, actor)
    deletions = await recovery_codes.deletion_writes(service, subject.user)
    values = {**values, "recovery_codes_at": None}
    change = await _changing(service, subject, values, type, actor)
    return FactorChange([*change.writes, *deletions], change.subject)


async def renew_codes(service: Service, user: User) -> recovery_codes.NewRecoveryCodes:
    """Returns new recovery codes, with the writes that replace the user's old ones and send the
    user a message, for the caller to commit."""
    now = service.clock.now()
    new_codes = await recovery_codes.make(service, user, now)
    values = {"recovery_codes_at": now}
    update = events.update(
        service.random, USERS, user, values, AuditEntry("user.recovery_codes_made", user.id, now)
    )
    mails = factor_messages.notification(service, user, "recovery_codes_made")
    return recovery_codes.NewRecoveryCodes(new_codes.codes, [*update, *new_codes.writes, *mails])


async def is_forced(service: Service, org_id: str | None) -> bool:
    """Returns whether the login policy requires a second factor of every user: the policy that
    applies in the organization, or the installation's if `org_id` is None."""
    rules = await effective.login(service, org_id)
    return rules.force_mfa or rules.force_mfa_local_only


async def is_asked_for(service: Service, user: User) -> bool:
    """Returns whether this user has to give a second factor after the password at a sign-in: the
    user has set up an accepted one, or the policy requires one."""
    rules = await effective.login(service, user.org_id)
    kinds = await of_user(service, user) & allowed(service.config, rules)
    return bool(kinds) or rules.force_mfa or rules.force_mfa_local_only


async def is_needed(service: Service, user: User, without: str) -> bool:
    """Returns whether the user may not remove the factor `without` (`TOTP`, or `PASSKEY` for the
    last passkey): it is the only one that the policy accepts, and the policy requires one."""
    rules = await effective.login(service, user.org_id)
    if not (rules.force_mfa or rules.force_mfa_local_only):
        return False
    kinds = await of_user(service, user) & allowed(service.config, rules)
    return without in kinds and len(kinds) == 1


async def _changing(
    service: Service, subject: Subject, values: Mapping[str, object], type: str, actor: str
) -> FactorChange:
    """A change that ends all sessions and tokens of the user. Of two concurrent ones, one fails
    with Stale."""
    user, now = subject.user, service.clock.now()
    values = {**values, "stamp": service.random.token(bits=64), "changed_at": now}
    update = events.update(service.random, USERS, user, values, AuditEntry(type, actor, now))
    after = structs.replace(user, **values, sequence=user.sequence + 1)
    logout_messages = await session_lifetime.logout_messages_of_all(service, subject)
    return FactorChange([*update, *logout_messages], structs.replace(subject, user=after))
