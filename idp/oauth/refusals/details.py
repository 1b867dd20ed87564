"""The wording of a refusal's details for the administrator: time spans and values that were sent.

Nothing here contains a secret, and values that were sent are displayed as `redaction.text` allows.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import msgspec
from msgspec import Struct

from idp.config.settings import Config
from idp.foundation import opaque_tokens, redaction
from idp.identity.users import personal_access_tokens as user_personal_access_tokens
from idp.keys import jws
from idp.records import (
    Application,
)

_UNITS: Final = ((86_400, "d"), (3600, "h"), (60, "min"))
_QUOTED_CHARACTERS: Final = 200
_WORDS: Final = ("a ", "another ", "more ", "no ", "several ", "the ", "this ")


def sentence(description: str) -> str:
    """Returns an error's description as a sentence with a full stop.

    It begins with a capital letter unless its first word is the name of a parameter.
    """
    if description.startswith(_WORDS):
        description = description[0].upper() + description[1:]
    return f"{description.rstrip('.')}."


def span(time: timedelta) -> str:
    """Returns a time span in its largest whole unit: `3 s`, `4 min`."""
    seconds = max(0, int(time.total_seconds()))
    for size, unit in _UNITS:
        # From two units on, so that nothing between one and two is rounded down to one.
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def characters(text: str) -> str:
    """Returns the length of a text with its unit: `1 character`, `43 characters`."""
    return "1 character" if len(text) == 1 else f"{len(text)} characters"


def quoted(text: str) -> str:
    """Returns a value in backquotes: on one line, cut after 200 characters, its control characters
    escaped."""
    return f"`{redaction.text(text, _QUOTED_CHARACTERS)}`"


def named(client: Application) -> str:
    """Returns the name and the id of an application, to be put into a sentence."""
    return f"{quoted(client.name)} ({client.id})"


def kind_of(config: Config, text: str) -> str | None:
    """Returns the kind of token or code that a text has the form of, such as `a refresh token`.

    None if it has the form of none that this service issues.
    """
    if text.startswith(config.vendor + user_personal_access_tokens.INFIX):
        return "a personal access token"
    # The kinds differ in their length, which the number of secrets in them gives.
    if opaque_tokens.split(text):
        return "an authorization code"
    if opaque_tokens.split(text, 2):
        return "a refresh token"
    if text.startswith("v1."):
        return "an access token"
    return "a JWT" if text.count(".") == 2 else None


def no_client(config: Config, text: str) -> str:
    """Returns a sentence on why no application has `text` as its client_id, from its form
    alone."""
    beginning = "No application has this client_id"
    if text != text.strip():
        return f"{beginning}: there is a space or a line break before or after it."
    kind = kind_of(config, text)
    if kind is None and len(text) == opaque_tokens.SECRET_LENGTH:
        # The text itself is never displayed: it may be the client's secret.
        kind = "something as long as a client_secret"
    if kind is not None:
        return f"{beginning}: that is {kind}."
    return f"{beginning}: it has {characters(text)}."


def wrong_form(config: Config, text: str, expected_kind: str, length: int) -> str:
    """Returns a sentence on why a text does not have the form of the expected kind of code or
    token.

    `expected_kind` is the name of that kind (`an authorization code`), whose values all have
    `length` characters.
    """
    kind = kind_of(config, text)
    if kind not in (None, expected_kind):
        return f"That is {kind}, not {expected_kind}."
    if len(text.strip()) == length:
        return (
            "A space or a line break is at the beginning or the end of what should be "
            f"{expected_kind}."
        )
    return (
        f"That is not {expected_kind} of this service: those have {length} letters, digits, "
        f"- and _, and this has {characters(text)}."
    )


def unknown(
    config: Config, text: str, expected_kind: str, secrets: int, record: object | None
) -> str:
    """Returns a sentence on why no record matches a text that should be a code or refresh token.

    `expected_kind` is the name of the kind (`an authorization code`), whose values are an id and
    as many secrets as `secrets` says; `record` is the record with that id, None if there is none.
    """
    length = opaque_tokens.ID_LENGTH + secrets * opaque_tokens.SECRET_LENGTH
    if opaque_tokens.split(text, secrets) is None:
        return wrong_form(config, text, expected_kind, length)
    if record is None:
        return (
            f"It has the form of {expected_kind}, but no such one is known: "
            "it comes from another installation, or is so old that it was forgotten."
        )
    return (
        f"It begins like {expected_kind} of this service, but its rest differs: it was changed on"
        " its way."
    )


def foreign_token(config: Config, text: str) -> str:
    """Returns a sentence on why a text is no access token of this service."""
    kind = kind_of(config, text)
    if kind == "a JWT":
        return _foreign_jwt(config, text, "at+jwt")
    if kind == "an access token":
        return (
            "It begins like an access token of this service, but can't be opened: it was changed "
            "or cut on its way, or comes from another installation."
        )
    if kind is not None:
        return f"That is {kind}, not an access token."
    return "It does not look like a token of this service at all."


def no_id_token(config: Config, text: str) -> str:
    """Returns a sentence on why a text is no ID token of this service."""
    kind = kind_of(config, text)
    if kind == "a JWT":
        return _foreign_jwt(config, text, "JWT")
    return f"That is {kind or 'no JWT at all'}, not an ID token."


class _ForeignClaims(Struct):
    iss: str = ""


def _foreign_jwt(config: Config, text: str, expected_type: str) -> str:
    """Returns what an unverified JWT states about itself; `expected_type` is the accepted
    `typ`."""
    try:
        # Nothing here is verified, which is enough for a text that only the administrator reads.
        parsed = jws.parse(text)
        claims = msgspec.json.decode(parsed.payload, type=_ForeignClaims)
    except (ValueError, msgspec.MsgspecError):
        return "It is a JWT, but not one of this service."
    if claims.iss != config.issuer:
        return f"It is a JWT that says it was issued by {quoted(claims.iss)}, not by this service."
    if parsed.header.typ != expected_type:
        kinds = {"JWT": "an ID token", "at+jwt": "an access token"}
        sent = kinds.get(parsed.header.typ or "", "a JWT of another kind")
        return f"That is {sent}, not {kinds[expected_type]}."
    return "It is a JWT of this service by its words, but its signature does not verify."
