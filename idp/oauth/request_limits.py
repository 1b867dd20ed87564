"""How many requests without a person one network or client may send within a minute.

They are counted in this process (`idp.request_counts`): with several, each lets as many through.
"""

from __future__ import annotations

from typing import Final

from idp.identity.try_origin import TryOrigin
from idp.oauth.errors import TooManyRequests
from idp.service import Service

FIRST_FORMS_BY_NETWORK: Final = 3_000
LONG_BY_NETWORK: Final = 30
DEVICES_BY_NETWORK: Final = 60
DEVICES_BY_CLIENT: Final = 600
PUSHES_BY_NETWORK: Final = 60
PUSHES_BY_CLIENT: Final = 600


def admit_first_form(service: Service, origin: TryOrigin) -> None:
    """Count the first form of a sign-in in a new browser, which is stored before the person has
    proved anything. Raises TooManyRequests."""
    most = FIRST_FORMS_BY_NETWORK * origin.factor
    _admit(service, "first forms", origin.network, most)


def admit_long(service: Service, origin: TryOrigin) -> None:
    """Count a request that is too long for a note and has to be stored. Raises
    TooManyRequests."""
    _admit(service, "long", origin.network, LONG_BY_NETWORK * origin.factor)


def admit_device(service: Service, client_id: str, origin: TryOrigin) -> None:
    """Count a device that asks for codes. Raises TooManyRequests."""
    most = DEVICES_BY_NETWORK * origin.factor
    _admit(service, "devices of a network", origin.network, most)
    _admit(service, "devices of a client", client_id, DEVICES_BY_CLIENT)


def admit_push(service: Service, client_id: str, origin: TryOrigin, *, is_public: bool) -> None:
    """Count a pushed request: of a public client by network, since anybody can send those. Raises
    TooManyRequests."""
    if is_public:
        most = PUSHES_BY_NETWORK * origin.factor
        _admit(service, "pushes of a network", origin.network, most)
    else:
        _admit(service, "pushes of a client", client_id, PUSHES_BY_CLIENT)


def _admit(service: Service, kind: str, key: str, most: int) -> None:
    seconds = service.request_counts.wait_seconds(service.clock.now(), kind, key, most)
    if seconds:
        raise TooManyRequests(seconds)
