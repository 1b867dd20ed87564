"""Texts for events of refused attempts: a sentence for each type, and their payload."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msgspec import structs

from idp.foundation.i18n import Message, message

SENTENCES: Final[Mapping[str, Message]] = {
    "user.sign_in.failed": message("A sign-in of this user was refused.", context="events"),
    "instance.sign_in.failed": message(
        "Sign-ins with unknown usernames were refused.", context="events"
    ),
    "network.slowed": message("Sign-ins from a network are slowed down.", context="events"),
    "client.authentication_failed": message(
        "An application or a service account failed to authenticate.", context="events"
    ),
    "token.impersonation_refused": message(
        "A caller was not allowed to act for this user.", context="events"
    ),
}

_CAUSES: Final[Mapping[str, Message]] = {
    "wrong": message("Cause: wrong password or code", context="events"),
    "unknown": message("Cause: the user has no password", context="events"),
    "unusable": message("Cause: right password, but the account can't be used", context="events"),
    "closed": message("Cause: blocked after too many wrong passwords or codes", context="events"),
    "locked": message("Cause: locked by the lockout policy", context="events"),
    "paced": message("Cause: the next attempt came too soon", context="events"),
    "network": message("Cause: too many accounts failed from this network", context="events"),
}

_MEMBERS: Final[Mapping[str, Message]] = {  # in the order in which a page lists them
    "cause": message("Cause: %(value)s", context="events"),
    "count": message("Count: %(value)s", context="events"),
    "names": message("Usernames: %(value)s", context="events"),
    "accounts": message("Accounts: %(value)s", context="events"),
    "network": message("Network: %(value)s", context="events"),
    "networks": message("Networks: %(value)s", context="events"),
    "clientId": message("Client: %(value)s", context="events"),
    "until": message("Until: %(value)s", context="events"),
}
_INSTANTS: Final = frozenset({"until"})


def sentence(event_type: str) -> str | None:
    """Returns an English sentence for an event of this type if it is about refused attempts; None
    for all other types."""
    message = SENTENCES.get(event_type)
    return message.msgid if message else None


def details(event_type: str, payload: Mapping[str, str]) -> list[Message]:
    """Returns a text for each member of the payload that has a value, if the event is about
    refused attempts; an empty list for all other types. The value of an instant is a datetime."""
    return [
        structs.replace(text, args={"value": datetime.fromisoformat(payload[name])})
        if name in _INSTANTS
        else text
        for name, text in _texts(event_type, payload).items()
    ]


def summary(event_type: str, payload: Mapping[str, str]) -> str:
    """Returns the texts of `details` in English, on one line; instants are in ISO 8601."""
    return "; ".join(text.msgid % text.args for text in _texts(event_type, payload).values())


def _texts(event_type: str, payload: Mapping[str, str]) -> dict[str, Message]:
    """Returns the text of each member by the member's name, with the values as they are stored."""
    if event_type not in SENTENCES:
        return {}
    return {name: _text(name, payload[name]) for name in _MEMBERS if payload.get(name)}


def _text(name: str, value: str) -> Message:
    if name == "cause" and value in _CAUSES:
        return _CAUSES[value]
    return structs.replace(_MEMBERS[name], args={"value": value})
