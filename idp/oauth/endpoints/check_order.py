"""Which checks each protocol endpoint makes, and in which order."""

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

TRAILS: Final[dict[Endpoint, tuple[tuple[Check, ...], ...]]] = {
    "authorize": (authorize.CHECKS,),
    "par": (par.CHECKS,),
    "device_authorization": (device.CHECKS,),
    "token": tuple(grant.checks for grant in GRANTS.values()),
    "introspect": (introspect.CHECKS,),
    "revoke": (introspect.CHECKS,),
    "userinfo": (userinfo.CHECKS,),
    "end_session": (end_session.CHECKS,),
}


def passed(endpoint: Endpoint, failed: FailedCheck) -> tuple[Check, ...]:
    """The checks that held before the one that did not."""
    for checks in TRAILS[endpoint]:
        for place, check in enumerate(checks):
            if check == failed:
                return checks[:place]
    return ()
