"""Error codes about the fields of request bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "birthdate.invalid": CatalogueEntry(
        400,
        "The text is no day and no year.",
        "Write 1990-01-31, 1990, or 0000-01-31 where the year is not told.",
    ),
    "colour.contrast": CatalogueEntry(
        400,
        "The colour can't be read on its background.",
        "Choose colours with a contrast of 4.5 to 1 or more.",
    ),
    "colour.invalid": CatalogueEntry(
        400,
        "The text is no colour.",
        "Write it as #rrggbb.",
    ),
    "domain.invalid": CatalogueEntry(
        400,
        "The text is no domain name.",
        "Write a name such as example.com, without a port or path.",
    ),
    "email.invalid": CatalogueEntry(
        400,
        "The text is no e-mail address.",
        "Write an address such as ada@example.com.",
    ),
    "expiration.too_late": CatalogueEntry(
        400,
        "The token or key would last longer than pat_max_days or key_max_days allows.",
        "Choose an earlier instant, or send no expirationDate for the latest that is allowed.",
    ),
    "field.address": CatalogueEntry(
        400,
        "The text is no address of a web page.",
        "Write it with https:// or http:// in front.",
    ),
    "field.base64": CatalogueEntry(
        400,
        "The text is not base64 with its padding.",
        "Encode the octets in base64, of either alphabet.",
    ),
    "field.characters": CatalogueEntry(
        400,
        "The text holds a character that can't stand there, such as a line end.",
        "Leave it out.",
    ),
    "field.conflict": CatalogueEntry(
        400,
        "Two fields were sent of which only one can count.",
        "Send one of them.",
    ),
    "field.duplicate": CatalogueEntry(
        400,
        "A field was sent under both of its names, or a list holds a value twice.",
        "Send it once.",
    ),
    "field.duration": CatalogueEntry(
        400,
        "The text is no duration.",
        "Write it as Go does, such as 1h30m0s.",
    ),
    "field.empty": CatalogueEntry(
        400,
        "The field is empty, or blank.",
        "Send something, or leave the field out if it is not required.",
    ),
    "field.out_of_range": CatalogueEntry(
        400,
        "The number or duration is too small or too large.",
        "Choose one within the limits that the message tells.",
    ),
    "field.required": CatalogueEntry(
        400,
        "The field is missing.",
        "Send it.",
    ),
    "field.timestamp": CatalogueEntry(
        400,
        "The text is no instant.",
        "Write it as RFC 3339 does, such as 2030-01-31T12:00:00Z.",
    ),
    "field.too_few": CatalogueEntry(
        400,
        "The list has too few elements.",
        "Send as many as the detail's limit says.",
    ),
    "field.too_long": CatalogueEntry(
        400,
        "The text has more characters than the detail's limit.",
        "Shorten it.",
    ),
    "field.too_many": CatalogueEntry(
        400,
        "The list has more elements than the detail's limit.",
        "Send fewer, or several requests.",
    ),
    "field.too_short": CatalogueEntry(
        400,
        "The text has less characters than the detail's limit.",
        "Write more.",
    ),
    "field.unknown": CatalogueEntry(
        400,
        "There is no such field.",
        "Compare its name with the documentation.",
    ),
    "field.unknown_name": CatalogueEntry(
        400,
        "The value is none of those that the message lists.",
        "Send one of them.",
    ),
    "field.unsupported": CatalogueEntry(
        400,
        "The value is known, but the service can't do that yet.",
        "Leave the field out.",
    ),
    "field.wrong_type": CatalogueEntry(
        400,
        "The value is of another type than the field's.",
        "Send the type that the message names.",
    ),
    "language.invalid": CatalogueEntry(
        400,
        "The text is no language tag.",
        "Write a tag such as en or pt-BR, of at most ten characters.",
    ),
    "language.not_allowed": CatalogueEntry(
        400,
        "The default language is not one of those that are allowed.",
        "Allow it, or choose another one.",
    ),
    "language.not_shipped": CatalogueEntry(
        400,
        "The pages are not written in this language.",
        "Use one of those that the message lists.",
    ),
    "link.invalid": CatalogueEntry(
        400,
        "The text is no address at https.",
        "Write it with https:// in front; {{.Lang}} may stand behind the host only.",
    ),
    "origin.form": CatalogueEntry(
        400,
        "The text is no origin as browsers send it.",
        "Write scheme, host and port alone, such as https://app.example.",
    ),
    "phone.invalid": CatalogueEntry(
        400,
        "The text is no phone number with its country.",
        "Write it such as +41791234567.",
    ),
    "query.cursor": CatalogueEntry(
        400,
        "The cursor was not given for this search.",
        "Send the nextCursor of the last answer, with the same filters and order.",
    ),
    "query.method_unsupported": CatalogueEntry(
        400,
        "The text filter's method is one that no index answers.",
        "Use EQUALS or STARTS_WITH, with or without IGNORE_CASE.",
    ),
    "query.offset_unsupported": CatalogueEntry(
        400,
        "Pages are not counted.",
        "Send the nextCursor of the last answer as query.cursor.",
    ),
    "query.sorting_unsupported": CatalogueEntry(
        400,
        "The list has no such order.",
        "Leave the sorting column out, or name one that the message tells.",
    ),
    "redirect_uri.characters": CatalogueEntry(
        400,
        "The address holds a character that no URI has.",
        "Percent-encode it; write host names in punycode.",
    ),
    "redirect_uri.dots": CatalogueEntry(
        400,
        "The path holds . or .. as a segment, which browsers resolve.",
        "Write the path as it will be sent.",
    ),
    "redirect_uri.fragment": CatalogueEntry(
        400,
        "The address has a fragment (#).",
        "Leave it out: answers come in the query, the fragment or a form.",
    ),
    "redirect_uri.host": CatalogueEntry(
        400,
        "The address has no host, a user name, or a port that does not exist.",
        "Write https://host/path.",
    ),
    "redirect_uri.http": CatalogueEntry(
        400,
        "Codes sent to an http address can be read on their way.",
        "Use https, or a loopback address; for trials, devMode.",
    ),
    "redirect_uri.relative": CatalogueEntry(
        400,
        "The address is not absolute.",
        "Write it whole, such as https://app.example/cb.",
    ),
    "redirect_uri.scheme": CatalogueEntry(
        400,
        "Such a scheme can't be registered, or only by native applications.",
        "Use https.",
    ),
    "redirect_uri.wildcard": CatalogueEntry(
        400,
        "The address holds a wildcard (*); addresses are compared octet by octet.",
        "Register each address.",
    ),
    "text.placeholder": CatalogueEntry(
        400,
        "The text names a placeholder that this letter can't fill.",
        "Use those that the message lists.",
    ),
    "login_text.not_found": CatalogueEntry(
        400,
        "There is no such text on this screen, or it holds a number and can't be set.",
        "Use a screen and a key that the default texts name.",
    ),
    "login_text.placeholders": CatalogueEntry(
        400,
        "The text has not the placeholders of the one that it replaces.",
        "Use each of those that the message lists, once.",
    ),
    "login_text.repeated": CatalogueEntry(
        400,
        "A text is named more than once.",
        "Send each once.",
    ),
    "fields.too_many": CatalogueEntry(
        400,
        "More is wrong with the request than is told at once.",
        "Mend what is named, and send it again.",
    ),
    "image.too_large": CatalogueEntry(
        400,
        "The image has more than 40 megapixels.",
        "Send a smaller one.",
    ),
    "picture.animated": CatalogueEntry(
        400,
        "The picture moves.",
        "Send a single one.",
    ),
    "picture.invalid": CatalogueEntry(
        400,
        "The picture is damaged.",
        "Save it anew, and send that.",
    ),
    "picture.kind": CatalogueEntry(
        400,
        "The file is no PNG, JPEG or WebP picture.",
        "Save it as one of these.",
    ),
    "picture.svg": CatalogueEntry(
        400,
        "SVG can hold scripts, and is not taken.",
        "Save it as PNG.",
    ),
    "picture.too_large": CatalogueEntry(
        400,
        "The picture has too many bytes or pixels.",
        "Send at most 512 kB and 2000 pixels in each direction.",
    ),
    "url_template.invalid": CatalogueEntry(
        400,
        "The address can't be made of this template.",
        "Write a whole https address; it may name {{.UserID}}, {{.OrgID}}, {{.Code}} and "
        "{{.LoginName}}.",
    ),
    "url_template.origin": CatalogueEntry(
        400,
        "A mail may not lead to that website.",
        "Name one where an application of the organization is, or have the origin added to the "
        "setting mail_link_origins.",
    ),
    "zoneinfo.unknown": CatalogueEntry(
        400,
        "There is no time zone of this name.",
        "Write a name of the IANA's list, such as Europe/Zurich.",
    ),
}
