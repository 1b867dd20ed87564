"""The service's own pages as the target of a sign-in, in place of an application."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from idp.foundation.i18n import Message, message
from idp.records import Application, AuthRequest, Instance


class OwnPages(Struct, frozen=True):
    """An area of the service's own pages, such as the console, that users sign in to.

    `id` takes the place of an application's, and `path` is that of the area's first page.
    """

    id: str
    name: Message
    path: str


ACCOUNT: Final = OwnPages("account", message("Account", context="users"), "/ui/account")
CONSOLE: Final = OwnPages("console", message("Console", context="console"), "/ui/console")
AREAS: Final[Mapping[str, OwnPages]] = {area.id: area for area in (ACCOUNT, CONSOLE)}


def application(request: AuthRequest, instance: Instance) -> Application:
    """Returns an application, never stored, that takes the place of the client of this request.

    `request` is a sign-in to the service's own pages. A user who registers there belongs to the
    installation's first organization.
    """
    area = AREAS.get(request.client_id, CONSOLE)
    return Application(
        id=request.client_id,
        project_id="",
        org_id=instance.org_id,
        name=area.name.msgid,
        auth_method="none",
        redirect_uris=[request.redirect_uri],
        stamp="",
        created_at=instance.created_at,
        changed_at=instance.created_at,
        home_url=request.redirect_uri,
    )


def is_area(client: Application) -> bool:
    """Returns whether an application represents an area of the service's own pages."""
    return client.id in AREAS


def name_of(client: Application) -> Message | str:
    """Returns the name of an application for pages: a translatable one if the application
    represents an area of the service's own pages."""
    area = AREAS.get(client.id)
    return area.name if area else client.name
