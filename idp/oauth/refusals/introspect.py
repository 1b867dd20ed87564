"""The checks of an introspection or revocation request. An invalid token is no refusal there."""

from __future__ import annotations

from typing import Final

from idp.oauth.refusals.check import Check
from idp.oauth.refusals.client import CLIENT_CHECKS

TOKEN_SENT: Final = Check(
    "token_sent", "token was sent", "RFC 7662, 2.1; RFC 7009, 2.1", "Send the token in the form."
)

CHECKS: Final = (*CLIENT_CHECKS, TOKEN_SENT)
