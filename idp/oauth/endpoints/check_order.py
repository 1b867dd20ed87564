"""The checks that each protocol endpoint makes, in their order."""

from __future__ import annotations

from typing import Final, Literal

from idp.oauth.errors import FailedCheck
from idp.oauth.grants import GRANTS
from idp.oauth.refusals import authorize, device, end_session, introspect, par, userinfo
from idp.oauth.refusals.check import Check

Endpoint = Literal[
    "authorize",
    "par",
    "device_authorization",
    "token",
    "introspect",
    "revoke",
    "userinfo",
    "end_session",
]

CHECKS: Final[dict[Endpoint, tuple[tuple[Check, ...], ...]]] = {
    "authorize": (authorize.CHECKS,),
    "par": (par.CHECKS,),
    "device_authorization": (device.CHECKS,),
    # Each grant type has its own list; the failed check shows which of them applied.
    "token": tuple(grant.checks for grant in GRANTS.values()),
    "introspect": (introspect.CHECKS,),
    "revoke": (introspect.CHECKS,),
    "userinfo": (userinfo.CHECKS,),
    "end_session": (end_session.CHECKS,),
}


def passed(endpoint: Endpoint, failed: FailedCheck) -> tuple[Check, ...]:
    """Returns the checks of the endpoint that a request has passed when `failed` is the first that
    it fails.

    The result is empty if the endpoint does not make this check.
    """
    for checks in CHECKS[endpoint]:
        for index, check in enumerate(checks):
            if check == failed:
                return checks[:index]
    return ()
