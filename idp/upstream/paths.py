"""The addresses to which other providers send the browser back, relative to the issuer."""

from __future__ import annotations

from typing import Final

from idp.service import Service

CONNECTION_CALLBACK: Final = "/idps/{id}/callback"


def redirect_uri(service: Service, connection_id: str) -> str:
    """Returns the address to which the provider of a connection returns. Each has its own, so that
    no provider can answer for another one (RFC 9700 section 4.4.2.2)."""
    return service.config.issuer + CONNECTION_CALLBACK.format(id=connection_id)
