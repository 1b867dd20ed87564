"""A signed-in person's own passkeys: made, named and removed."""

from __future__ import annotations

from typing import Any, Final

from msgspec import structs

from idp import changes, events
from idp.access import Call
from idp.errors import FailedPrecondition, FieldProblem, InvalidArgument
from idp.fields import Refused as FieldRefused
from idp.fields import Text
from idp.identity import (
    challenges,
    passkey_letters,
    passkeys,
    stamps,
    user_passkeys,
    webauthn,
)
from idp.identity.sessions import LiveSession
from idp.records import PASSKEYS, REPLAY, SESSIONS, Passkey
from idp.service import Service
from storage import Conflict, Stale
from storage.settling import commit_settled

MAX_NAME: Final = 100
_NAME: Final = Text(1, MAX_NAME)


def _bound_to(live: LiveSession) -> str:
    return f"{live.session.id}\n{live.session.agent_id}"


async def options(service: Service, live: LiveSession) -> dict[str, Any] | None:
    """What a browser is asked to make; None where there are no passkeys, or no more of them."""
    party = webauthn.relying_party(service.config)
    known = await passkeys.of_user(service, live.subject.user.id)
    if party is None or len(known) >= passkeys.MOST:
        return None
    challenge = challenges.new(service, "create", _bound_to(live))
    return passkeys.creation_options(service, party, live.subject.user, known, challenge)


async def add(service: Service, live: LiveSession, name: str, text: str) -> None:
    """Register the key in a browser's answer, and tell the person by mail.

    Raises InvalidArgument (the name); webauthn.Refused, also for a key that is somebody's already
    and for an answer that was sent before; Stale when something else happened at once.
    """
    name, subject = checked_name(name), live.subject
    party = webauthn.relying_party(service.config)
    known = await passkeys.of_user(service, subject.user.id)
    if party is None or len(known) >= passkeys.MOST:
        raise webauthn.Refused("no more passkeys can be made here")
    writes = passkeys.adding(service, party, subject, name, text, _bound_to(live))
    letters = passkey_letters.added(service, subject.user)
    try:
        await commit_settled(service.store, *writes, *letters)
    except Conflict as error:
        if error.collection == REPLAY.name:
            raise Stale(REPLAY.name, live.session.id) from None
        raise webauthn.Refused("the passkey is somebody's already") from None


def checked_name(name: str) -> str:
    """What a passkey is called. Raises InvalidArgument."""
    try:
        return _NAME.read(name.strip())
    except FieldRefused as error:
        problem = FieldProblem(error.slug, "name", error.message, error.limit)
        raise InvalidArgument([problem]) from None


async def rename(service: Service, call: Call, passkey_id: str, name: str) -> Passkey:
    """Call one of the caller's own otherwise. Raises InvalidArgument, NotFound, Busy."""
    name, user = checked_name(name), call.caller
    return await changes.changed(
        service,
        PASSKEYS,
        lambda: user_passkeys.find(service, user, passkey_id),
        lambda _: {"name": name},
        "passkey.changed",
        call,
        org_id=user.org_id,
    )


async def remove(service: Service, live: LiveSession, passkey_id: str) -> None:
    """Take it away: every session ends but this one, and the person is told by mail.

    Raises NotFound; FailedPrecondition: it is their last way to sign in; Stale when something
    else happened at once.
    """
    subject, user = live.subject, live.subject.user
    passkey = await user_passkeys.find(service, user, passkey_id)
    if user.password is None and len(await passkeys.of_user(service, user.id)) == 1:
        raise FailedPrecondition("it is the last way to sign in", slug="passkey.last")
    now, stamp = service.clock.now(), service.random.token(bits=64)
    fresh = structs.replace(user, stamp=stamp)
    under = stamps.of_session(subject.instance, subject.organization, fresh)
    stays = events.update(
        service.random, SESSIONS, live.session, {"stamps": under}, "session.renewed", user.id, now
    )
    await commit_settled(
        service.store,
        *changes.removal(service, PASSKEYS, passkey, "passkey.deleted", user.id, now, user.org_id),
        *await user_passkeys.signing_out(service, user, user.id, stamp),
        *stays,
        *passkey_letters.removed(service, user),
    )
