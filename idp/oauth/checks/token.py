"""The checks of a token request, for each grant."""

from __future__ import annotations

from typing import Final

from idp.oauth.checks.check import FORM, METHOD, ONCE, Check

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
CLIENT_SECRET: Final = Check(
    "client_secret",
    "the secret is the application's",
    "RFC 6749, 2.3.1",
    "Copy the secret anew, or generate another one and use that.",
)
GRANT_TYPE: Final = Check(
    "grant_type",
    "grant_type is supported",
    "RFC 6749, 4.1.3 and 5.2",
    "Send grant_type=authorization_code or grant_type=refresh_token.",
)
GRANT_ALLOWED: Final = Check(
    "grant_allowed",
    "the application may use this grant_type",
    "RFC 6749, 5.2",
    "Allow the application this grant type.",
)
CODE_SENT: Final = Check(
    "code_sent",
    "redirect_uri and code were sent",
    "RFC 6749, 4.1.3",
    "Send the code, and the redirect_uri of the authorization request once more.",
)
CODE_KNOWN: Final = Check(
    "code_known",
    "the code is one that this service issued",
    "RFC 6749, 4.1.2 and 5.2",
    "Send the code as it came, decoded once; start a new sign-in for a new one.",
)
CODE_CLIENT: Final = Check(
    "code_client",
    "the code was issued to this client",
    "RFC 6749, 4.1.3",
    "Use the same client_id in both requests.",
)
CODE_REDIRECT_URI: Final = Check(
    "code_redirect_uri",
    "redirect_uri equals the one of the authorization request",
    "RFC 6749, 4.1.3",
    "Send the very same redirect_uri in both requests.",
)
CODE_VERIFIER: Final = Check(
    "code_verifier",
    "code_verifier matches the code_challenge",
    "RFC 7636, 4.6",
    "Keep the code_verifier in the browser's session, and send it unchanged.",
)
CODE_UNUSED: Final = Check(
    "code_unused",
    "the code was not redeemed before",
    "RFC 6749, 4.1.2 and 10.5",
    "Redeem each code once. A page that is reloaded must not do it again.",
)
CODE_UNEXPIRED: Final = Check(
    "code_unexpired",
    "the code has not expired",
    "RFC 6749, 4.1.2",
    "Redeem the code as soon as it comes.",
)
SESSION_LIVE: Final = Check(
    "session_live",
    "the session that the code came from lasts",
    "OpenID Connect RP-Initiated Logout, 2",
    "Start a new sign-in.",
)
REFRESH_SENT: Final = Check(
    "refresh_sent", "refresh_token was sent", "RFC 6749, 6", "Send the refresh_token."
)
REFRESH_KNOWN: Final = Check(
    "refresh_known",
    "the refresh token is one that this service issued",
    "RFC 6749, 5.2 and 6",
    "Send the refresh_token as the last answer had it; start a new sign-in for a new one.",
)
REFRESH_CLIENT: Final = Check(
    "refresh_client",
    "the refresh token was issued to this client",
    "RFC 6749, 6",
    "Use the client_id that the token was issued to.",
)
REFRESH_UNREVOKED: Final = Check(
    "refresh_unrevoked",
    "the refresh token was not revoked",
    "RFC 6749, 5.2",
    "Start a new sign-in.",
)
REFRESH_CURRENT: Final = Check(
    "refresh_current",
    "the refresh token is the current one",
    "RFC 6749, 10.4; RFC 9700, 4.14.2",
    "Keep the refresh_token of every answer, and let one process refresh at a time.",
)
REFRESH_UNEXPIRED: Final = Check(
    "refresh_unexpired",
    "the refresh token has not expired",
    "RFC 6749, 5.2 and 6",
    "Start a new sign-in.",
)
SCOPE_GRANTED: Final = Check(
    "scope_granted",
    "scope asks for no more than was granted",
    "RFC 6749, 6",
    "Leave scope out, or send some of the scopes of the first answer.",
)
GRANT_STANDS: Final = Check(
    "grant_stands",
    "the grant, its user and its client still stand",
    "RFC 6749, 5.2",
    "Start a new sign-in.",
)

_CLIENT: Final = (
    METHOD,
    FORM,
    ONCE,
    CLIENT_NAMED,
    CLIENT_KNOWN,
    CLIENT_METHOD,
    CLIENT_SECRET,
    GRANT_TYPE,
    GRANT_ALLOWED,
)
CODE_CHECKS: Final = (
    *_CLIENT,
    CODE_SENT,
    CODE_KNOWN,
    CODE_CLIENT,
    CODE_REDIRECT_URI,
    CODE_VERIFIER,
    CODE_UNUSED,
    CODE_UNEXPIRED,
    GRANT_STANDS,
    SESSION_LIVE,
)
REFRESH_CHECKS: Final = (
    *_CLIENT,
    REFRESH_SENT,
    REFRESH_KNOWN,
    REFRESH_CLIENT,
    REFRESH_UNREVOKED,
    REFRESH_CURRENT,
    REFRESH_UNEXPIRED,
    SCOPE_GRANTED,
    GRANT_STANDS,
)
