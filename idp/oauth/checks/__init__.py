"""The checks of each protocol endpoint, by name and in the order in which they are made.

A rule refuses inside of its check::

    with checks.CODE_CLIENT:
        if authorization.client_id != client.id:
            raise InvalidGrant("the code was issued to another client")

The error then knows which check did not hold, and the lists below tell which ones had held. So
`idp explain` tells the whole story, and a request that passes leaves no trail and costs nothing.
"""

from __future__ import annotations

from typing import Final, Literal

from idp.oauth.checks import authorize, end_session, token, userinfo
from idp.oauth.checks.check import Check

Endpoint = Literal["authorize", "token", "userinfo", "end_session"]

_LISTS: Final[dict[Endpoint, tuple[tuple[Check, ...], ...]]] = {
    "authorize": (authorize.CHECKS,),
    "token": (token.CODE_CHECKS, token.REFRESH_CHECKS),
    "userinfo": (userinfo.CHECKS,),
    "end_session": (end_session.CHECKS,),
}


def passed(endpoint: Endpoint, failed: Check) -> tuple[Check, ...]:
    """The checks that held before the one that did not."""
    for checks in _LISTS[endpoint]:
        if failed in checks:
            return checks[: checks.index(failed)]
    return ()
