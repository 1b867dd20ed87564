"""The console's page of a stored record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from handlers.console import groups, organizations, projects
from handlers.console.applications.actions import PAGE_PATH as APP_PAGE
from handlers.console.base import ConsoleHandler
from handlers.console.connections.owners import OF_INSTANCE, OF_ORGANIZATION
from handlers.console.policies.fields import INSTALLATION_PATH
from handlers.console.policies.fields import PATH as POLICIES_PATH
from handlers.console.sections import CONSOLE, SECTIONS
from handlers.console.users.actions import PAGE_PATH as USER_PAGE
from handlers.console.users.service_user_actions import PAGE_PATH as SERVICE_USER_PAGE
from idp.records import (
    Application,
    Organization,
    PersonalAccessToken,
    Policy,
    Project,
    User,
)
from idp.records.connections import ProviderConnection
from idp.records.groups import Group

# The section of each type of record, the path of its page and the ids in it.
_PAGES: Final[Mapping[type, Callable[[Any], Sequence[str]]]] = {
    Application: lambda each: ("applications", APP_PAGE, each.project_id, each.id),
    Group: lambda each: ("groups", groups.PAGE_PATH, each.id),
    Organization: lambda each: ("organizations", organizations.PAGE_PATH, each.id),
    PersonalAccessToken: lambda each: ("service-users", SERVICE_USER_PAGE, each.user_id),
    Policy: lambda each: (
        "policies",
        f"{POLICIES_PATH if each.org_id else INSTALLATION_PATH}/{each.kind}",
    ),
    Project: lambda each: ("projects", projects.PAGE_PATH, each.id),
    ProviderConnection: lambda each: (
        (owner := OF_ORGANIZATION if each.org_id else OF_INSTANCE).section,
        owner.page_path,
        each.id,
    ),
    User: lambda each: (
        ("users", USER_PAGE, each.id)
        if each.kind == "human"
        else ("service-users", SERVICE_USER_PAGE, each.id)
    ),
}


def address(page: ConsoleHandler, record: object) -> str | None:
    """Returns the address of a record's page; None if it has none, or the person may not open
    it."""
    if type(record) not in _PAGES:
        return None
    section, path, *ids = _PAGES[type(record)](record)
    org_id = record.id if isinstance(record, Organization) else getattr(record, "org_id", None)
    permission = SECTIONS[section].permission
    if permission is not None and not page.console_session.rights.allow(permission, org_id or ""):
        return None
    return page.url_of(
        CONSOLE + path, *ids, **({"org": org_id} if org_id not in (None, page.org_id) else {})
    )
