"""Fields and rules that all requests which describe a person share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Annotated, Final, Literal

from msgspec import Struct, structs

from idp.foundation.errors import FieldProblem
from idp.foundation.i18n import SOURCE, load
from idp.foundation.localization import local_time
from idp.passwords.policy import PasswordProblem
from idp.records import Address, Profile
from idp.schema.field_rules import FieldRefused, Language, Schema, Text
from idp.schema.reading import Request

Gender = Literal["GENDER_UNSPECIFIED", "GENDER_FEMALE", "GENDER_MALE", "GENDER_DIVERSE"]
GENDERS: Final[Mapping[str, Literal["female", "male", "diverse"]]] = {
    "GENDER_FEMALE": "female",
    "GENDER_MALE": "male",
    "GENDER_DIVERSE": "diverse",
}
_WEB: Final = re.compile(
    r"https?://([a-z0-9][a-z0-9._-]*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?"
    r"([/?#]([a-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9a-f]{2})*)?",
    re.ASCII | re.IGNORECASE,
)
_BIRTHDATE: Final = re.compile(r"(?!0000$)(?P<year>[0-9]{4})(-(?P<day>[0-9]{2}-[0-9]{2}))?")
_LEAP_YEAR: Final = "2000"  # in place of the year 0000, so that 02-29 is a valid day
_LINE_ENDS: Final = str.maketrans("\r\n", "  ")


class WebPage(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds the address of a page or a picture, or
    an empty text."""

    def read(self, value: object) -> str:
        address = Text().read(value)
        if address and not _WEB.fullmatch(address):
            raise FieldRefused("field.address", "is not a URL such as https://max.example/me")
        return address

    def schema(self) -> Schema:
        return Text().schema() | {"examples": ["https://max.example/me"]}


class Birthdate(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds a birth date: a day, a year, or a day
    with the year 0000, which means that the year is not stated (OpenID Connect Core 5.1); or an
    empty text."""

    def read(self, value: object) -> str:
        text = Text().read(value)
        if text and not _is_birthdate(text):
            raise FieldRefused("birthdate.invalid", "is not a date such as 1990-01-31, nor a year")
        return text

    def schema(self) -> Schema:
        return Text().schema() | {"examples": ["1990-01-31"]}


class Zone(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds the name of a time zone in the IANA time
    zone database, or an empty text."""

    def read(self, value: object) -> str:
        name = Text().read(value)
        if name and name not in local_time.zones():
            raise FieldRefused("zoneinfo.unknown", "is not a time zone such as Europe/Zurich")
        return name

    def schema(self) -> Schema:
        return Text().schema() | {"examples": ["Europe/Zurich"]}


class TextLines(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of a field that holds up to `max` characters in one or more
    lines."""

    max: int

    def read(self, value: object) -> str:
        text = Text(max=self.max, is_free=True).read(value)
        # The rule of one line refuses control characters, of which only line ends are allowed.
        Text(max=self.max).read(text.translate(_LINE_ENDS))
        return text

    def schema(self) -> Schema:
        return Text(max=self.max, is_free=True).schema()


class ProfileFields(Request, frozen=True, kw_only=True):
    """The base of the requests with a person's profile: all its fields except the first and the
    last name, which each version of the API names differently."""

    nick_name: Annotated[str, Text()] = ""
    display_name: Annotated[str, Text()] = ""
    preferred_language: Annotated[str, Language()] = ""
    gender: Gender = "GENDER_UNSPECIFIED"
    middle_name: Annotated[str, Text()] = ""
    profile: Annotated[str, WebPage()] = ""
    picture: Annotated[str, WebPage()] = ""
    website: Annotated[str, WebPage()] = ""
    birthdate: Annotated[str, Birthdate()] = ""
    zoneinfo: Annotated[str, Zone()] = ""

    def as_profile(self, given_name: str | None, family_name: str | None) -> Profile:
        """Returns the profile in the form in which the user record holds it, with this first name
        (`given_name`) and last name (`family_name`)."""
        return Profile(
            display_name=self.display_name or "",
            given_name=given_name,
            family_name=family_name,
            nick_name=self.nick_name or None,
            preferred_language=self.preferred_language or None,
            gender=GENDERS.get(self.gender),
            middle_name=self.middle_name or None,
            profile=self.profile or None,
            picture=self.picture or None,
            website=self.website or None,
            birthdate=self.birthdate or None,
            zoneinfo=self.zoneinfo or None,
        )


class PostalAddress(Request, frozen=True, kw_only=True):
    """A postal address (OpenID Connect Core 5.1.1), of which at least one part must be given."""

    formatted: Annotated[str, TextLines(1000)] = ""
    street_address: Annotated[str, TextLines(200)] = ""
    locality: Annotated[str, Text()] = ""
    region: Annotated[str, Text()] = ""
    postal_code: Annotated[str, Text()] = ""
    country: Annotated[str, Text()] = ""

    def check(self) -> Iterator[FieldProblem]:
        if all(value == "" for value in structs.astuple(self)):
            yield FieldProblem("field.empty", "", "must not be empty")

    def stored(self) -> Address:
        """Returns the address in the form in which the user record holds it."""
        return Address(**{name: text or None for name, text in structs.asdict(self).items()})


def password_problems(path: str, problems: Iterable[PasswordProblem]) -> list[FieldProblem]:
    """Returns the rules that a new password breaks (`problems`) as problems of the request's field
    at `path`."""
    text = load(SOURCE).text
    return [FieldProblem(each.error_code, path, text(each.text), each.limit) for each in problems]


def _is_birthdate(text: str) -> bool:
    match = _BIRTHDATE.fullmatch(text)
    if match is None:
        return False
    year = _LEAP_YEAR if match["year"] == "0000" else match["year"]
    try:
        date.fromisoformat(f"{year}-{match['day'] or '01-01'}")
    except ValueError:
        return False
    return True
