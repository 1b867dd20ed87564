"""Rules for the fields of requests: declared as data, and applied by every endpoint.

A request struct (`idp/schema/reading.py`) annotates its fields with them::

    first_name: Name
    nick_name: Annotated[str, Text()] = ""

Limits count characters. A refused value is reported with an error code for programs and a sentence
that follows the field's path.
"""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Annotated, Any, Final, Protocol, TypeAlias

from msgspec import Struct

from idp.foundation import domain_names, durations, phones, user_names
from idp.foundation.texts import typed_texts

MAX_TEXT: Final = 200
NOT_YET: Final = "Not supported yet."
MAX_LANGUAGE: Final = 10

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ONE_LINE: Final = r"^[^\u0000-\u001F\u007F-\u009F\u2028\u2029]*$"
_LANGUAGE: Final = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]{0,18})")
# Most addresses are in normal form already and valid by every rule; the library would take 40 µs.
_PLAIN_ADDRESS: Final = re.compile(
    r"(?=.{3,64}@)[A-Za-z0-9_+]+([.-][A-Za-z0-9_+]+)*@"
    r"([a-z0-9]{1,63}\.)+[a-z]{2,24}"
)
_INSTANT: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


Schema: TypeAlias = dict[str, Any]  # JSON Schema 2020-12


class FieldRefused(Exception):
    """The error that a rule raises for a value that it does not accept.

    `message` is the end of a sentence that begins with the field's path, such as "must not be
    empty"; `limit` is the limit that the value exceeds, if there is one; `index` is that of a
    refused element, None if the whole value is refused."""

    index: int | None = None

    def __init__(self, error_code: str, message: str, limit: int | None = None) -> None:
        super().__init__(message)
        self.error_code = error_code
        self.message = message
        self.limit = limit


class Rule(Protocol):
    """A rule for the values of a request's field: it validates a value, converts it, and describes
    it as JSON Schema."""

    def read(self, value: object) -> Any:
        """Returns the value, validated and converted to the type that the program uses. Raises
        FieldRefused."""

    def schema(self) -> Schema:
        """Returns the JSON Schema of the values, for the published description. `read` may refuse
        values that the schema accepts."""


def wrong_type(expected: str) -> FieldRefused:
    return FieldRefused("field.wrong_type", f"must be {expected}")


class Text(Struct, frozen=True):
    """The rule of a field that holds a text of `min` to `max` characters in one line; with
    `is_free`, the text may contain any characters.

    If `min` is not 0, the text must not be blank either, unless it `is_free`.
    """

    min: int = 0
    max: int = MAX_TEXT
    is_free: bool = False

    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise wrong_type("a string")
        if len(value) > self.max:
            raise FieldRefused("field.too_long", f"has more than {self.max} characters", self.max)
        if len(value) < self.min or (self.min and not self.is_free and not value.strip()):
            if self.min <= 1:
                raise FieldRefused("field.empty", "must not be empty", self.min)
            raise FieldRefused("field.too_short", f"has under {self.min} characters", self.min)
        if not self.is_free and _CONTROL.search(value):
            raise FieldRefused("field.characters", "contains a control character")
        return value

    def schema(self) -> Schema:
        schema: Schema = {"type": "string", "maxLength": self.max}
        if self.min:
            schema["minLength"] = self.min
        return schema if self.is_free else schema | {"pattern": _ONE_LINE}


class UserName(Struct, frozen=True):
    """The rule of a field that holds a user name, with characters and length as
    `user_names.check_name` requires them."""

    def read(self, value: object) -> str:
        try:
            return user_names.check_name(Text(1).read(value))
        except user_names.NameRefused as refused:
            raise FieldRefused(refused.error_code, f"can't be used: {refused.message}") from None

    def schema(self) -> Schema:
        return Text(1).schema()


class OneOf(Struct, frozen=True):
    """The rule of a field that holds one of `names`. The names in `not_yet` are refused as not
    supported yet, with `error_code`."""

    names: tuple[str, ...]
    not_yet: tuple[str, ...] = ()
    error_code: str = "field.unsupported"

    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise wrong_type("a name")
        if value in self.not_yet:
            raise FieldRefused(self.error_code, f"{value} is not supported yet")
        if value not in self.names:
            raise FieldRefused("field.unknown_name", f"must be one of {', '.join(self.names)}")
        return value

    def schema(self) -> Schema:
        return {"type": "string", "enum": list(self.names)}


class NotYet(Struct, frozen=True):
    """The rule of a field that is not supported yet: it accepts only the empty value of the
    field's type `kind`, such as false or an empty text, and refuses others with `error_code`."""

    error_code: str
    kind: type = bool

    def read(self, value: object) -> object:
        if type(value) is not self.kind:
            raise wrong_type(_KINDS[self.kind])
        if value not in _EMPTY_VALUES[self.kind]:
            raise FieldRefused(self.error_code, "is not supported yet")
        return value

    def schema(self) -> Schema:
        return {"enum": _EMPTY_VALUES[self.kind], "description": NOT_YET}


_KINDS: Final = {
    bool: "true or false",
    int: "an integer",
    str: "a string",
    list: "a list",
    dict: "an object",
}
_EMPTY_VALUES: Final[dict[type, list[Any]]] = {
    bool: [False],
    int: [0],
    str: ["", "0s"],
    list: [[]],
    dict: [{}],
}


class Language(Struct, frozen=True):
    """The rule of a field that holds a language tag (RFC 3066) of at most ten characters, or an
    empty text. The tag is read without its extensions."""

    def read(self, value: object) -> str:
        tag = Text(max=MAX_LANGUAGE).read(value)
        if tag and not _LANGUAGE.fullmatch(tag):
            raise FieldRefused("language.invalid", "is not a language tag such as en or pt-BR")
        first, *subtags = tag.split("-")
        # Extensions begin with a single character (RFC 5646 2.2.6).
        end = next((n for n, part in enumerate(subtags) if len(part) == 1), len(subtags))
        return "-".join([first, *subtags[:end]])

    def schema(self) -> Schema:
        return {
            "type": "string",
            "maxLength": MAX_LANGUAGE,
            "pattern": f"^({_LANGUAGE.pattern})?$",
            "examples": ["en"],
        }


class EmailRule(Struct, frozen=True):
    """The rule of a field that holds an e-mail address (RFC 2822 3.4.1) of at most `max`
    characters. It is read in normal form: NFC, the domain in lower case. Invisible characters that
    an address which is typed would lose (`typed_texts.name`) are refused."""

    max: int = MAX_TEXT

    def read(self, value: object) -> str:
        address = Text(1, self.max).read(value)
        if _PLAIN_ADDRESS.fullmatch(address):
            return address
        checker = _email_checker()
        options = {"allow_quoted_local": True, "allow_domain_literal": True}
        offline = {"check_deliverability": False, "globally_deliverable": False}
        try:
            normalized = checker.validate_email(address, **options, **offline).normalized
        except checker.EmailNotValidError:
            raise FieldRefused("email.invalid", "is not an email address") from None
        if typed_texts.name(normalized) != normalized:
            raise FieldRefused("email.invalid", "contains invisible characters")
        return Text(1, self.max).read(normalized)

    def schema(self) -> Schema:
        return Text(1, self.max).schema() | {"format": "email", "examples": ["ada@example.com"]}


class Domain(Struct, frozen=True):
    """The rule of a field that holds a domain name. It is read in the form in which it is unique
    (`domain_names.read`), and may be empty unless `min` is 1."""

    min: int = 0

    def read(self, value: object) -> str:
        text = Text(self.min, domain_names.MAX_CHARACTERS).read(value)
        try:
            return domain_names.read(text) if text else ""
        except domain_names.NotADomain:
            raise FieldRefused(
                "domain.invalid", "is not a domain name such as example.com"
            ) from None

    def schema(self) -> Schema:
        text_schema = Text(self.min, domain_names.MAX_CHARACTERS).schema()
        return text_schema | {"examples": ["example.com"]}


class PhoneRule(Struct, frozen=True):
    """The rule of a field that holds a phone number in the global form (RFC 3966) of at most `max`
    characters, which is read as `+` and digits.

    The length is not validated by country: numbering plans change, and numbers from other systems
    must be accepted.
    """

    max: int = MAX_TEXT

    def read(self, value: object) -> str:
        text = Text(1, self.max).read(value).removeprefix("tel:")
        try:
            return phones.e164(text)
        except ValueError:
            raise FieldRefused(
                "phone.invalid", "is not a phone number with a country code, such as +41791234567"
            ) from None

    def schema(self) -> Schema:
        return Text(1, self.max).schema() | {"examples": ["+41791234567"]}


class Integer(Struct, frozen=True):
    """The rule of a field that holds a 64-bit integer from `min` to `max`, as a number or as a
    string of digits."""

    min: int = -(2**63)
    max: int = 2**63 - 1

    def read(self, value: object) -> int:
        if isinstance(value, str) and _INTEGER.fullmatch(value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise wrong_type("an integer")
        if not self.min <= value <= self.max:
            raise FieldRefused("field.out_of_range", f"must be from {self.min} to {self.max}")
        return value

    def schema(self) -> Schema:
        number = {"type": "integer", "minimum": self.min, "maximum": self.max}
        return {"anyOf": [number, {"type": "string", "pattern": f"^{_INTEGER.pattern}$"}]}


class Instant(Struct, frozen=True):
    """The rule of a field that holds an instant in the notation of RFC 3339, which is read as UTC
    and truncated to milliseconds."""

    def read(self, value: object) -> datetime:
        text = Text().read(value)
        try:
            if not _INSTANT.fullmatch(text):
                raise ValueError(text)
            # RFC 3339 also allows a lower-case `t` and `z`.
            at = datetime.fromisoformat(text.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            raise FieldRefused(
                "field.timestamp", "is not a timestamp such as 2030-01-31T12:00:00Z"
            ) from None
        # The store holds milliseconds only.
        return at.replace(microsecond=at.microsecond // 1000 * 1000)

    def schema(self) -> Schema:
        instant = {"format": "date-time", "examples": ["2030-01-31T12:00:00Z"]}
        return Text().schema() | instant


class Duration(Struct, frozen=True):
    """The rule of a field that holds a duration in the notation of Go, such as 1h30m0s, of at most
    `max`."""

    max: timedelta = timedelta.max

    def read(self, value: object) -> timedelta:
        try:
            duration = durations.parse(Text().read(value))
        except ValueError:
            raise FieldRefused("field.duration", "is not a duration such as 1h30m0s") from None
        if duration > self.max:
            raise FieldRefused("field.out_of_range", f"must be at most {_hours(self.max)}h")
        return duration

    def schema(self) -> Schema:
        limit = "" if self.max == timedelta.max else f", {_hours(self.max)}h at most"
        description = f"A duration in the format of Go{limit}."
        return Text().schema() | {"description": description, "examples": ["1h30m0s"]}


def _hours(duration: timedelta) -> int:
    return duration // timedelta(hours=1)


class Base64(Struct, frozen=True):
    """The rule of a field that holds 1 to `max` characters of base64 with padding, in the standard
    or the URL-safe alphabet; it is read as bytes."""

    max: int

    def read(self, value: object) -> bytes:
        text = Text(1, self.max, is_free=True).read(value)
        try:
            return base64.b64decode(text.encode("ascii").translate(_STANDARD), validate=True)
        except (UnicodeEncodeError, binascii.Error):
            raise FieldRefused("field.base64", "is not base64") from None

    def schema(self) -> Schema:
        return {
            "type": "string",
            "minLength": 1,
            "maxLength": self.max,
            "contentEncoding": "base64",
            "examples": ["aGVsbG8="],
        }


# From the URL-safe alphabet to the standard one (RFC 4648 5).
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")


class Items(Struct, frozen=True):
    """The rule of a field that holds a list of `min` to `max` elements; the rule of the elements
    is that of the list's element type."""

    max: int
    min: int = 0

    def read(self, value: object) -> list[Any]:
        if not isinstance(value, list):
            raise wrong_type("a list")
        if len(value) > self.max:
            raise FieldRefused("field.too_many", f"has more than {self.max} elements", self.max)
        if len(value) < self.min:
            raise FieldRefused("field.too_few", f"needs {self.min} or more elements", self.min)
        return value

    def schema(self) -> Schema:
        schema = {"type": "array", "maxItems": self.max}
        return schema | {"minItems": self.min} if self.min else schema


Name: TypeAlias = Annotated[str, Text(1)]
Password: TypeAlias = Annotated[str, Text(1, is_free=True)]


@cache
def _email_checker() -> Any:
    """Returns the library that validates addresses; domains of private networks (.local, .test)
    are accepted."""
    import email_validator  # takes 20 ms, which the start does not need

    email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()
    return email_validator
