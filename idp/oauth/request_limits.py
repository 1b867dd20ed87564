"""The limits on how many requests without a user a network or client may send.

They are counted in this process (`idp.limits.request_counts`); each of several processes admits as
many.
"""

from __future__ import annotations

from typing import Final

from idp.foundation import metrics
from idp.limits.origin import AttemptOrigin
from idp.oauth.errors import TooManyRequests
from idp.service import Service

FIRST_FORMS_BY_NETWORK: Final = 3_000
LONG_BY_NETWORK: Final = 30
LONG_BY_ALL: Final = 300  # beyond these fewer of each network
LONG_BY_NETWORK_OF_MANY: Final = 2
LONG_OF_MANY: Final = 3_000
DEVICES_BY_NETWORK: Final = 60
DEVICES_BY_CLIENT: Final = 600
PUSHES_BY_NETWORK: Final = 60
PUSHES_BY_CLIENT: Final = 600
_RETRY_SECONDS: Final = 1


def admit_authorization(service: Service, origin: AttemptOrigin) -> None:
    """Counts an authorization request of a browser in which no user has signed in: 20 a second for
    each network, with a burst of 200.

    Raises `TooManyRequests`.
    """
    if origin.is_exempt(service.config):
        return
    rate, now = service.authorization_rate, service.clock.now()
    if not all(rate.allows(now, key, factor) for key, factor in origin.limits(1)):
        metrics.SHED.count("pages", "pace")
        raise TooManyRequests(_RETRY_SECONDS)


def admit_first_form(service: Service, origin: AttemptOrigin) -> None:
    """Counts, by network, the first form of a sign-in in a browser in which no user has ever
    signed in: such a form stores records before a user has authenticated.

    Raises `TooManyRequests`.
    """
    _admit_network(service, "first forms", origin, FIRST_FORMS_BY_NETWORK)


def admit_long(service: Service, origin: AttemptOrigin) -> None:
    """Counts a request that has to be stored because it is too long for an address: by browser if
    a user has signed in there, else by network. Beyond `LONG_BY_ALL` of all networks, which few of
    them can send, each has `LONG_BY_NETWORK_OF_MANY` more.

    Raises `TooManyRequests`.
    """
    if origin.is_exempt(service.config):
        return
    if origin.has_user:
        _admit(service, "long", origin.counting_key, LONG_BY_NETWORK)
        return
    _admit_network(service, "long", origin, LONG_BY_NETWORK)
    if _wait_seconds(service, "long of all", "", LONG_BY_ALL):
        _admit_network(service, "long of many", origin, LONG_BY_NETWORK_OF_MANY)
        _admit(service, "all long of many", "", LONG_OF_MANY)


def admit_device(service: Service, client_id: str, origin: AttemptOrigin) -> None:
    """Counts a device authorization request, by network and by client.

    Raises `TooManyRequests`.
    """
    _admit_network(service, "devices of a network", origin, DEVICES_BY_NETWORK)
    _admit(service, "devices of a client", client_id, DEVICES_BY_CLIENT)


def admit_push(
    service: Service, client_id: str, origin: AttemptOrigin, *, is_public: bool
) -> None:
    """Counts a pushed authorization request. Raises `TooManyRequests`.

    Those of public clients are counted by network and not by client, since anybody can send them
    in a client's name.
    """
    if is_public:
        _admit_network(service, "pushes of a network", origin, PUSHES_BY_NETWORK)
    else:
        _admit(service, "pushes of a client", client_id, PUSHES_BY_CLIENT)


def _admit_network(service: Service, kind: str, origin: AttemptOrigin, max_requests: int) -> None:
    """Counts by the network, and with four times the limit by the /48 of an IPv6 address.

    Networks that the operator exempts are not counted.
    """
    if origin.is_exempt(service.config):
        return
    for key, limit in origin.limits(max_requests):
        _admit(service, kind, key, limit)


def _admit(service: Service, kind: str, key: str, max_requests: int) -> None:
    seconds = _wait_seconds(service, kind, key, max_requests)
    if seconds:
        metrics.THROTTLED.count("request")
        raise TooManyRequests(seconds)


def _wait_seconds(service: Service, kind: str, key: str, max_requests: int) -> int:
    return service.request_counts.wait_seconds(service.clock.now(), kind, key, max_requests)
