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


def requested_fields(service: Service, stored: User, row: PackagedHuman) -> Mapping[str, object]:
    """Returns the fields of the existing person `stored` as the row would set them, as a dict,
    except for a plaintext password. Fields that the row does not have keep the values of `stored`.
    """
    person = row.person()
    return {
        "user_name": person.user_name,
        "profile": _profile(stored.profile, row),
        "email": _email(stored.email, person.email),
        "phone": _phone(stored.phone, person.phone),
        "address": person.address or stored.address,
        "idp_links": list(person.idp_links) or stored.idp_links,
        "state": STATES[row.state] if row.state else stored.state,
        "password": _password(stored.password, row.hashed(service.clock.now())),
        "totp": _totp(service, stored, row),
    }


def _profile(stored: Profile, row: PackagedHuman) -> Profile:
    sent = row.profile.stored()
    stated = {name: text for name, text in structs.asdict(sent).items() if text}
    if "display_name" not in stated and stored.display_name == _full_name(stored):
        stated["display_name"] = ""  # empty: "first last" is derived from the new names
    return user_creation.with_display_name(structs.replace(stored, **stated))


def _full_name(profile: Profile) -> str:
    return user_creation.with_display_name(structs.replace(profile, display_name="")).display_name


def _email(stored: Email | None, sent: Email | None) -> Email | None:
    if sent is None or stored is None or sent.address != stored.address:
        return sent or stored
    return verified_contacts.merged(stored, sent)


def _phone(stored: Phone | None, sent: Phone | None) -> Phone | None:
    if sent is None or stored is None or sent.number != stored.number:
        return sent or stored
    return verified_contacts.merged(stored, sent)


def _password(stored: Password | None, sent: Password | None) -> Password | None:
    if sent is None or stored is None or sent.hash != stored.hash:
        return sent or stored
    # The same password keeps the instant of its change.
    return structs.replace(stored, must_change=sent.must_change, expires_at=sent.expires_at)


def _totp(service: Service, stored: User, row: PackagedHuman) -> Totp | None:
    if not row.otp_code or second_factors.secret_of(service, stored) == row.otp_code:
        return stored.totp
    return structs.replace(
        second_factors.imported(service, stored.id, row.otp_code), name=row.otp_name
    )
