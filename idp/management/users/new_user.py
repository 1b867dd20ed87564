"""The request body of POST /v2/users/human, and the record fields that it sets."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from msgspec import Struct

from idp.foundation import uris
from idp.identity.factors import totp
from idp.identity.users.creation import CLIENT_PREFIX
from idp.management.users.person_fields import PostalAddress, ProfileFields
from idp.passwords import schemes
from idp.records import Profile
from idp.schema.field_rules import (
    Base64,
    EmailRule,
    FieldRefused,
    Items,
    Name,
    PhoneRule,
    Schema,
    Text,
    UserName,
)
from idp.schema.field_rules import Password as PasswordText
from idp.schema.reading import Request

MAX_METADATA_CHARACTERS: Final = 500_000
MAX_METADATA_ENTRIES: Final = 1000
_RESERVED_IDS: Final = frozenset({"human", "machine"})  # parts of paths below /v2/users


class UserId(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds an id for a new user, such as the id
    that the user has in another system.

    It must not be a word of the API's paths below `/v2/users`, nor begin like the subject of a
    client's tokens.
    """

    def read(self, value: object) -> str:
        text = Text(1).read(value)
        if text in _RESERVED_IDS or uris.has_relative_segment(text):
            raise FieldRefused("user.id_reserved", "must not be a word that is part of API paths")
        if text.startswith(CLIENT_PREFIX):
            raise FieldRefused("user.id_reserved", f"must not begin with {CLIENT_PREFIX}")
        return text

    def schema(self) -> Schema:
        return Text(1).schema() | {"examples": ["auth0|604265"]}


class PasswordHash(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds an encoded password hash of a known
    format, with bounded parameters. White space around it, as a file or a shell leaves it, is
    removed."""

    def read(self, value: object) -> str:
        encoded = Text(1).read(value.strip() if isinstance(value, str) else value)
        try:
            schemes.read(encoded)
        except schemes.UnreadableHash as error:
            raise FieldRefused(error.error_code, error.message) from None
        return encoded

    def schema(self) -> Schema:
        return Text(1).schema()


class OtpSecret(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds the secret of an authenticator app that
    was set up in another system, in base32, or an empty text."""

    def read(self, value: object) -> str:
        text = Text().read(value)
        try:
            return totp.read_secret(text) if text else ""
        except ValueError:
            message = "is not the secret of an authenticator app (base32 of 10 to 128 bytes)"
            raise FieldRefused("factor.secret", message) from None

    def schema(self) -> Schema:
        return Text().schema() | {"examples": ["JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"]}


class OrganizationReference(Request, frozen=True, kw_only=True):
    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("org_id", "org_domain"),)

    org_id: Name | None = None
    org_domain: Name | None = None


class NewProfile(ProfileFields, frozen=True, kw_only=True):
    given_name: Name
    family_name: Name

    def stored(self) -> Profile:
        """Returns the profile in the form in which the user record holds it."""
        return self.as_profile(self.given_name, self.family_name)


class Empty(Request, frozen=True, kw_only=True):
    """An empty object, of which only the presence matters."""


class SendEmail(Request, frozen=True, kw_only=True):
    url_template: Name | None = None


class NewEmail(Request, frozen=True, kw_only=True):
    """An email address, and how it is verified. Without any of the three members for that, a code
    is sent.
    """

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("send_code", "return_code", "is_verified"),)

    email: Annotated[str, EmailRule()]
    send_code: SendEmail | None = None
    return_code: Empty | None = None
    is_verified: bool = False


class NewPhone(Request, frozen=True, kw_only=True):
    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("send_code", "return_code", "is_verified"),)

    phone: Annotated[str, PhoneRule()]
    send_code: Empty | None = None
    return_code: Empty | None = None
    is_verified: bool = False


class MetadataEntry(Request, frozen=True, kw_only=True):
    key: Name
    value: Annotated[bytes, Base64(MAX_METADATA_CHARACTERS)]


class NewPassword(Request, frozen=True, kw_only=True):
    password: PasswordText
    change_required: bool = False


class HashedPassword(Request, frozen=True, kw_only=True):
    hash: Annotated[str, PasswordHash()]
    change_required: bool = False


class NewIdpLink(Request, frozen=True, kw_only=True):
    idp_id: Name
    user_id: Name
    user_name: Name


class CreateHuman(Request, frozen=True, kw_only=True):
    """A person to create. If `username` is omitted, it is the email address."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (("password", "hashed_password"),)

    profile: NewProfile
    email: NewEmail
    user_id: Annotated[str, UserId()] | None = None
    username: Annotated[str, UserName()] | None = None
    organization: OrganizationReference | None = None
    phone: NewPhone | None = None
    address: PostalAddress | None = None
    metadata: Annotated[list[MetadataEntry], Items(MAX_METADATA_ENTRIES)] = []
    password: NewPassword | None = None
    hashed_password: HashedPassword | None = None
    idp_links: list[NewIdpLink] = []
    totp_secret: Annotated[str, OtpSecret()] = ""
