"""The checks of client authentication, at every endpoint where a client authenticates."""

from __future__ import annotations

from typing import Final

from idp.oauth.refusals.check import FORM, METHOD, ONCE, Check

CLIENT_NAMED: Final = Check(
    "client_named",
    "the request names its client, by one method",
    "RFC 6749, 2.3 and 3.2.1",
    "Send the credentials once: as a Basic header or in the form.",
)
CLIENT_KNOWN: Final = Check(
    "client_known",
    "client_id names an active application",
    "RFC 6749, 2.2 and 5.2",
    "Copy the client_id from the application, or register the application.",
)
CLIENT_METHOD: Final = Check(
    "client_method",
    "the client used the method that it is registered for",
    "RFC 6749, 2.3; OpenID Connect Core, 9",
    "Set the client library to the application's method, or change that.",
)
CLIENT_CREDENTIAL: Final = Check(
    "client_proof",
    "the client's secret or assertion proves it",
    "RFC 6749, 2.3.1; RFC 7523, 3; OpenID Connect Core, 9",
    "Copy the secret again, or generate another one and use that.",
)

# Client authentication comes before the checks of the endpoint itself, which therefore appends its
# own checks.
CLIENT_CHECKS: Final = (
    METHOD,
    FORM,
    ONCE,
    CLIENT_NAMED,
    CLIENT_KNOWN,
    CLIENT_METHOD,
    CLIENT_CREDENTIAL,
)
