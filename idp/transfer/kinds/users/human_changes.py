"""The fields of an existing person that an import changes: those of the row, and no others.

An address or a number that was verified here remains verified.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from idp.identity.factors import second_factors
from idp.identity.users import creation as user_creation
from idp.identity.users import verified_contacts
from idp.records import Email, Password, Phone, Profile, Totp, User
from idp.service import Service
from idp.transfer.kinds.users.human_request import STATES, PackagedHuman


def requested_fields(service: Service, known: User, row: PackagedHuman) -> Mapping[str, object]:
    """Returns the fields of the existing person `known` as the row would set them, as a dict,
    except for a plaintext password. Fields that the row does not have are as in `known`.
    """
    person = row.person()
    return {
        "user_name": person.user_name,
        "profile": _profile(known.profile, row),
        "email": _email(known.email, person.email),
        "phone": _phone(known.phone, person.phone),
        "address": person.address or known.address,
        "idp_links": list(person.idp_links) or known.idp_links,
        "state": STATES[row.state] if row.state else known.state,
        "password": _password(known.password, row.hashed(service.clock.now())),
        "totp": _totp(service, known, row),
    }


def _profile(known: Profile, row: PackagedHuman) -> Profile:
    sent = row.profile.stored()
    stated = {name: text for name, text in structs.asdict(sent).items() if text}
    if "display_name" not in stated and known.display_name == _full_name(known):
        stated["display_name"] = ""  # empty: "first last" is derived from the new names
    return user_creation.with_display_name(structs.replace(known, **stated))


def _full_name(profile: Profile) -> str:
    return user_creation.with_display_name(structs.replace(profile, display_name="")).display_name


def _email(known: Email | None, sent: Email | None) -> Email | None:
    if sent is None or known is None or sent.address != known.address:
        return sent or known
    return verified_contacts.merged(known, sent)


def _phone(known: Phone | None, sent: Phone | None) -> Phone | None:
    if sent is None or known is None or sent.number != known.number:
        return sent or known
    return verified_contacts.merged(known, sent)


def _password(known: Password | None, sent: Password | None) -> Password | None:
    if sent is None or known is None or sent.hash != known.hash:
        return sent or known
    # The same password keeps the instant of its change.
    return structs.replace(known, must_change=sent.must_change, expires_at=sent.expires_at)


def _totp(service: Service, known: User, row: PackagedHuman) -> Totp | None:
    if not row.otp_code or second_factors.secret_of(service, known) == row.otp_code:
        return known.totp
    return structs.replace(
        second_factors.imported(service, known.id, row.otp_code), name=row.otp_name
    )
