"""The reason why a sign-in at another identity provider is refused."""

from __future__ import annotations

from socket import gaierror
from typing import Literal

from idp.outgoing.failures import Failed, NotAllowed

Check = Literal[
    "connection_usable",
    "provider_reached",
    "provider_configured",
    "answer_without_error",
    "answer_from_provider",
    "code_redeemed",
    "id_token_signed",
    "id_token_issued",
    "id_token_audience",
    "id_token_current",
    "id_token_nonce",
    "id_token_subject",
    "userinfo_matches",
    "account_admitted",
    "authentication_recent",
]


class UpstreamRefused(Exception):
    """The answer of another provider is refused.

    `check` is the name of the check that failed (`idp.oauth.refusals.upstream`), and
    `details` a sentence for the administrator, which holds no secret.
    """

    def __init__(self, check: Check, details: str) -> None:
        super().__init__(details)
        self.check: Check = check
        self.details = details


def owner_details(refused: UpstreamRefused) -> str:
    """Returns the details for who manages the connection. Whether a name is known in a closed
    network, and its address there, is not revealed: an organization has chosen the name."""
    cause = refused.__cause__
    if isinstance(cause, NotAllowed) or (isinstance(cause, Failed) and _is_unresolved(cause)):
        return "the server's name has no address that may be called"
    return refused.details


def _is_unresolved(failed: Failed) -> bool:
    error: BaseException | None = failed
    while error is not None and not isinstance(error, gaierror):
        error = error.__cause__
    return error is not None
