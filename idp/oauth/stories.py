"""Words for the administrator's story of a refusal: how long ago, what was sent, what fell.

Nothing here ever holds a secret, and what was sent is shown as `redaction.text` lets it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from idp import credentials, redaction
from idp.config import Config
from idp.identity import pats
from idp.oauth import jose, standing
from idp.oauth.checks.check import USER_ALLOWED, Check
from idp.oauth.standing import Named
from idp.records import (
    APPLICATIONS,
    AUTHORIZATIONS,
    INSTANCES,
    MEMBERSHIPS,
    ORGANIZATIONS,
    PATS,
    PROJECT_GRANTS,
    PROJECTS,
    REVOKED_TOKENS,
    ROLE_ASSIGNMENTS,
    SESSIONS,
    USERS,
    Application,
    Authorization,
    Session,
)
from idp.service import Service

_UNITS: Final = ((86_400, "d"), (3600, "h"), (60, "min"))
_QUOTED_CHARACTERS: Final = 200
_WORDS: Final = ("a ", "another ", "more ", "no ", "several ", "the ", "this ")


def sentence(description: str) -> str:
    """An error's description as a sentence; parameters keep their small letters."""
    if description.startswith(_WORDS):
        description = description[0].upper() + description[1:]
    return f"{description.rstrip('.')}."


def span(time: timedelta) -> str:
    """A time in its largest whole unit: `3 s`, `4 min`."""
    seconds = max(0, int(time.total_seconds()))
    for size, unit in _UNITS:
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def characters(text: str) -> str:
    """How long a text is."""
    return "1 character" if len(text) == 1 else f"{len(text)} characters"


def quoted(text: str) -> str:
    """A value in a sentence: on one line, bounded, with its control characters escaped."""
    return f"`{redaction.text(text, _QUOTED_CHARACTERS)}`"


def named(client: Application) -> str:
    """An application in a sentence."""
    return f"{quoted(client.name)} ({client.id})"


def kind_of(config: Config, text: str) -> str | None:
    """What a credential is by its shape, if it is one of this service's."""
    if text.startswith(config.vendor + pats.MARK):
        return "a personal access token"
    if credentials.split(text):
        return "an authorization code"
    if credentials.split(text, 2):
        return "a refresh token"
    if text.startswith("v1."):
        return "an access token"
    return "a JWT" if text.count(".") == 2 else None


def no_client(config: Config, text: str) -> str:
    """Why no application has this client_id, where it can be told from the text alone."""
    told = "No application has this client_id"
    if text != text.strip():
        return f"{told}: there is a space or a line break before or after it."
    kind = kind_of(config, text)
    if kind is None and len(text) == credentials.SECRET_LENGTH:
        kind = "something as long as a client_secret"
    if kind is not None:
        return f"{told}: that is {kind}."
    return f"{told}: it has {characters(text)}."


def misshapen(config: Config, text: str, due: str, length: int) -> str:
    """Why `text` can't be `due`, which has `length` characters."""
    kind = kind_of(config, text)
    if kind not in (None, due):
        return f"That is {kind}, not {due}."
    if len(text.strip()) == length:
        return f"A space or a line break is at the beginning or the end of what should be {due}."
    return (
        f"That is not {due} of this service: those have {length} letters, digits, - and _, "
        f"and this has {characters(text)}."
    )


def unknown(config: Config, text: str, due: str, secrets: int, record: object | None) -> str:
    """Why no record fits a code or a refresh token with this many secrets."""
    length = credentials.ID_LENGTH + secrets * credentials.SECRET_LENGTH
    if credentials.split(text, secrets) is None:
        return misshapen(config, text, due, length)
    if record is None:
        return (
            f"It has the form of {due}, but no such one is known: "
            "it comes from another installation, or is so old that it was forgotten."
        )
    return f"It begins like {due} of ours, but its rest differs: it was changed on its way."


def foreign_token(config: Config, text: str) -> str:
    """Why this is no access token of this service."""
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
    """Why this is no ID token of this service."""
    kind = kind_of(config, text)
    if kind == "a JWT":
        return _foreign_jwt(config, text, "JWT")
    return f"That is {kind or 'no JWT at all'}, not an ID token."


def _foreign_jwt(config: Config, text: str, due: str) -> str:
    """What an unproven JWT says of itself; `due` is the type that is taken here."""
    try:
        parsed = jose.parse(text)
        said = msgspec.json.decode(parsed.payload, type=_Said)
    except (ValueError, msgspec.MsgspecError):
        return "It is a JWT, but not one of this service."
    if said.iss != config.issuer:
        return f"It is a JWT that says it was issued by {quoted(said.iss)}, not by this service."
    if parsed.header.typ != due:
        kinds = {"JWT": "an ID token", "at+jwt": "an access token"}
        sent = kinds.get(parsed.header.typ or "", "a JWT of another kind")
        return f"That is {sent}, not {kinds[due]}."
    return "It is a JWT of this service by its words, but its signature does not verify."


class _Said(Struct):
    iss: str = ""


class Fallen(NamedTuple):
    """Why a grant or token does not stand any more, the check that this is told as, and what
    mends it where that is more than the check says."""

    story: str
    check: Check
    fix: str = ""


async def fallen(service: Service, named: Named, usual: Check) -> Fallen:
    """What of all that a grant or token depends on does not stand any more; `usual` is the check
    for all but users who may not use the application."""
    now = service.clock.now()
    keys = standing.keys(named)
    records = await service.store.get_many(keys)
    for (collection, id), record in zip(keys, records, strict=True):
        told = _FALLEN[collection.name](record, now, id in named.session_ids)
        if told:
            return Fallen(told, usual)
    refusal = standing.not_allowed(named, records)
    if refusal is not None:
        return Fallen(refusal.story, USER_ALLOWED, refusal.fix)
    return Fallen(
        await standing.refused_acting(service, named, records)
        or "A password, a factor or a state was changed since: "
        "that ends whatever was issued before to the user or the application.",
        usual,
    )


def _fallen_grant(record: Authorization | None, now: datetime, counts: bool) -> str:
    if record is None:
        return "The grant is gone: it has expired, with everything that came of it."
    return (
        f"The grant was revoked {span(now - record.revoked_at)} ago." if record.revoked_at else ""
    )


def _fallen_session(record: Session | None, now: datetime, counts: bool) -> str:
    if not counts or (record and record.ended_at is None):
        return ""
    since = f"{span(now - record.ended_at)} ago, " if record and record.ended_at else ""
    return f"The session ended {since}by a logout."


def _fallen_token(record: object, now: datetime, counts: bool) -> str:
    return "The token was revoked by its client." if record else ""


def _fallen_pat(record: object, now: datetime, counts: bool) -> str:
    told = "The personal access token that it came of has expired or was deleted."
    return "" if record else told


def _state_of(what: str) -> Callable[[Any, datetime, bool], str]:
    def told(record: Any, now: datetime, counts: bool) -> str:
        is_gone = record is None or record.state != "active"
        return f"The {what} is deleted or not active." if is_gone else ""

    return told


_FALLEN: Final[dict[str, Callable[[Any, datetime, bool], str]]] = {
    INSTANCES.name: lambda record, now, counts: "",
    MEMBERSHIPS.name: lambda record, now, counts: "",
    AUTHORIZATIONS.name: _fallen_grant,
    USERS.name: _state_of("user"),
    APPLICATIONS.name: _state_of("application"),
    ORGANIZATIONS.name: _state_of("organization of the user or of the application"),
    SESSIONS.name: _fallen_session,
    REVOKED_TOKENS.name: _fallen_token,
    PATS.name: _fallen_pat,
    PROJECTS.name: lambda record, now, counts: "",
    PROJECT_GRANTS.name: lambda record, now, counts: "",
    ROLE_ASSIGNMENTS.name: lambda record, now, counts: "",
}
