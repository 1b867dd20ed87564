"""The owners of connections, and the texts that several pages of connections share."""

from __future__ import annotations

from typing import Final, NamedTuple

from idp.api import connections
from idp.api.connections import ConnectionOperations
from idp.foundation.i18n import message
from idp.identity.users.permissions import Permission


class ConnectionOwner(NamedTuple):
    """The owner of the connections that pages are about: an organization or the installation.
    `path` is the address of the list in the console, `option` the
    option of the command line; `write` is the permission to change them."""

    path: str
    operations: ConnectionOperations
    option: str
    section: str
    write: Permission

    @property
    def page_path(self) -> str:
        return f"{self.path}/{{idpId}}"


OF_ORGANIZATION: Final = ConnectionOwner(
    "/connections", connections.OF_ORGANIZATION, "", "connections", "idp.write"
)
OF_INSTANCE: Final = ConnectionOwner(
    "/installation/connections",
    connections.OF_INSTANCE,
    " --instance",
    "installation-connections",
    "iam.idp.write",
)
OWNERS: Final = (OF_ORGANIZATION, OF_INSTANCE)
BACK: Final = message("Back to the connection", context="connections")
