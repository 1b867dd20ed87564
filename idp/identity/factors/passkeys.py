"""Passkeys: registering the keys that users' devices hold, and authenticating users by them.

A passkey's device verifies its user by a PIN or biometrics, so one passkey is two factors at once,
and nothing else is needed to sign in.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct

from idp import changes
from idp.audit import events
from idp.audit.events import AuditEntry
from idp.foundation import base64url
from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.identity.factors import challenges, webauthn
from idp.identity.factors.webauthn import RelyingParty, WebAuthnAssertion, WebAuthnRefused
from idp.identity.users import lookup as user_lookup
from idp.identity.users.subjects import Subject, is_active
from idp.records import PASSKEYS, Passkey, User
from idp.schema.field_rules import FieldRefused, Text
from idp.service import Service
from storage import Conflict, Stale, Update, Write

MAX_PASSKEYS: Final = 20  # of one person
MAX_NAME: Final = 100
_NAME: Final = Text(1, MAX_NAME)
_TIMEOUT_MS: Final = 5 * 60 * 1000


class PasskeyAuthentication(Struct, frozen=True):
    """The user who was authenticated by a passkey, the methods (`amr`, RFC 8176), and the writes
    that record the use of challenge and passkey. The writes belong to the unit of the action that
    the user is authenticated for."""

    subject: Subject
    passkey: Passkey
    amr: list[str]
    writes: list[Write]


def user_handle(service: Service, user_id: str) -> bytes:
    """Returns the user handle for a device: 32 bytes that reveal nothing of the user (WebAuthn,
    14.6.1)."""
    return service.master_key.mac("passkey-user", user_id)


async def of_user(service: Service, user_id: str) -> list[Passkey]:
    """Returns the user's passkeys, the oldest first."""
    page = await service.store.find(
        PASSKEYS, {"user_id": user_id}, order="created_at", limit=2 * MAX_PASSKEYS
    )
    return page.records


def creation_options(
    service: Service,
    party: RelyingParty,
    user: User,
    existing: Iterable[Passkey],
    challenge: bytes,
) -> dict[str, Any]:
    """Returns the PublicKeyCredentialCreationOptionsJSON for a browser. A device that holds one of
    the passkeys `existing` creates no other (`excludeCredentials`)."""
    return {
        "rp": {"id": party.id, "name": party.id},
        "user": {
            "id": base64url.encode(user_handle(service, user.id)),
            "name": user.user_name,
            "displayName": user.profile.display_name,
        },
        "challenge": base64url.encode(challenge),
        "pubKeyCredParams": [{"type": "public-key", "alg": alg} for alg in webauthn.ALGORITHMS],
        "timeout": _TIMEOUT_MS,
        "excludeCredentials": _descriptors(existing),
        "authenticatorSelection": {
            "residentKey": "required",
            "requireResidentKey": True,
            "userVerification": "required",
        },
        "attestation": "none",
    }


def request_options(
    party: RelyingParty, challenge: bytes, allowed: Iterable[Passkey] = ()
) -> dict[str, Any]:
    """Returns the PublicKeyCredentialRequestOptionsJSON for a browser. The passkeys `allowed` may
    be used; if it is empty, any that the device has for this service."""
    return {
        "rpId": party.id,
        "challenge": base64url.encode(challenge),
        "timeout": _TIMEOUT_MS,
        "userVerification": "required",
        "allowCredentials": _descriptors(allowed),
    }


def _descriptors(passkeys: Iterable[Passkey]) -> list[dict[str, Any]]:
    return [
        {"type": "public-key", "id": each.credential_id, "transports": each.transports}
        for each in passkeys
    ]


def checked_name(name: str) -> str:
    """Returns the name of a passkey without white space around it. Raises InvalidArgument if the
    name is not allowed."""
    try:
        valid_name: str = _NAME.read(name.strip())
    except FieldRefused as error:
        problem = FieldProblem(error.error_code, "name", error.message, error.limit)
        raise InvalidArgument([problem]) from None
    return valid_name


def registered(
    service: Service, party: RelyingParty, user: User, name: str, text: str, bound_to: str
) -> tuple[Passkey, list[Write]]:
    """Returns a passkey of the user for the key in a browser's answer (`text`, JSON), and the
    writes that store it, for the caller to commit.

    `bound_to` is that of the challenge. The writes fail with Conflict if the answer was used
    before or the key is registered already. Raises WebAuthnRefused.
    """
    credential = webauthn.read_credential(party, text)
    challenge_use = challenges.use_write(service, "create", bound_to, credential.challenge)
    now = service.clock.now()
    passkey = Passkey(
        id=_record_id(credential.id),
        user_id=user.id,
        credential_id=base64url.encode(credential.id),
        public_key=base64url.encode(credential.public_key),
        name=name,
        created_at=now,
        changed_at=now,
        aaguid=credential.aaguid,
        transports=credential.transports,
        sign_count=credential.sign_count,
        is_backup_eligible=credential.is_backup_eligible,
        is_backed_up=credential.is_backed_up,
    )
    entry = AuditEntry("passkey.created", user.id, now, user.org_id, payload={"user": user.id})
    stored = events.insertion(service.random, PASSKEYS, passkey, entry)
    return passkey, [challenge_use, *stored]


def _record_id(credential_id: bytes) -> str:
    return hashlib.sha256(credential_id).hexdigest()


async def authenticate(
    service: Service,
    party: RelyingParty,
    text: str,
    bound_to: str,
    user_id: str | None = None,
) -> PasskeyAuthentication:
    """Authenticates the user `user_id`, or any user if it is None, by a browser's answer (`text`,
    JSON). The caller commits the `writes` of the result.

    `bound_to` is that of the challenge. The writes fail with Conflict if the answer was used
    before. A device whose counter has decreased may have been copied: its answer is refused, with
    an event. Raises WebAuthnRefused.
    """
    answer = webauthn.read_assertion(party, text)
    challenge_use = challenges.use_write(service, "get", bound_to, answer.challenge)
    passkey = await service.store.get(PASSKEYS, _record_id(answer.id))
    if passkey is None or user_id not in (None, passkey.user_id):
        raise WebAuthnRefused("no user has the passkey, or another user has it")
    _check_handle(service, passkey, answer, is_needed=user_id is None)
    webauthn.check_signature(answer, base64url.decode(passkey.public_key))
    subject = await user_lookup.find_subject(service, passkey.user_id)
    subject = await user_lookup.unlocked(service, subject) if subject else None
    if subject is None or not is_active(subject):
        raise WebAuthnRefused("the account can't be used")
    # Backup eligibility is set at creation and never changes (WebAuthn, 6.1.3).
    if answer.is_backup_eligible != passkey.is_backup_eligible:
        raise WebAuthnRefused("the backup eligibility of the passkey has changed")
    if _has_counter_decreased(passkey, answer):
        await _report_refused(service, subject, passkey, challenge_use)
        raise WebAuthnRefused(
            "the counter of the device decreased: the passkey may have been copied"
        )
    used = Update(
        PASSKEYS,
        passkey.id,
        set={
            "sign_count": answer.sign_count,
            "is_backed_up": answer.is_backed_up,
            "last_used_at": service.clock.now(),
        },
        expect={"sign_count": passkey.sign_count},
    )
    return PasskeyAuthentication(
        subject=subject, passkey=passkey, amr=amr_of(passkey), writes=[challenge_use, used]
    )


def amr_of(passkey: Passkey) -> list[str]:
    """Returns the authentication methods of a passkey (RFC 8176): `swk` if the key may be copied,
    else `hwk`; `user`, because the device checks for presence; and `mfa`."""
    return ["swk" if passkey.is_backup_eligible else "hwk", "user", "mfa"]


def _check_handle(
    service: Service, passkey: Passkey, answer: WebAuthnAssertion, *, is_needed: bool
) -> None:
    """A device may leave out the user handle if it was asked for the passkeys of a known user."""
    if answer.user_handle is None and not is_needed:
        return
    handle = user_handle(service, passkey.user_id)
    if not hmac.compare_digest(handle, answer.user_handle or b""):
        raise WebAuthnRefused("the device names another user, or none")


def _has_counter_decreased(passkey: Passkey, answer: WebAuthnAssertion) -> bool:
    """Devices without a counter always send 0 (WebAuthn, 7.2, step 22)."""
    is_counting = answer.sign_count > 0 or passkey.sign_count > 0
    return is_counting and answer.sign_count <= passkey.sign_count


async def _report_refused(
    service: Service, subject: Subject, passkey: Passkey, challenge_use: Write
) -> None:
    user, now = subject.user, service.clock.now()
    entry = AuditEntry("passkey.refused", user.id, now, user.org_id)
    event = events.update(service.random, PASSKEYS, passkey, {}, entry)
    try:
        await changes.store(service, challenge_use, *event)
    except (Conflict, Stale):
        return  # the same answer was refused, with its event, in a concurrent request
