"""The console's texts for invalid values of applications, secrets, keys, tokens and policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.foundation.i18n import Message, message

FIELD_TEXTS: Final[Mapping[str, Message]] = {
    "preset.host": message(
        "Enter a host name such as app.example.com, or the URL of a page.",
        context="refused",
    ),
    "redirect_uri.scheme": message(
        "Enter an https URL. Only native apps can use custom schemes.",
        context="refused",
    ),
    "redirect_uri.http": message(
        "Use https. Only loopback addresses, such as "
        "http://localhost:3000/, and development mode allow http.",
        context="refused",
    ),
    "redirect_uri.fragment": message("Remove the # and what follows it.", context="refused"),
    "redirect_uri.wildcard": message(
        "Enter each URL in full. Wildcards (*) can't be used.", context="refused"
    ),
    "redirect_uri.characters": message(
        "Remove the characters that a URL can't have, such as spaces.", context="refused"
    ),
    "redirect_uri.dots": message("Remove . and .. from the path.", context="refused"),
    "redirect_uri.host": message(
        "Enter a URL with a valid host and port and without a username.", context="refused"
    ),
    "redirect_uri.relative": message(
        "Enter a complete URL such as https://app.example.com/callback.",
        context="refused",
    ),
    "field.duplicate": message("Remove the duplicate entry.", context="refused"),
    "app.groups_claim.taken": message(
        "Choose another name. Tokens already have this claim.", context="refused"
    ),
    "app.clock_skew": message("Enter a time from 0s to 5s.", context="refused"),
    "role.exists": message(
        "Choose another key. The project already has this role.", context="refused"
    ),
    "pat.long": message(
        "Choose an earlier date, or allow more than 90 days below.", context="refused"
    ),
    "expiration.too_late": message(
        "Choose an earlier date. The installation doesn't allow one this late.", context="refused"
    ),
    "pat.expiration_past": message("That date is in the past.", context="refused"),
    "key.expiration_past": message("That date is in the past.", context="refused"),
    "key.public_key": message(
        "Enter a public key as PEM: RSA, P-256 or Ed25519.", context="refused"
    ),
    "colour.invalid": message("Enter a colour such as #2b4fc7.", context="refused"),
    "link.invalid": message("Enter a URL that begins with https://.", context="refused"),
}
