"""For whom an access token is: its `aud`, and what is left of the scopes that ask for more."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from idp.oauth import scopes
from idp.records import Application, User
from idp.service import Service


class Granted(Struct, frozen=True):
    """The audience of a token, and the scopes that it is given."""

    audience: list[str]
    scopes: list[str]


async def of_application(service: Service, client: Application, wanted: Sequence[str]) -> Granted:
    """The client and its project."""
    return Granted([client.id, client.project_id], scopes.grantable(client, wanted))


async def of_service_user(service: Service, user: User, wanted: Sequence[str]) -> Granted:
    """This service and the user itself, unless the scopes name an audience."""
    return Granted([service.config.issuer, user.id], list(wanted))
