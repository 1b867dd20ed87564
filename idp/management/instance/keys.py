"""Calls that list, rotate and remove the signing and encryption keys of the installation."""

from __future__ import annotations

from datetime import datetime

from idp.changes import Planned
from idp.management.call import Call
from idp.oauth import key_rotation
from idp.records import SigningKey
from idp.schema.answers import Answer
from idp.search.paging import ListDetails
from idp.service import Service


class SigningKeyView(Answer, frozen=True, kw_only=True):
    """A key of the installation. `use` is `sig` (it signs tokens) or `enc` (it encrypts opaque
    tokens); `state` is next, active, retired or removed, and `since` the time of the change to
    that state.
    """

    key_id: str
    algorithm: str
    use: str
    state: str
    since: datetime
    creation_date: datetime


class SigningKeys(Answer, frozen=True, kw_only=True):
    details: ListDetails
    result: list[SigningKeyView] = []


class KeysRotated(Answer, frozen=True, kw_only=True):
    """`key_id` is the RS256 key that signs from now on."""

    key_id: str


class KeyRemoved(Answer, frozen=True, kw_only=True):
    """The answer of the removal of a key, which returns no values."""


async def find_all(service: Service, call: Call) -> SigningKeys:
    """Returns the keys that sign and seal tokens with their states, the oldest first."""
    keys = [_view(key) for key in await key_rotation.all_keys(service)]
    return SigningKeys(details=ListDetails(total_result=str(len(keys))), result=keys)


async def rotate(service: Service, call: Call) -> Planned[KeysRotated]:
    """Rotates the signing keys: those that were published as the next ones sign from now on.

    Raises FailedPrecondition if they were published too recently.
    """
    rotation = await key_rotation.rotate(service, actor=call.actor)
    return rotation.map(lambda active: KeysRotated(key_id=active["RS256"].id))


async def remove(service: Service, call: Call, key_id: str) -> Planned[KeyRemoved]:
    """Removes a signing or encryption key, so that every token that it signed or sealed becomes
    invalid immediately.

    Raises NotFound if there is no key with this id, and FailedPrecondition if it was removed
    before.
    """
    removal = await key_rotation.remove(service, key_id, actor=call.actor)
    return removal.map(lambda _: KeyRemoved())


def _view(key: SigningKey) -> SigningKeyView:
    return SigningKeyView(
        key_id=key.id,
        algorithm=key.algorithm,
        use=key.use,
        state=key.state,
        since=key.changed_at,
        creation_date=key.created_at,
    )
