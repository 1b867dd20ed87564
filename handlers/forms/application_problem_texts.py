"""The console's texts for invalid values of applications, secrets, keys, tokens and policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.foundation.i18n import Message, message

OF_FIELDS: Final[Mapping[str, Message]] = {
    "preset.host": message(
        "This is no host name such as app.example.com, nor the address of a page.",
        context="refused",
    ),
    "redirect_uri.scheme": message(
        "Such an address can't be used here: web applications have https, and schemes of their own"
        " are for native apps.",
        context="refused",
    ),
    "redirect_uri.http": message(
        "Others could read what is sent there: use https. Only addresses on people's own machine,"
        " such as http://localhost:3000/, and those in development mode may have http.",
        context="refused",
    ),
    "redirect_uri.fragment": message("An address can't have a # here.", context="refused"),
    "redirect_uri.wildcard": message(
        "There are no wildcards (*): each address is registered as it is.", context="refused"
    ),
    "redirect_uri.characters": message(
        "An address holds a character that none has, such as a blank.", context="refused"
    ),
    "redirect_uri.dots": message("An address can't have . or .. in its path.", context="refused"),
    "redirect_uri.host": message(
        "An address needs a host and a port that exist, and no user name.", context="refused"
    ),
    "redirect_uri.relative": message(
        "An address has to be whole, such as https://app.example.com/callback.",
        context="refused",
    ),
    "field.duplicate": message("One stands there twice.", context="refused"),
    "app.groups_claim.taken": message("Tokens have this claim already.", context="refused"),
    "app.clock_skew": message("This is not a time from 0s to 5s.", context="refused"),
    "role.exists": message("The project has this role already.", context="refused"),
    "pat.long": message(
        "That is more than 90 days from now. If you mean it, say so below.", context="refused"
    ),
    "expiration.too_late": message(
        "The installation allows no token or key that lasts so long.", context="refused"
    ),
    "pat.expiration_past": message("That is over already.", context="refused"),
    "key.expiration_past": message("That is over already.", context="refused"),
    "key.public_key": message("This is no public key that can be used.", context="refused"),
    "colour.invalid": message("This is not a colour such as #2b4fc7.", context="refused"),
    "colour.contrast": message(
        "It can't be read well on its background: choose a stronger contrast.",
        context="refused",
    ),
    "link.invalid": message("This does not begin with https://.", context="refused"),
}
