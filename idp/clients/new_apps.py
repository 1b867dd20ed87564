"""Defaults that the console, `idp app create`, `idp apply` and presets send for a new application.

They are stricter than those that the management API itself applies to what a request omits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from idp.clients.presets.preset import Preset


def defaults(stated: Mapping[str, Any], preset: Preset | None = None) -> dict[str, Any]:
    """Returns members to add to the request body for a new OpenID Connect application, by their
    names on the wire.

    `stated` are the members that the body has already: none of them is returned. `preset` is the
    one that was chosen. PKCE is required unless the tool of the preset cannot send it.
    """
    members: dict[str, Any] = {"requirePkce": preset is None or preset.pkce}
    return {name: value for name, value in members.items() if name not in stated}
