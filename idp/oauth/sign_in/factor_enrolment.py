"""The secret that a sign-in stores, sealed, while its user sets up a second factor.

This is the secret of an authenticator app that is not confirmed yet, and then the recovery codes
until the user has noted them.
"""

from __future__ import annotations

from typing import Final

import msgspec

from idp.foundation.opaque_tokens import Confidential
from idp.records import AuthRequest, User
from idp.service import Service

_PURPOSE: Final = "factor-setup"


class Setup(Confidential, frozen=True):
    """An unfinished set-up of a second factor: the app's `secret`, or the recovery `codes`.

    It is for one user: another user who signs in in the same flow does not get it.
    """

    user_id: str
    secret: str | None = None
    codes: list[str] = []


def seal(service: Service, setup: Setup) -> str:
    """Returns the set-up encrypted, in the form in which the request's record has it."""
    return service.master_key.seal(msgspec.json.encode(setup), _PURPOSE)


def find(service: Service, request: AuthRequest, user: User) -> Setup | None:
    """Returns the unfinished set-up of this user in a request, or None."""
    if request.sealed_setup is None:
        return None
    data = service.master_key.open(request.sealed_setup, _PURPOSE)
    setup = msgspec.json.decode(data, type=Setup)
    return setup if setup.user_id == user.id else None
