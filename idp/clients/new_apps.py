"""Defaults that the console, `idp app create`, `idp apply` and presets send for a new application.

They are stricter than those that the management API itself applies to what a request omits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from idp.clients.presets.preset import PUBLIC, Preset

REUSE_SECONDS: Final = 10
_NO_SECRET: Final = PUBLIC["authMethodType"].value


def defaults(stated: Mapping[str, Any], preset: Preset | None = None) -> dict[str, Any]:
    """Returns members to add to the request body for a new OpenID Connect application, by their
    names on the wire.

    `stated` are the members that the body has already: none of them is returned. `preset` is the
    one that was chosen. PKCE is required unless the tool of the preset cannot send it. A
    confidential client may use its last refresh token again for ten seconds, so that a lost
    response does not end the user's sign-in.
    """
    members: dict[str, Any] = {"requirePkce": preset is None or preset.pkce}
    if stated.get("authMethodType") != _NO_SECRET:
        members["refreshTokenReuseSeconds"] = REUSE_SECONDS
    return {name: value for name, value in members.items() if name not in stated}
