"""The secrets of connections, which are stored sealed under the master key."""

from __future__ import annotations

from typing import Final

from idp.records import sealed_fields
from idp.service import Service

_CLIENT_SECRET: Final = sealed_fields.CLIENT_SECRET.purpose


def sealed(service: Service, client_secret: str) -> str:
    """Returns a client secret in the form in which it is stored."""
    return service.master_key.seal(client_secret, _CLIENT_SECRET)


def opened(service: Service, stored: str) -> str:
    """Returns a client secret that `sealed` has sealed. Raises WrongKey."""
    return service.master_key.open(stored, _CLIENT_SECRET).decode()
