"""The keys of the instance, as the management API turns them."""

from __future__ import annotations

from idp.access import Call
from idp.answers import Answer
from idp.oauth import rotation
from idp.service import Service


class KeysRotated(Answer, frozen=True, kw_only=True):
    """`key_id` is the RS256 key that signs from now on."""

    key_id: str


class KeyRemoved(Answer, frozen=True, kw_only=True):
    """There is nothing more to tell."""


async def rotate(service: Service, call: Call) -> KeysRotated:
    """Let the waiting keys sign from now on. Raises FailedPrecondition: they wait too shortly."""
    signing = await rotation.rotate(service, actor=call.actor)
    return KeysRotated(key_id=signing["RS256"].id)


async def remove(service: Service, call: Call, key_id: str) -> KeyRemoved:
    """Void all that a key signed or sealed, at once. Raises NotFound, FailedPrecondition."""
    await rotation.remove(service, key_id, actor=call.actor)
    return KeyRemoved()
