"""The permission to change the trust of a connection, once users are linked to identities there.

A caller who points such a connection to another provider could sign in as these users. So it
requires an administrator of the installation, or an owner of the organization who has signed in
recently.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from idp.foundation.errors import PermissionDenied
from idp.management.call import Call
from idp.management.connections import addresses
from idp.records.connections import (
    ConnectionSettings,
    ProviderConnection,
)
from idp.service import Service
from idp.upstream import authorities

RECENT: Final = timedelta(minutes=10)
_OWNER: Final = "org.member.write"  # a permission that owners alone have
_TRUST_FIELDS: Final = ("settings", "mapping", "trusted_domains")


def parts(settings: ConnectionSettings) -> dict[str, str]:
    """Returns the values that define the trust of a connection with these settings, by name: its
    authority and addresses, and the client for which its provider's ID tokens are issued."""
    values = {"authority": authorities.authority_of(settings), "clientId": settings.client_id}
    return values | {each.field: each.url for each in addresses.addresses_of(settings)}


def changes(before: ConnectionSettings, after: ConnectionSettings) -> Mapping[str, str]:
    """Returns, for the payload of an event, the differences between `parts` of both settings: the
    old and the new value by name."""
    old, new = parts(before), parts(after)
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    payload: dict[str, str] = {}
    for name in names:
        payload |= {f"{name}.before": old.get(name, ""), f"{name}.after": new.get(name, "")}
    return payload


def stamp(service: Service, current: ProviderConnection, values: Mapping[str, Any]) -> str:
    """Returns the stamp of a connection whose fields are set to `values`: a new one if that
    changes its trust or the claims that it uses. Sign-ins in progress are then refused."""
    is_same = all(getattr(current, name) == values[name] for name in _TRUST_FIELDS)
    return current.stamp if is_same else service.random.token(bits=64)


def check(service: Service, call: Call, connection: ProviderConnection) -> None:
    """Checks that the call may change the trust of a connection with links.

    Raises PermissionDenied.
    """
    if "iam.idp.write" in call.rights.everywhere:
        return
    is_owner = connection.org_id is not None and call.rights.allow(_OWNER, connection.org_id)
    signed_in = call.authenticated_at
    if is_owner and signed_in and service.clock.now() - signed_in <= RECENT:
        return
    message = (
        "users are linked to this connection: only an administrator of the installation, or an"
        " owner of the organization within ten minutes of a sign-in, can change whom it trusts"
    )
    raise PermissionDenied(message, error_code="connection.owner_needed")
