"""The secret that a sign-in stores, sealed, while its user enrols a second factor.

This is the secret of an authenticator app that is not confirmed yet, and then the recovery codes
until the user has saved them.
"""

from __future__ import annotations

from typing import Final

import msgspec

from idp.foundation.opaque_tokens import Confidential
from idp.records import AuthRequest, User, sealed_fields
from idp.service import Service

_PURPOSE: Final = sealed_fields.FACTOR_SETUP.purpose


class FactorEnrolment(Confidential, frozen=True):
    """An unfinished enrolment of a second factor: the app's `secret`, or the recovery `codes`.

    It is for one user: another user who signs in in the same flow does not get it.
    """

    user_id: str
    secret: str | None = None
    codes: list[str] = []


def seal(service: Service, enrolment: FactorEnrolment) -> str:
    """Returns the encrypted enrolment, as the request's record stores it."""
    return service.master_key.seal(msgspec.json.encode(enrolment), _PURPOSE)


def find(service: Service, request: AuthRequest, user: User) -> FactorEnrolment | None:
    """Returns the unfinished enrolment of this user in a request, or None."""
    if request.sealed_setup is None:
        return None
    data = service.master_key.open(request.sealed_setup, _PURPOSE)
    enrolment = msgspec.json.decode(data, type=FactorEnrolment)
    return enrolment if enrolment.user_id == user.id else None
