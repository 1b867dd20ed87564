"""The owners of connections, and the texts that several pages of connections share."""

from __future__ import annotations

from typing import Final, NamedTuple

from idp.foundation.i18n import message
from idp.identity.users.permissions import Permission


class ConnectionOwner(NamedTuple):
    """The owner of the connections that pages are about: an organization or the installation.
    `path` is the address of the list in the console, `prefix` that of the API, `option` the
    option of the command line; `read` and `write` are the permissions."""

    path: str
    prefix: str
    option: str
    section: str
    read: Permission
    write: Permission

    @property
    def page_path(self) -> str:
        return f"{self.path}/{{idpId}}"


OF_ORGANIZATION: Final = ConnectionOwner(
    "/connections", "/management/v1", "", "connections", "idp.read", "idp.write"
)
OF_INSTANCE: Final = ConnectionOwner(
    "/installation/connections",
    "/admin/v1",
    " --instance",
    "installation-connections",
    "iam.idp.read",
    "iam.idp.write",
)
OWNERS: Final = (OF_ORGANIZATION, OF_INSTANCE)
BACK: Final = message("Back to the connection", context="connections")
