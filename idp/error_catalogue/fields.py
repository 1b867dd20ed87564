"""Error codes about the fields of request bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry
from idp.foundation.i18n import message

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "birthdate.invalid": CatalogueEntry(
        400,
        "The text is neither a date nor a year.",
        "Enter 1990-01-31, 1990, or 0000-01-31 without a year.",
        field_text=message("Enter a date such as 1990-01-31, or a year.", context="console"),
    ),
    "colour.invalid": CatalogueEntry(
        400,
        "The text isn't a colour.",
        "Write it as #rrggbb.",
        field_text=message("Enter a colour such as #2b4fc7.", context="refused"),
    ),
    "domain.invalid": CatalogueEntry(
        400,
        "The text isn't a domain name.",
        "Write a name such as example.com, without a port or path.",
        field_text=message("Enter a domain name such as example.com.", context="console"),
    ),
    "email.invalid": CatalogueEntry(
        400,
        "The text isn't an email address.",
        "Write an address such as ada@example.com.",
        field_text=message("Enter an email such as name@example.com.", context="console"),
    ),
    "expiration.too_late": CatalogueEntry(
        400,
        "The token or key would last longer than pat_max_days or key_max_days allows.",
        "Choose an earlier time, or send no expirationDate for the latest that is allowed.",
        field_text=message(
            "Choose an earlier date. The installation doesn't allow one this late.",
            context="refused",
        ),
    ),
    "field.address": CatalogueEntry(
        400,
        "The text isn't the URL of a web page.",
        "Begin it with https:// or http://.",
        field_text=message("Enter a URL such as https://example.com/.", context="console"),
    ),
    "field.base64": CatalogueEntry(
        400,
        "The text is not base64 with its padding.",
        "Encode the bytes in base64, with either alphabet.",
    ),
    "field.characters": CatalogueEntry(
        400,
        "The text contains a character that isn't allowed, such as a line break.",
        "Leave it out.",
        field_text=message("Remove the characters that can't be used.", context="console"),
    ),
    "field.conflict": CatalogueEntry(
        400,
        "Two fields were sent that exclude each other.",
        "Send one of them.",
        field_text=message(
            "Enter another value. This one can't be combined with the others.", context="console"
        ),
    ),
    "field.duplicate": CatalogueEntry(
        400,
        "A field was sent under both of its names, or a value is listed twice.",
        "Send it once.",
        field_text=message("Remove the duplicate entry.", context="refused"),
    ),
    "field.duration": CatalogueEntry(
        400,
        "The text isn't a duration.",
        "Write it in the format of Go, such as 1h30m0s.",
        field_text=message("Enter a whole number such as 12.", context="console"),
    ),
    "field.empty": CatalogueEntry(
        400,
        "The field is empty, or has only spaces.",
        "Send a value, or leave the field out if it is not required.",
        field_text=message("Enter a value.", context="console"),
    ),
    "field.out_of_range": CatalogueEntry(
        400,
        "The number or duration is too small or too large.",
        "Choose one within the limits in the message.",
        field_text=message(
            "Enter another number. This one is too small or too large.", context="console"
        ),
    ),
    "field.required": CatalogueEntry(
        400,
        "The field is missing.",
        "Send it.",
        field_text=message("Enter a value.", context="console"),
    ),
    "field.timestamp": CatalogueEntry(
        400,
        "The text isn't a timestamp.",
        "Write it in RFC 3339, such as 2030-01-31T12:00:00Z.",
        field_text=message("Enter a date such as 2030-12-31.", context="console"),
    ),
    "field.too_few": CatalogueEntry(
        400,
        "The list has too few elements.",
        "Send as many as the detail's limit says.",
        field_text=message("Choose at least one.", context="console"),
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
        "The text has fewer characters than the detail's limit.",
        "Send a longer text.",
    ),
    "field.unknown": CatalogueEntry(
        400,
        "There is no such field.",
        "Compare its name with the documentation.",
    ),
    "field.unknown_name": CatalogueEntry(
        400,
        "The value isn't one of those that the message lists.",
        "Send one of them.",
        field_text=message("Choose one from the list.", context="console"),
    ),
    "field.unsupported": CatalogueEntry(
        400,
        "The value is known, but not supported yet.",
        "Leave the field out.",
    ),
    "field.wrong_type": CatalogueEntry(
        400,
        "The value has the wrong type.",
        "Send the type that the message names.",
        field_text=message("Enter another value. This one can't be used here.", context="console"),
    ),
    "language.invalid": CatalogueEntry(
        400,
        "The text isn't a language tag.",
        "Write a tag such as en or pt-BR, of at most ten characters.",
        field_text=message("Enter a language such as en or pt-BR.", context="console"),
    ),
    "language.not_allowed": CatalogueEntry(
        400,
        "The default language is not one of those that are allowed.",
        "Allow it, or choose another one.",
        field_text=message("Choose one of the allowed languages.", context="policies"),
    ),
    "language.not_shipped": CatalogueEntry(
        400,
        "The pages aren't available in this language.",
        "Use one of those that the message lists.",
    ),
    "link.invalid": CatalogueEntry(
        400,
        "The text isn't an https URL.",
        "Begin it with https://; {{.Lang}} is only allowed after the host.",
        field_text=message("Enter a URL that begins with https://.", context="refused"),
    ),
    "origin.form": CatalogueEntry(
        400,
        "The text isn't an origin as browsers send it.",
        "Write only scheme, host and port, such as https://app.example.",
    ),
    "phone.invalid": CatalogueEntry(
        400,
        "The text isn't a phone number with its country code.",
        "Write it like +41791234567.",
        field_text=message(
            "Enter a phone number with its country code, such as +41791234567.", context="console"
        ),
    ),
    "query.cursor": CatalogueEntry(
        400,
        "The cursor was not given for this search.",
        "Send the nextCursor of the last answer, with the same filters and order.",
    ),
    "query.method_unsupported": CatalogueEntry(
        400,
        "The text filter's method isn't supported.",
        "Use EQUALS or STARTS_WITH, with or without IGNORE_CASE.",
    ),
    "query.offset_unsupported": CatalogueEntry(
        400,
        "Pages are not counted.",
        "Send the nextCursor of the last answer as query.cursor.",
    ),
    "query.sorting_unsupported": CatalogueEntry(
        400,
        "The list can't be sorted in this way.",
        "Leave the sorting column out, or use one from the message.",
    ),
    "redirect_uri.characters": CatalogueEntry(
        400,
        "The URI contains an invalid character.",
        "Percent-encode it; write host names in punycode.",
        field_text=message(
            "Remove the characters that a URL can't have, such as spaces.", context="refused"
        ),
    ),
    "redirect_uri.dots": CatalogueEntry(
        400,
        "The path contains . or .. as a segment, which browsers resolve.",
        "Write the path as it will be sent.",
        field_text=message("Remove . and .. from the path.", context="refused"),
    ),
    "redirect_uri.fragment": CatalogueEntry(
        400,
        "The URI has a fragment (#).",
        "Leave it out: responses are sent in the query, the fragment or a form.",
        field_text=message("Remove the # and what follows it.", context="refused"),
    ),
    "redirect_uri.host": CatalogueEntry(
        400,
        "The URI has no host, has a username, or has an invalid port.",
        "Write https://host/path.",
        field_text=message(
            "Enter a URL with a valid host and port and without a username.", context="refused"
        ),
    ),
    "redirect_uri.http": CatalogueEntry(
        400,
        "Codes sent to an http URI aren't encrypted.",
        "Use https, or a loopback address; for development, devMode.",
        field_text=message(
            "Use https. Only loopback addresses, such as http://localhost:3000/, and"
            " development mode allow http.",
            context="refused",
        ),
    ),
    "redirect_uri.relative": CatalogueEntry(
        400,
        "The URI is not absolute.",
        "Write the complete URI, such as https://app.example/cb.",
        field_text=message(
            "Enter a complete URL such as https://app.example.com/callback.", context="refused"
        ),
    ),
    "redirect_uri.scheme": CatalogueEntry(
        400,
        "This scheme can't be registered, or only for native applications.",
        "Use https.",
        field_text=message(
            "Enter an https URL. Only native apps can use custom schemes.", context="refused"
        ),
    ),
    "redirect_uri.wildcard": CatalogueEntry(
        400,
        "The URI contains a wildcard (*); URIs are compared exactly.",
        "Register each URI.",
        field_text=message(
            "Enter each URL in full. Wildcards (*) can't be used.", context="refused"
        ),
    ),
    "text.placeholder": CatalogueEntry(
        400,
        "The text contains a placeholder that this message doesn't have.",
        "Use those that the message lists.",
    ),
    "login_text.not_found": CatalogueEntry(
        400,
        "There is no such text on this screen, or it contains a number and can't be set.",
        "Use a screen and a key that the default texts name.",
    ),
    "login_text.placeholders": CatalogueEntry(
        400,
        "The text doesn't have the placeholders of the one that it replaces.",
        "Use each of those that the message lists, once.",
        field_text=message(
            "Use each placeholder of the default text once, unchanged, and no others.",
            context="policies",
        ),
    ),
    "login_text.repeated": CatalogueEntry(
        400,
        "A text is listed more than once.",
        "Send each once.",
    ),
    "fields.too_many": CatalogueEntry(
        400,
        "The request has more errors than one answer lists.",
        "Fix what the message names, and send it again.",
    ),
    "image.too_large": CatalogueEntry(
        400,
        "The image has more than 40 megapixels.",
        "Send a smaller one.",
    ),
    "picture.animated": CatalogueEntry(
        400,
        "The picture is animated.",
        "Send a picture with a single frame.",
        field_text=message("Choose a picture that isn't animated.", context="policies"),
    ),
    "picture.invalid": CatalogueEntry(
        400,
        "The picture is damaged.",
        "Save it again, and send that file.",
        field_text=message(
            "Save the picture again and upload it. This file is damaged.", context="policies"
        ),
    ),
    "picture.kind": CatalogueEntry(
        400,
        "The file isn't a PNG, JPEG or WebP picture.",
        "Save it as one of these.",
        field_text=message("Choose a PNG, JPEG or WebP picture.", context="policies"),
    ),
    "picture.svg": CatalogueEntry(
        400,
        "SVG can contain scripts, and isn't accepted.",
        "Save it as PNG.",
        field_text=message(
            "Save the picture as PNG. SVG files can contain scripts and aren't accepted.",
            context="policies",
        ),
    ),
    "picture.too_large": CatalogueEntry(
        400,
        "The picture has too many bytes or pixels.",
        "Send at most 512 kB and 2000 pixels in each direction.",
        field_text=message(
            "Choose a smaller picture: at most 512 kB and 2000 pixels.", context="policies"
        ),
    ),
    "url_template.invalid": CatalogueEntry(
        400,
        "The template doesn't produce a valid URL.",
        "Write a complete https URL; it can contain {{.UserID}}, {{.OrgID}}, {{.Code}} and"
        " {{.LoginName}}.",
    ),
    "url_template.origin": CatalogueEntry(
        400,
        "An email can't link to that website.",
        "Use the origin of an application of the organization, or ask the operator to add the"
        " origin to the setting mail_link_origins.",
    ),
    "zoneinfo.unknown": CatalogueEntry(
        400,
        "There is no time zone of this name.",
        "Use a name of the IANA time zone database, such as Europe/Zurich.",
        field_text=message("Enter a time zone such as Europe/Zurich.", context="console"),
    ),
}
