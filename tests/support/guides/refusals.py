"""Refusals of this service that a wrong setting of a tool leads to, as guides list them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from idp.clients.presets.preset import Preset
from tests.support.guides.guide import Trouble

REDIRECT_URI: Final = Trouble(
    "The redirect_uri is not registered",
    "The tool sends another redirect URI than the registered one, often `http` for `https`.",
    "Set the tool's public URL, or register the URI with `idp app set-redirects`.",
)
AUTHENTICATION: Final = Trouble(
    "invalid_client: client authentication failed",
    "The client secret is wrong, or the tool sends it by another method than the registered one.",
    "Copy the secret again. `idp explain --last` names the method that was sent.",
)
PKCE: Final = Trouble(
    "code_challenge is missing: this client must use PKCE",
    "PKCE is switched off in the tool.",
    "Switch it on as in the configuration above.",
)
NOT_ALLOWED: Final = Trouble(
    "This account can't be used here",
    "The application is not open to this user.",
    "Change **Who can use it** of the application, or assign the user a role in its project.",
)
INACTIVE: Final = Trouble(
    '{"active":false}',
    "The token has ended, or neither the API nor its project is in its audience.",
    "Request the scope `urn:idp:iam:org:project:id:PROJECT:aud`, with the ID of its project.",
)


def of(preset: Preset) -> Sequence[Trouble]:
    """Returns the refusals that are possible with the tool of a preset."""
    if preset.kind == "api":
        return [AUTHENTICATION, INACTIVE]
    return [
        REDIRECT_URI,
        *([AUTHENTICATION] if preset.has_secret else []),
        *([PKCE] if preset.pkce else []),
        NOT_ALLOWED,
    ]
