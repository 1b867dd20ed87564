"""The form of a row of `humanUsers`: the fields of the call that imports one person, and members
of this service's own.

`incomplete` is for persons without an address or without a first and last name, such as those that
an installation is set up with; a person from another system needs both.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Final, Literal

from idp.foundation.errors import FieldProblem
from idp.identity.users import verified_contacts
from idp.identity.users.creation import NewHuman
from idp.management.organizations.setup import AdministratorEmail, AdministratorPhone
from idp.management.users.import_one import HumanFields, ImportedHash
from idp.management.users.new_user import UserId
from idp.management.users.person_fields import PostalAddress, ProfileFields
from idp.records import Password, Profile, VerifiedBy
from idp.schema.field_rules import Instant, OneOf, Text
from idp.schema.reading import Request

State = Literal["active", "inactive", "locked"]

STATES: Final[dict[str, State]] = {
    "USER_STATE_ACTIVE": "active",
    "USER_STATE_INACTIVE": "inactive",
    "USER_STATE_LOCKED": "locked",
}


class PackagedEmail(AdministratorEmail, frozen=True, kw_only=True):
    """A person's e-mail address in a package.

    `verified_by` is the party that verified it, by default the importing installation.
    """

    verified_by: VerifiedBy | None = None


class PackagedPhone(AdministratorPhone, frozen=True, kw_only=True):
    """A person's phone number in a package. `verified_by` is as for `PackagedEmail`."""

    verified_by: VerifiedBy | None = None


_NOT_STATED: Final = PackagedEmail(email="")


class PackagedProfile(ProfileFields, frozen=True, kw_only=True):
    first_name: Annotated[str, Text()] = ""
    last_name: Annotated[str, Text()] = ""

    def stored(self) -> Profile:
        """Returns the profile in the form in which a user's record holds it."""
        return self.as_profile(self.first_name or None, self.last_name or None)


class PackagedHash(ImportedHash, frozen=True, kw_only=True):
    """The hash of a person's password in a package.

    The password's age counts from `change_date`. A password with an `expiration_date` can be used
    once, before that date, and another one has to be chosen then.
    """

    change_date: Annotated[datetime, Instant()] | None = None
    expiration_date: Annotated[datetime, Instant()] | None = None


class PackagedHuman(HumanFields, frozen=True, kw_only=True):
    profile: PackagedProfile
    email: PackagedEmail = _NOT_STATED
    phone: PackagedPhone | None = None
    hashed_password: PackagedHash | None = None
    request_passwordless_registration: bool = False
    otp_name: Annotated[str, Text()] = ""
    state: Annotated[str, OneOf(tuple(STATES))] | None = None
    address: PostalAddress | None = None
    incomplete: bool = False

    def check(self) -> Iterator[FieldProblem]:
        if not self.incomplete:
            yield from self._lacking()
        yield from super().check()

    def _lacking(self) -> Iterator[FieldProblem]:
        if self.email is _NOT_STATED:
            yield FieldProblem("field.required", "email", "is required")
        if self.profile is not None:
            names = {"firstName": self.profile.first_name, "lastName": self.profile.last_name}
            for name, text in names.items():
                if text is not None and not text.strip():
                    yield FieldProblem("field.empty", f"profile.{name}", "must not be empty")

    def hashed(self, now: datetime) -> Password | None:
        """Returns the password in the form in which a user's record holds it, if the row has a
        hash of it, else None.

        `now` is when it was chosen, unless the row states that.
        """
        if self.hashed_password is None:
            return None
        return Password(
            hash=self.hashed_password.value,
            changed_at=self.hashed_password.change_date or now,
            must_change=self.password_change_required,
            expires_at=self.hashed_password.expiration_date,
        )

    def person(self) -> NewHuman:
        """Returns the person that the row describes, without the password, in the form from which
        new users are created."""
        email, phone = self.email, self.phone
        return NewHuman(
            user_name=self.user_name,
            profile=self.profile.stored(),
            email=verified_contacts.email(
                email.email, _source(email), is_verified=email.is_email_verified
            )
            if email.email
            else None,
            phone=verified_contacts.phone(
                phone.phone, _source(phone), is_verified=phone.is_phone_verified
            )
            if phone
            else None,
            address=self.address.stored() if self.address else None,
            totp_secret=self.otp_code or None,
            state=STATES[self.state] if self.state else "active",
            idp_links=self.stored_links(),
        )


def _source(sent: PackagedEmail | PackagedPhone) -> VerifiedBy:
    return sent.verified_by or "instance"


class HumanRow(Request, frozen=True, kw_only=True):
    user_id: Annotated[str, UserId()]
    user: PackagedHuman
