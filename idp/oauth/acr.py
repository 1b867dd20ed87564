"""How a person proved who they are: `acr` (how strongly) and `amr` (by what, RFC 8176)."""

from __future__ import annotations

from typing import Final

PASSWORD: Final = "urn:idp:acr:password"  # noqa: S105 - a name, not a secret
AMR_PASSWORD: Final = "pwd"  # noqa: S105 - a name, not a secret
