"""The checks of a logout request. Every refusal is a page."""

from __future__ import annotations

from typing import Final

from idp.oauth.refusals.check import FORM, METHOD, ONCE, Check

LOGOUT_HINT: Final = Check(
    "logout_hint",
    "id_token_hint is an ID token of this service",
    "OpenID Connect RP-Initiated Logout, 2",
    "Send the ID token unchanged, as it was issued.",
)
LOGOUT_CLIENT: Final = Check(
    "logout_client",
    "client_id and id_token_hint name the same, active application",
    "OpenID Connect RP-Initiated Logout, 2",
    "Send an ID token that your application got, or leave out one of the two.",
)
LOGOUT_URI: Final = Check(
    "post_logout_redirect_uri",
    "post_logout_redirect_uri equals a registered one",
    "OpenID Connect RP-Initiated Logout, 2 and 3",
    "Send a registered address, or register the one that was sent.",
)
LOGOUT_STATE: Final = Check(
    "logout_state",
    "state is not too long",
    "OpenID Connect RP-Initiated Logout, 2",
    "Send a short random value, and keep what belongs to it in the application.",
)

CHECKS: Final = (
    METHOD,
    FORM,
    ONCE,
    LOGOUT_HINT,
    LOGOUT_CLIENT,
    LOGOUT_URI,
    LOGOUT_STATE,
)
