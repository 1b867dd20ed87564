"""The user's side of the device flow (RFC 8628 3.3): the user enters the code, and signs in.
A code is valid in the first browser where it is entered, and in no other. The sign-in is one like
any other, except for its end: the user is always asked, and the device polls for the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from idp.identity.guesses import login_name_backoffs
from idp.identity.guesses import reports as guess_reports
from idp.identity.guesses.reports import Outcome
from idp.limits import backoffs
from idp.limits.origin import AttemptOrigin
from idp.limits.throttled import Throttled
from idp.oauth.grants import device_authorization
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in.device_decision import DONE
from idp.oauth.sign_in.pending import BegunFlow
from idp.records import (
    DEVICE_REQUESTS,
    LOGIN_NAME_BACKOFFS,
    AuthRequest,
    Browser,
    DeviceRequest,
    LoginNameBackoff,
)
from idp.service import Service
from storage import Stale, Update

# The free attempts of an IPv6 /48, as a multiple of those of one network; more than for passwords,
# because several customers may share a /48, and a mistyped code is counted for a day.
SITE_CODES_FACTOR: Final = 16


class WrongCode(Exception):
    """No device waits for this user code, or it was entered first in another browser."""


class CodeExpired(Exception):
    """The user code is the one of a device, but it has expired."""


async def enter(service: Service, entered: str, origin: AttemptOrigin) -> BegunFlow:
    """Begins the sign-in for a user code, or returns the one that this browser has begun with it.

    `entered` is the text that the user entered. Attempts from one network are slowed down; a right
    code does not reset their count, because anybody can have valid codes issued. Raises
    `WrongCode`, `CodeExpired` and `Throttled`.
    """
    user_code = device_authorization.user_code_of(entered)
    if user_code is None:
        raise WrongCode
    counted = await _admit(service, origin)
    request = await device_authorization.find(service, user_code)
    flow = await _begin(service, request, origin.browser) if request else None
    if flow is None:
        guess_reports.report(service, Outcome("wrong", "user_code", origin))
        raise WrongCode
    await _uncount(service, counted)
    return flow


async def _admit(service: Service, origin: AttemptOrigin) -> list[LoginNameBackoff]:
    """Counts an attempt for its network, and for the /48 of an IPv6 address; returns what is
    stored then. Raises Throttled; the attempt is then not counted.

    RFC 8628 5.1: a user code is short, so the number of guesses has to be limited.
    """
    factors = [(origin.counting_key, origin.factor)]
    if not origin.has_user:
        factors = origin.limits(1, SITE_CODES_FACTOR)
    admitted: list[LoginNameBackoff] = []
    for key, factor in factors:
        name = f"device:{key}"
        stored = await service.store.get(LOGIN_NAME_BACKOFFS, name)
        limit = backoffs.limit_of(service.config, factor)
        try:
            counted = await login_name_backoffs.count(service, name, limit, stored)
        except Throttled as refusal:
            await _uncount(service, admitted)
            guess_reports.report(service, Outcome(refusal.cause, "user_code", origin))
            raise
        admitted.append(counted)
    return admitted


async def _uncount(service: Service, counted: Sequence[LoginNameBackoff]) -> None:
    for record in counted:
        await login_name_backoffs.uncount(service, record)


async def _begin(
    service: Service, request: DeviceRequest, browser: Browser | None
) -> BegunFlow | None:
    """Returns the new flow, or None if the code was entered in another browser or the user has
    decided."""
    now = service.clock.now()
    if request.ends_at <= now:
        raise CodeExpired
    if request.flow_id is not None:
        return await _continued(service, request, browser)
    sign_in = AuthRequest(
        id=service.random.id(),
        client_id=request.client_id,
        redirect_uri=service.config.issuer + DONE,
        response_type="code",
        response_mode="query",
        scopes=request.scopes,
        created_at=now,
        # After the end of the device code, the device can't get the result of a sign-in.
        expires_at=request.ends_at,
        device_id=request.id,
    )
    # The condition binds the code to one browser, also if two send it at the same time.
    binding = Update(
        DEVICE_REQUESTS, request.id, set={"flow_id": sign_in.id}, expect={"flow_id": None}
    )
    try:
        return await sign_in_pending.begin_stored(service, sign_in, browser, binding)
    except Stale:  # another tab, or another browser
        latest = await service.store.get(DEVICE_REQUESTS, request.id)
        return await _continued(service, latest, browser) if latest else None


async def _continued(
    service: Service, request: DeviceRequest, browser: Browser | None
) -> BegunFlow | None:
    """Returns the sign-in that this browser has begun already."""
    flow = await sign_in_pending.find(service, request.flow_id or "", browser)
    return BegunFlow(flow.request.id, None) if flow else None
