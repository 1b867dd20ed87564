"""The operations of the management API as data, and their OpenAPI description."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Final

from idp.api import (
    applications,
    connections,
    events,
    groups,
    imports,
    instance,
    mail,
    organizations,
    policies,
    projects,
    service_users,
    usage,
    users,
)
from idp.api.operation import Operation

PARTS: Final[Mapping[str, tuple[Operation, ...]]] = {
    "Organizations": organizations.OPERATIONS,
    "Users": users.OPERATIONS,
    "Service users": service_users.OPERATIONS,
    "Groups": groups.OPERATIONS,
    "Projects": projects.OPERATIONS,
    "Applications": applications.OPERATIONS,
    "Policies": policies.OPERATIONS,
    "Connections": connections.OPERATIONS,
    "Imports": imports.OPERATIONS,
    "Events": events.OPERATIONS,
    "Figures": usage.OPERATIONS,
    "Mail": mail.OPERATIONS,
    "The installation": instance.OPERATIONS,
}
OPERATIONS: Final[tuple[Operation, ...]] = tuple(chain(*PARTS.values()))
