"""The checks of an authorization request.

Until redirect_uri is known to be registered, a refusal is a page.
"""

from __future__ import annotations

from typing import Final

from idp.oauth.refusals.check import FORM, METHOD, ONCE, USER_ALLOWED, Check

CLIENT_ONCE: Final = Check(
    "proven_once",
    "client_id, redirect_uri and state were sent at most once",
    "RFC 6749, 3.1",
    "Send each parameter once.",
)
CLIENT: Final = Check(
    "client",
    "client_id names an active application",
    "RFC 6749, 2.2",
    "Copy the client_id from the application, or register the application.",
)
REFERENCE: Final = Check(
    "reference",
    "a request_uri of this service is fresh, and the application's",
    "RFC 9126, 4 and 7.3",
    "Push a new request for each sign-in, and redirect the browser to it at once.",
)
REDIRECT_URI: Final = Check(
    "redirect_uri",
    "redirect_uri equals a registered one",
    "RFC 6749, 3.1.2.3; OpenID Connect Core, 3.1.2.1",
    "Send a registered address, or register the one that was sent.",
)
PUSHED: Final = Check(
    "pushed",
    "the request was pushed, if the application demands that",
    "RFC 9126, 6",
    "Send the parameters to the pushed authorization request endpoint first.",
)
LENGTHS: Final = Check(
    "lengths",
    "state, nonce and scope are not too long",
    "RFC 6749, 4.1.2.1",
    "Send short random values, and keep what belongs to them in the application.",
)
REQUEST_OBJECT: Final = Check(
    "request_object",
    "no request object was sent",
    "OpenID Connect Core, 6",
    "Send the parameters themselves; switch request objects off in the client library.",
)
RESPONSE_TYPE: Final = Check(
    "response_type",
    "response_type is supported, and the application may use it",
    "RFC 6749, 3.1.1; OpenID Connect Core, 3",
    "Send response_type=code.",
)
RESPONSE_MODE: Final = Check(
    "response_mode",
    "response_mode fits the response_type, the redirect_uri and the state",
    "OAuth 2.0 Multiple Response Types, 2.1",
    "Leave response_mode out.",
)
SCOPE: Final = Check(
    "scope", "scope has openid", "OpenID Connect Core, 3.1.2.1", "Add openid to scope."
)
PKCE: Final = Check(
    "pkce",
    "code_challenge is there where it must be, and made by S256",
    "RFC 7636, 4.3 and 4.4.1",
    "Send code_challenge=BASE64URL(SHA256(code_verifier)) and code_challenge_method=S256.",
)
NONCE: Final = Check(
    "nonce",
    "nonce is there where it must be",
    "OpenID Connect Core, 3.2.2.1",
    "Send a nonce: a new random value for each request.",
)
PROMPT: Final = Check(
    "prompt",
    "prompt is supported",
    "OpenID Connect Core, 3.1.2.1",
    "Send none alone, or login, select_account, create, consent.",
)
MAX_AGE: Final = Check(
    "max_age",
    "max_age is a number of seconds",
    "OpenID Connect Core, 3.1.2.1",
    "Send a whole number, such as max_age=3600.",
)
# Refuses nothing, and so is in no list: a hint that does not pass is ignored.
ID_TOKEN_HINT: Final = Check(
    "id_token_hint",
    "id_token_hint is an ID token of this service",
    "OpenID Connect Core, 3.1.2.1",
    "Send an ID token unchanged, as this service issued it.",
)
SUBJECT: Final = Check(
    "subject",
    "id_token_hint and claims name the same user",
    "OpenID Connect Core, 3.1.2.1 and 5.5.1",
    "Send only one of the two.",
)
PROMPT_POSSIBLE: Final = Check(
    "person",
    "what prompt requests is possible with the users who are signed in",
    "OpenID Connect Core, 3.1.2.1 and 3.1.2.6",
    "Repeat the request without prompt=none, so that a person can act.",
)

# In the order in which `authorization_request` makes them; pushed requests have the same.
REQUEST_CHECKS: Final = (
    PUSHED,
    LENGTHS,
    REQUEST_OBJECT,
    RESPONSE_TYPE,
    RESPONSE_MODE,
    SCOPE,
    PKCE,
    NONCE,
    PROMPT,
    MAX_AGE,
    SUBJECT,
)
# The first ones decide whether there is an address to redirect to; all later ones refuse by
# redirect (RFC 6749 4.1.2.1).
CHECKS: Final = (
    METHOD,
    FORM,
    CLIENT_ONCE,
    CLIENT,
    REFERENCE,
    REDIRECT_URI,
    ONCE,
    *REQUEST_CHECKS,
    PROMPT_POSSIBLE,
    USER_ALLOWED,
)
