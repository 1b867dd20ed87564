"""The checks of a pushed authorization request: those of its client, then the authorization
endpoint's."""

from __future__ import annotations

from typing import Final

from idp.oauth.refusals.authorize import REDIRECT_URI, REQUEST_CHECKS
from idp.oauth.refusals.check import Check
from idp.oauth.refusals.client import CLIENT_CHECKS

SIGNS_IN: Final = Check(
    "signs_in",
    "the application signs people in",
    "RFC 9126, 2.3; RFC 6749, 4.1.2.1",
    "Push by the application that people sign in to; an API only introspects.",
)
NO_REFERENCE: Final = Check(
    "no_reference",
    "the request itself was pushed, and no request_uri",
    "RFC 9126, 2.1",
    "Push the parameters, and send the request_uri of the answer to the authorization endpoint.",
)

CHECKS: Final = (*CLIENT_CHECKS, SIGNS_IN, NO_REFERENCE, REDIRECT_URI, *REQUEST_CHECKS)
