"""Error codes about the fields of request bodies."""

from __future__ import annotations

from typing import Final

from idp.error_catalogue.entry import CatalogueEntry, ErrorCodes
from idp.foundation.i18n import message

FIELDS: Final[ErrorCodes] = {
    "birthdate.invalid": CatalogueEntry(
        400, message("Enter a date such as 1990-01-31, or a year.", context="console")
    ),
    "colour.invalid": CatalogueEntry(
        400, message("Enter a color such as #2b4fc7.", context="refused")
    ),
    "domain.invalid": CatalogueEntry(
        400, message("Enter a domain name such as example.com.", context="console")
    ),
    "email.invalid": CatalogueEntry(
        400, message("Enter an email such as name@example.com.", context="console")
    ),
    "expiration.too_late": CatalogueEntry(
        400,
        message(
            "Choose an earlier date. The installation doesn't allow one this late.",
            context="refused",
        ),
    ),
    "field.address": CatalogueEntry(
        400, message("Enter a URL such as https://example.com/.", context="console")
    ),
    "field.base64": CatalogueEntry(400, "Send base64 with its padding, in either alphabet."),
    "field.characters": CatalogueEntry(
        400, message("Remove the characters that can't be used.", context="console")
    ),
    "field.conflict": CatalogueEntry(
        400,
        message(
            "Enter another value. This one can't be combined with the others.", context="console"
        ),
    ),
    "field.duplicate": CatalogueEntry(
        400, message("Remove the duplicate entry.", context="refused")
    ),
    "field.duration": CatalogueEntry(400, "Enter a duration such as 1h30m0s."),
    "field.empty": CatalogueEntry(400, message("Enter a value.", context="console")),
    "field.out_of_range": CatalogueEntry(
        400,
        message("Enter another number. This one is too small or too large.", context="console"),
    ),
    "field.required": CatalogueEntry(400, message("Enter a value.", context="console")),
    "field.timestamp": CatalogueEntry(400, "Enter a time such as 2030-01-31T12:00:00Z."),
    "field.too_few": CatalogueEntry(400, message("Choose at least one.", context="console")),
    "field.too_long": CatalogueEntry(400, "Shorten the text. It has too many characters."),
    "field.too_many": CatalogueEntry(400, "Send fewer elements, or several requests."),
    "field.too_short": CatalogueEntry(400, "Enter a longer text."),
    "field.unknown": CatalogueEntry(400, "Check the name. There is no such field."),
    "field.unknown_name": CatalogueEntry(
        400, message("Choose one from the list.", context="console")
    ),
    "field.unsupported": CatalogueEntry(400, "Leave this out. It isn't supported yet."),
    "field.wrong_type": CatalogueEntry(
        400, message("Enter another value. This one can't be used here.", context="console")
    ),
    "language.invalid": CatalogueEntry(
        400, message("Enter a language such as en or pt-BR.", context="console")
    ),
    "language.not_allowed": CatalogueEntry(
        400, message("Choose one of the allowed languages.", context="policies")
    ),
    "language.not_shipped": CatalogueEntry(
        400, "Choose another language. The pages aren't available in this one."
    ),
    "link.invalid": CatalogueEntry(
        400, message("Enter a URL that begins with https://.", context="refused")
    ),
    "origin.form": CatalogueEntry(400, "Enter only scheme, host and port: https://app.example."),
    "phone.invalid": CatalogueEntry(
        400,
        message(
            "Enter a phone number with its country code, such as +41791234567.", context="console"
        ),
    ),
    "query.cursor": CatalogueEntry(
        400, "Send the nextCursor of the last answer, with the same filters and order."
    ),
    "query.method_unsupported": CatalogueEntry(
        400, "Use EQUALS or STARTS_WITH, with or without IGNORE_CASE."
    ),
    "query.offset_unsupported": CatalogueEntry(
        400, "Send the nextCursor of the last answer as query.cursor. Pages are not counted."
    ),
    "query.sorting_unsupported": CatalogueEntry(
        400, "Leave the sorting column out, or use one from the message."
    ),
    "redirect_uri.characters": CatalogueEntry(
        400,
        message("Remove the characters that a URL can't have, such as spaces.", context="refused"),
    ),
    "redirect_uri.dots": CatalogueEntry(
        400, message("Remove . and .. from the path.", context="refused")
    ),
    "redirect_uri.fragment": CatalogueEntry(
        400, message("Remove the # and what follows it.", context="refused")
    ),
    "redirect_uri.host": CatalogueEntry(
        400,
        message(
            "Enter a URL with a valid host and port and without a username.", context="refused"
        ),
    ),
    "redirect_uri.http": CatalogueEntry(
        400,
        message(
            "Use https. Only loopback addresses, such as http://localhost:3000/, and"
            " development mode allow http.",
            context="refused",
        ),
    ),
    "redirect_uri.relative": CatalogueEntry(
        400,
        message(
            "Enter a complete URL such as https://app.example.com/callback.", context="refused"
        ),
    ),
    "redirect_uri.scheme": CatalogueEntry(
        400,
        message("Enter an https URL. Only native apps can use custom schemes.", context="refused"),
    ),
    "redirect_uri.wildcard": CatalogueEntry(
        400, message("Enter each URL in full. Wildcards (*) can't be used.", context="refused")
    ),
    "text.placeholder": CatalogueEntry(400, "Use only the placeholders that the message lists."),
    "login_text.not_found": CatalogueEntry(
        400,
        "Use a screen and a key of the default texts. Texts that contain a number can't be set.",
    ),
    "login_text.placeholders": CatalogueEntry(
        400,
        message(
            "Use each placeholder of the default text once, unchanged, and no others.",
            context="policies",
        ),
    ),
    "login_text.repeated": CatalogueEntry(400, "Send each text once."),
    "fields.too_many": CatalogueEntry(
        400, "Fix these problems, and send it again. There are more than can be listed."
    ),
    "image.too_large": CatalogueEntry(400, "Choose a smaller image: at most 40 megapixels."),
    "picture.animated": CatalogueEntry(
        400, message("Choose a picture that isn't animated.", context="policies")
    ),
    "picture.invalid": CatalogueEntry(
        400,
        message("Save the picture again and upload it. This file is damaged.", context="policies"),
    ),
    "picture.kind": CatalogueEntry(
        400, message("Choose a PNG, JPEG or WebP picture.", context="policies")
    ),
    "picture.svg": CatalogueEntry(
        400,
        message(
            "Save the picture as PNG. SVG files can contain scripts and aren't accepted.",
            context="policies",
        ),
    ),
    "picture.too_large": CatalogueEntry(
        400,
        message("Choose a smaller picture: at most 512 kB and 2000 pixels.", context="policies"),
    ),
    "url_template.invalid": CatalogueEntry(
        400,
        "Enter an https URL. It can contain {{.UserID}}, {{.OrgID}}, {{.Code}}, {{.LoginName}}.",
    ),
    "url_template.origin": CatalogueEntry(
        400,
        "Use an origin of the organization's applications, or of the setting mail_link_origins.",
    ),
    "zoneinfo.unknown": CatalogueEntry(
        400, message("Enter a time zone such as Europe/Zurich.", context="console")
    ),
}
