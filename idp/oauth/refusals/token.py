"""The checks of a token request, for each grant type."""

from __future__ import annotations

from typing import Final

from idp.oauth.refusals.check import FORM, METHOD, ONCE, USER_ALLOWED, Check
from idp.oauth.refusals.client import CLIENT_CHECKS

GRANT_TYPE: Final = Check(
    "grant_type",
    "grant_type is supported",
    "RFC 6749, 4.1.3 and 5.2",
    "Send one of the grant_types that the discovery document lists.",
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
SCOPE_KNOWN: Final = Check(
    "scope_known",
    "scope names scopes that exist",
    "RFC 6749, 3.3 and 5.2",
    "Send scopes that the discovery document lists, one space between two.",
)
SCOPE_ORGANIZATION: Final = Check(
    "scope_organization",
    "scope names no organization but the caller's own",
    "RFC 6749, 3.3 and 5.2",
    "Leave out the scope that names another organization.",
)
ASSERTION_ALONE: Final = Check(
    "assertion_alone",
    "the assertion came without a client authentication",
    "RFC 7523, 2.1",
    "Leave the Authorization header, client_secret and client_assertion out.",
)
ASSERTION_SENT: Final = Check(
    "assertion_sent", "assertion was sent", "RFC 7523, 2.1", "Send the signed JWT as assertion."
)
ASSERTION_VALID: Final = Check(
    "assertion_valid",
    "the assertion is a service user's, fresh, and was not used before",
    "RFC 7523, 3",
    "Sign a new assertion: iss and sub are the user's id, aud is the issuer, with exp and the kid "
    "of a registered key.",
)
SCOPE_GRANTED: Final = Check(
    "scope_granted",
    "scope asks for no more than was granted",
    "RFC 6749, 6",
    "Leave scope out, or send some of the scopes of the first answer.",
)
GRANT_VALID: Final = Check(
    "grant_stands",
    "the grant, its user and its client still stand",
    "RFC 6749, 5.2",
    "Start a new sign-in.",
)

# Every grant type begins with these: the token endpoint makes them before the grant's own.
GRANTED: Final = (*CLIENT_CHECKS, GRANT_TYPE, GRANT_ALLOWED)
CODE_CHECKS: Final = (
    *GRANTED,
    CODE_SENT,
    CODE_KNOWN,
    CODE_CLIENT,
    CODE_REDIRECT_URI,
    CODE_VERIFIER,
    # Before the expiry: a replay is recognised although the code has expired; the same applies to
    # refresh tokens.
    CODE_UNUSED,
    CODE_UNEXPIRED,
    GRANT_VALID,
    USER_ALLOWED,
    SESSION_LIVE,
)
REFRESH_CHECKS: Final = (
    *GRANTED,
    REFRESH_SENT,
    REFRESH_KNOWN,
    REFRESH_CLIENT,
    REFRESH_UNREVOKED,
    REFRESH_CURRENT,
    REFRESH_UNEXPIRED,
    SCOPE_GRANTED,
    GRANT_VALID,
    USER_ALLOWED,
)
CLIENT_CREDENTIALS_CHECKS: Final = (*GRANTED, SCOPE_KNOWN, SCOPE_ORGANIZATION)
# The assertion comes before `grant_type` here: it authenticates the caller, as a client's
# credentials do elsewhere.
JWT_PROFILE_CHECKS: Final = (
    METHOD,
    FORM,
    ONCE,
    ASSERTION_ALONE,
    ASSERTION_SENT,
    ASSERTION_VALID,
    GRANT_TYPE,
    SCOPE_KNOWN,
    GRANT_VALID,
    SCOPE_ORGANIZATION,
)
