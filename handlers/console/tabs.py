"""Pages of a record that are tabs of each other, each with an address."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct

from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from idp.foundation.errors import PermissionDenied
from idp.foundation.i18n import Message
from idp.identity.users.permissions import Permission


class Tab(Struct, frozen=True):
    """A tab, for those who have the permission."""

    label: Message
    permission: Permission


class TabbedHandler(ConsoleHandler):
    """One tab of the page of a record. `tabs` has them by the end of their address, which is empty
    for the first one; `page_path` is the address of that one, with placeholders for ids."""

    tabs: ClassVar[Mapping[str, Tab]]
    page_path: ClassVar[str]
    tab = ""

    def initialize(self, tab: str) -> None:  # type: ignore[override]
        super().initialize()
        self.tab = tab

    def check_tab(self) -> None:
        """Raises PermissionDenied if the person may not see this tab."""
        permission = self.tabs[self.tab].permission
        if not self.may(permission):
            raise PermissionDenied(f"the permission {permission} is missing")

    def tab_links(
        self, ids: Sequence[str], absent: Collection[str] = ()
    ) -> list[dict[str, object]]:
        """Returns the links to the tabs that the person may see, without those that the record
        does not have (`absent`)."""
        page = CONSOLE + self.page_path
        return [
            {
                "label": tab.label,
                "url": self.url_of(f"{page}/{name}" if name else page, *ids),
                "is_current": name == self.tab,
            }
            for name, tab in self.tabs.items()
            if name not in absent and self.may(tab.permission)
        ]


def tab_routes(
    pattern: str, handler: type[TabbedHandler]
) -> list[tuple[str, Any, dict[str, str]]]:
    """Returns the routes of all tabs; `pattern` is that of the first one."""
    return [
        (f"{pattern}/{name}" if name else pattern, handler, {"tab": name}) for name in handler.tabs
    ]
