"""The checks of a device authorization request, and of the polls that follow it."""

from __future__ import annotations

from typing import Final

from idp.oauth.refusals.check import USER_ALLOWED, Check
from idp.oauth.refusals.client import CLIENT_CHECKS
from idp.oauth.refusals.token import GRANT_ALLOWED, GRANT_VALID, GRANTED, SESSION_LIVE

DEVICE_SCOPE: Final = Check(
    "device_scope",
    "scope can be read",
    "RFC 6749, 3.3; RFC 8628, 3.1",
    "Put one space between two scopes.",
)
DEVICE_CODE_SENT: Final = Check(
    "device_code_sent",
    "device_code was sent",
    "RFC 8628, 3.4",
    "Send the device_code of the device authorization response.",
)
DEVICE_CODE_KNOWN: Final = Check(
    "device_code_known",
    "the device code is one that this service issued",
    "RFC 8628, 3.5",
    "Send the device_code as it came; begin a new device authorization for a new one.",
)
DEVICE_CODE_CLIENT: Final = Check(
    "device_code_client",
    "the device code was issued to this client",
    "RFC 8628, 3.5",
    "Use the same client_id in both requests.",
)
DEVICE_CODE_UNUSED: Final = Check(
    "device_code_unused",
    "the device code gave no tokens before",
    "RFC 8628, 3.5",
    "Stop polling once there are tokens, and let one process poll.",
)
DEVICE_ALLOWED: Final = Check(
    "device_allowed",
    "the person did not deny the request",
    "RFC 8628, 3.5",
    "Stop polling, and begin a new device authorization once the person wants it.",
)
DEVICE_CODE_UNEXPIRED: Final = Check(
    "device_code_unexpired",
    "the device code has not expired",
    "RFC 8628, 3.5",
    "Stop polling, and begin a new device authorization.",
)
DEVICE_INTERVAL: Final = Check(
    "device_pace",
    "the poll comes no sooner than the interval says",
    "RFC 8628, 3.5",
    "Wait for the interval of the first answer, and 5 s longer after each slow_down.",
)

CHECKS: Final = (*CLIENT_CHECKS, GRANT_ALLOWED, DEVICE_SCOPE)
# In the order of `grants/device_code.py`: a code that was used or denied is refused as such, also
# after it has expired.
POLL_CHECKS: Final = (
    *GRANTED,
    DEVICE_CODE_SENT,
    DEVICE_CODE_KNOWN,
    DEVICE_CODE_CLIENT,
    DEVICE_CODE_UNUSED,
    DEVICE_ALLOWED,
    DEVICE_CODE_UNEXPIRED,
    DEVICE_INTERVAL,
    GRANT_VALID,
    USER_ALLOWED,
    SESSION_LIVE,
)
