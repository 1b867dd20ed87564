"""The checks of a pushed authorization request: its client's, then those of authorize."""

from __future__ import annotations

from typing import Final

from idp.oauth.checks.authorize import REDIRECT_URI, REQUEST_CHECKS
from idp.oauth.checks.check import Check
from idp.oauth.checks.client import CLIENT_CHECKS

NO_REFERENCE: Final = Check(
    "no_reference",
    "the request itself was pushed, and no request_uri",
    "RFC 9126, 2.1",
    "Push the parameters, and send the request_uri of the answer to the authorization endpoint.",
)

CHECKS: Final = (*CLIENT_CHECKS, NO_REFERENCE, REDIRECT_URI, *REQUEST_CHECKS)
