"""Organizations, their users, and memberships."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from idp.records.clients import OldSecret, TokenKind
from storage import Collection, Record


class Organization(Record):
    """An organization. `name_key` is casefold(NFKC(name)); `primary_domain` is in ASCII and lower
    case.
    """

    name: str
    name_key: str
    primary_domain: str
    stamp: str
    created_at: datetime
    changed_at: datetime
    state: Literal["active", "inactive"] = "active"
    sequence: int = 1


class Profile(Struct, kw_only=True):
    """The claims of the scope `profile`; unknown ones are None."""

    display_name: str
    given_name: str | None = None
    family_name: str | None = None
    middle_name: str | None = None
    nick_name: str | None = None
    preferred_language: str | None = None
    gender: Literal["female", "male", "diverse"] | None = None
    profile: str | None = None
    picture: str | None = None
    website: str | None = None
    birthdate: str | None = None
    zoneinfo: str | None = None


# The party that states that an address or a number is the user's: an organization that manages the
# user, a code that was sent there, an organization to which the address's domain belongs, or the
# installation.
VerifiedBy = Literal["organization", "mailbox", "domain", "instance"]


class Contact(Struct, kw_only=True):
    """An e-mail address or phone number. `verified_by` is meaningful only if it is verified;
    records of earlier versions lack it, and are treated as verified by a code.
    """

    is_verified: bool = False
    verified_by: VerifiedBy = "mailbox"

    @property
    def is_verified_everywhere(self) -> bool:
        """Whether the contact is verified for all organizations, not only for the user's own."""
        return self.is_verified and self.verified_by != "organization"

    def is_verified_for(self, user_org_id: str, org_id: str | None) -> bool:
        """Returns whether an application of the organization `org_id` (None: of no particular one)
        may treat the contact as verified; `user_org_id` is the user's organization."""
        return self.is_verified_everywhere or (self.is_verified and org_id == user_org_id)


class Email(Contact, kw_only=True):
    """An e-mail address. `is_superseded`: it was verified by the organization's statement alone,
    and another user has verified it since; so it is no longer a login name.
    """

    address: str
    is_superseded: bool = False


class Phone(Contact, kw_only=True):
    number: str


class Address(Struct, kw_only=True):
    """A postal address (OpenID Connect Core 5.1.1)."""

    formatted: str | None = None
    street_address: str | None = None
    locality: str | None = None
    region: str | None = None
    postal_code: str | None = None
    country: str | None = None


class Password(Struct, kw_only=True):
    """A user's password. `expires_at` is set for a one-time password, with which another password
    can be chosen once.

    `is_long`: it was long enough to be used without a second factor when it was set; None: not
    known.
    """

    hash: str
    changed_at: datetime
    must_change: bool = False
    expires_at: datetime | None = None
    is_long: bool | None = None


class Totp(Struct, kw_only=True):
    """An authenticator app (RFC 6238); `last_step` is the time step of the last accepted code."""

    sealed_secret: str
    name: str
    created_at: datetime
    last_step: int = 0


class IdpLink(Struct, kw_only=True):
    """The account of the same person at another identity provider."""

    idp_id: str
    user_id: str
    user_name: str


class User(Record):
    """A person or a service user (`machine`). `login_key` is the user name in the form of
    `text_folding.folded`.

    `email_key` is the form in which a verified e-mail address is a login name
    (`lookup.email_key`), else None. `address_key`, `display_key` and `family_key` are those by
    which any address, the display name and the family name are searched (`lookup.keys`).
    `secret_hash` and `access_token_type` are
    for a service user that gets tokens for itself. `factor_declined_at` is when the user last
    declined to set up a second factor, `recovery_codes_at` when the valid recovery codes were
    generated. A lock ends at `locked_until`, if that is set. After a change of `browsers_stamp`
    the account knows no browsers.
    """

    org_id: str
    kind: Literal["human", "machine"]
    user_name: str
    login_key: str
    stamp: str
    profile: Profile
    created_at: datetime
    changed_at: datetime
    state: Literal["active", "inactive", "locked"] = "active"
    sequence: int = 1
    email: Email | None = None
    email_key: str | None = None
    address_key: str | None = None
    display_key: str = ""
    family_key: str | None = None
    phone: Phone | None = None
    address: Address | None = None
    description: str | None = None
    password: Password | None = None
    totp: Totp | None = None
    recovery_codes_at: datetime | None = None
    factor_declined_at: datetime | None = None
    locked_until: datetime | None = None
    browsers_stamp: str = ""
    idp_links: list[IdpLink] = []
    secret_hash: str | None = None
    secret_created_at: datetime | None = None
    old_secret: OldSecret | None = None
    access_token_type: TokenKind = "opaque"  # noqa: S105 - a kind


class LoginClaim(Record):
    """The reservation of a login name: concurrent creations of users with the same name conflict
    at this record.

    Its id is the beginning of the name; `version` is random and changes each time that the name is
    reserved.
    """

    version: str
    expires_at: datetime


class UserMetadata(Record):
    """One entry of the metadata of a user; `value` is standard base64, with padding."""

    user_id: str
    key: str
    value: str
    created_at: datetime
    changed_at: datetime
    sequence: int = 1


class Membership(Record):
    """The roles of a user in the installation (`org_id` None) or in an organization."""

    user_id: str
    roles: list[str]
    created_at: datetime
    changed_at: datetime | None = None
    org_id: str | None = None
    sequence: int = 1


class PersonalAccessToken(Record):
    """A personal access token: displayed once, stored as a digest. It ends when its user's `stamp`
    changes.
    """

    user_id: str
    org_id: str
    secret_hash: str
    stamps: str
    created_at: datetime
    expires_at: datetime
    sequence: int = 1


ORGANIZATIONS: Final = Collection(
    "organizations",
    Organization,
    unique=("primary_domain", "name_key"),
    lists=(("state", "name_key"),),
)
USERS: Final = Collection(
    "users",
    User,
    unique=("login_key",),
    lists=(
        ("email_key",),
        ("address_key",),
        ("display_key",),
        ("family_key",),
        ("phone.number",),
        ("org_id", "login_key"),
    ),
    # Names and addresses are inserted in random order. With another index by organization, an
    # import of very many users would take a fifth longer.
    narrowed=(
        ("org_id", "address_key"),
        ("org_id", "display_key"),
        ("org_id", "family_key"),
        ("org_id", "phone.number"),
    ),
)
LOGIN_CLAIMS: Final = Collection("login_claims", LoginClaim, expires=True)
USER_METADATA: Final = Collection("user_metadata", UserMetadata, lists=(("user_id", "key"),))
MEMBERSHIPS: Final = Collection("memberships", Membership, lists=(("user_id",), ("org_id",)))
PATS: Final = Collection(
    "personal_access_tokens", PersonalAccessToken, lists=(("user_id",),), expires=True
)
