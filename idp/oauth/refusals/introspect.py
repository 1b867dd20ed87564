"""The checks of an introspection request; what is wrong with the token is no refusal."""

from __future__ import annotations

from typing import Final

from idp.oauth.refusals.check import Check
from idp.oauth.refusals.client import CLIENT_CHECKS

TOKEN_SENT: Final = Check(
    "token_sent", "token was sent", "RFC 7662, 2.1; RFC 7009, 2.1", "Send the token in the form."
)

CHECKS: Final = (*CLIENT_CHECKS, TOKEN_SENT)
