"""What a sign-in keeps, sealed, while a person sets up a factor: the secret of an app that is not
proven yet, and then recovery codes until they are kept."""

from __future__ import annotations

from typing import Final

import msgspec

from idp.foundation.opaque_tokens import Confidential
from idp.records import AuthRequest, User
from idp.service import Service

_PURPOSE: Final = "factor-setup"


class Setup(Confidential, frozen=True):
    """It is for this user alone, whoever else signs in in the same flow."""

    user_id: str
    secret: str | None = None
    codes: list[str] = []


def seal(service: Service, setup: Setup) -> str:
    """The set-up as the request keeps it."""
    return service.vault.seal(msgspec.json.encode(setup), _PURPOSE)


def find(service: Service, request: AuthRequest, user: User) -> Setup | None:
    """The set-up that waits for this user, if one does."""
    if request.sealed_setup is None:
        return None
    octets = service.vault.open(request.sealed_setup, _PURPOSE)
    setup = msgspec.json.decode(octets, type=Setup)
    return setup if setup.user_id == user.id else None
