"""The answer of a finished sign-in, which its browser may get again for a minute.

A browser may ask twice: a button is pressed twice, a page is loaded again. It gets the same answer
again, never a new code, and only until the code is used. The answer is stored encrypted with the
request, because the store has only digests of codes.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import msgspec

from idp.foundation.opaque_tokens import Confidential
from idp.identity.sessions.browsers import REPEATED_WITHIN
from idp.keys.master_key import WrongKey
from idp.oauth.endpoints.authorization_response import AuthorizationResponse
from idp.records import AUTHORIZATIONS, Authorization, AuthRequest, sealed_fields
from idp.service import Service

_PURPOSE: Final = sealed_fields.SIGN_IN_ANSWER.purpose


class _Answer(Confidential, frozen=True):
    """What the browser got, and the authorization that a code in it belongs to."""

    response: AuthorizationResponse
    authorization_id: str | None = None


def seal(
    service: Service, response: AuthorizationResponse, authorization: Authorization | None = None
) -> str | None:
    """Returns the encrypted answer, for the request's `sealed_answer`. None for one with tokens,
    which is given once: whether they are used, this service does not learn."""
    if authorization is not None and authorization.code is None:
        return None
    answer = _Answer(response, authorization.id if authorization else None)
    return service.master_key.seal(msgspec.json.encode(answer), _PURPOSE)


async def find(service: Service, request: AuthRequest) -> AuthorizationResponse | None:
    """Returns the answer of a finished sign-in if its browser may get it again, else None."""
    if request.sealed_answer is None or request.completed_at is None:
        return None
    if service.clock.now() >= request.completed_at + REPEATED_WITHIN:
        return None
    with suppress(WrongKey):
        opened = service.master_key.open(request.sealed_answer, _PURPOSE)
        answer = msgspec.json.decode(opened, type=_Answer)
        authorization_id = answer.authorization_id
        if authorization_id is None or await _is_unused(service, authorization_id):
            return answer.response
    return None


async def _is_unused(service: Service, authorization_id: str) -> bool:
    """Returns whether the code of this authorization can still be redeemed."""
    found = await service.store.get(AUTHORIZATIONS, authorization_id)
    if found is None or found.code is None or found.revoked_at is not None:
        return False
    return found.code.redeemed_at is None and service.clock.now() < found.code.expires_at
