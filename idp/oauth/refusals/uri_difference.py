"""The difference between a sent address and the registered ones: one hint, the most exact one."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import unquote

from msgspec import Struct, structs

from idp.foundation.i18n import Message, message
from idp.oauth.refusals.details import quoted

NOTHING_REGISTERED: Final = message(
    "The application has no such URI registered.", context="explain"
)
_LOOPBACK: Final = {"localhost", "127.0.0.1", "[::1]"}
_PARTS: Final = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#@]*@)?(\[[^\]]*\]|[^:/?#]*)(?::([0-9]*))?([^?]*)(.*)",
    re.DOTALL,
)


class _Parts(Struct, frozen=True):
    scheme: str
    user: str | None
    host: str
    port: str | None
    path: str
    query: str


class _Pair(Struct, frozen=True):
    """An address that was sent, and a registered one that it is compared with."""

    sent: str
    registered: str

    def only_difference(self, name: str) -> tuple[str | None, str | None] | None:
        """Returns the two values of this part when nothing else differs; else None."""
        sent, registered = _parsed(self.sent), _parsed(self.registered)
        if sent is None or registered is None:
            return None
        sent_value, registered_value = getattr(sent, name), getattr(registered, name)
        return (
            (sent_value, registered_value)
            if structs.replace(sent, **{name: registered_value}) == registered
            else None
        )


def _parsed(uri: str) -> _Parts | None:
    # No URL parser is used here: it would normalise the parts whose difference is to be displayed.
    match = _PARTS.fullmatch(uri)
    return _Parts(*match.groups()) if match else None


class Closest(Struct, frozen=True):
    """The registered address that was most likely meant, and a hint about the mistake.

    `hint` is None if the mistake is not recognised.
    """

    address: str
    hint: Message | None


def closest(sent: str, registered: Sequence[str]) -> Closest | None:
    """Returns the `registered` address that `sent` was probably meant to be, or None without
    any."""
    pairs = [_Pair(sent, each) for each in registered]
    # The hints are tried from the most exact on, each with every address, so the best one wins
    # over the order of the addresses.
    for recognise in _HINTS:
        for pair in pairs:
            hint = recognise(pair)
            if hint is not None:
                return Closest(pair.registered, hint)
    # Without a hint the address with the longest common beginning is the most likely one.
    nearest = max(
        registered, key=lambda each: len(os.path.commonprefix([sent, each])), default=None
    )
    return None if nearest is None else Closest(nearest, None)


def difference(sent: str, registered: Sequence[str], source: str = "is registered there") -> str:
    """Returns English sentences on how `sent` differs from the nearest `registered` address: a
    hint, if there is one, and the first character that differs.

    `source` completes the sentence about that character in the registered address, such as "is
    registered there". The text is empty if there are no registered addresses.
    """
    nearest = closest(sent, registered)
    if nearest is None:
        return ""
    position = len(os.path.commonprefix([sent, nearest.address]))
    sent_there, registered_there = (
        quoted(text[position]) if position < len(text) else "nothing more"
        for text in (sent, nearest.address)
    )
    hint_text = f"{english(nearest.hint)} " if nearest.hint else ""
    return (
        f"{hint_text}It differs from {quoted(nearest.address)} at character {position + 1}: "
        f"{sent_there} was sent, {registered_there} {source}."
    )


def english(text: Message) -> str:
    """Returns a message in English, as the command line prints it."""
    return text.msgid % text.args if text.args else text.msgid


def _spaces(pair: _Pair) -> Message | None:
    if pair.sent.strip() != pair.registered:
        return None
    return message("There is a space or a line break before or after the URI.", context="explain")


def _encoded_twice(pair: _Pair) -> Message | None:
    if "%" not in pair.sent or pair.registered not in (
        unquote(pair.sent),
        unquote(unquote(pair.sent)),
    ):
        return None
    return message("The URI was percent-encoded twice.", context="explain")


def _fragment(pair: _Pair) -> Message | None:
    if pair.sent.partition("#")[0] != pair.registered:
        return None
    return message(
        "A fragment, the part that begins with #, was added. A redirect URI can't have one.",
        context="explain",
    )


def _query_added(pair: _Pair) -> Message | None:
    if not pair.sent.startswith((f"{pair.registered}?", f"{pair.registered}&")):
        return None
    return message(
        "A query, the part that begins with ? or &, was added. Send values for a "
        "single request in state.",
        context="explain",
    )


def _query_missing(pair: _Pair) -> Message | None:
    if not pair.registered.startswith((f"{pair.sent}?", f"{pair.sent}&")):
        return None
    return message("The registered query is missing.", context="explain")


def _slash_added(pair: _Pair) -> Message | None:
    if pair.sent != f"{pair.registered}/":
        return None
    return message("There is an extra / at the end.", context="explain")


def _slash_missing(pair: _Pair) -> Message | None:
    if pair.registered != f"{pair.sent}/":
        return None
    return message("The / at the end is missing.", context="explain")


def _scheme(pair: _Pair) -> Message | None:
    schemes = pair.only_difference("scheme")
    if schemes is None or {*schemes} != {"http", "https"}:
        return None
    return message(
        "%(sent)s was sent, %(registered)s is registered.",
        context="explain",
        sent=schemes[0],
        registered=schemes[1],
    )


def _port(pair: _Pair) -> Message | None:
    ports = pair.only_difference("port")
    sent, registered = ports or (None, None)
    if not sent and not registered:
        return None
    if not sent:
        return message(
            "No port was sent, and port %(registered)s is registered.",
            context="explain",
            registered=registered,
        )
    if not registered:
        return message(
            "Port %(sent)s was sent, and the URI is registered without one.",
            context="explain",
            sent=sent[:8],
        )
    return message(
        "Port %(sent)s was sent, and port %(registered)s is registered.",
        context="explain",
        sent=sent[:8],
        registered=registered,
    )


def _loopback(pair: _Pair) -> Message | None:
    hosts = pair.only_difference("host")
    if hosts is None or not _LOOPBACK.issuperset(hosts):
        return None
    return message(
        "%(sent)s was sent, %(registered)s is registered: they are the same computer, but"
        " not the same host name.",
        context="explain",
        sent=hosts[0],
        registered=hosts[1],
    )


def _case(pair: _Pair) -> Message | None:
    if pair.sent.lower() != pair.registered.lower():
        return None
    return message("Uppercase and lowercase letters differ.", context="explain")


_HINTS: Final[tuple[Callable[[_Pair], Message | None], ...]] = (
    _spaces,
    _encoded_twice,
    _slash_added,
    _slash_missing,
    _fragment,
    _query_added,
    _query_missing,
    _scheme,
    _port,
    _loopback,
    _case,
)
