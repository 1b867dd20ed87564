"""The kinds of rows, in the order in which they are stored: records come before those that refer
to them.

A new kind needs a module here that defines its `KINDS`, and a line in the `KINDS` below.
"""

from __future__ import annotations

from typing import Final

from idp.transfer.kinds import (
    apps,
    connections,
    domains,
    factors,
    group_grants,
    groups,
    members,
    organizations,
    pictures,
    policies,
    project_grants,
    projects,
    registered_keys,
    texts,
    unsupported,
)
from idp.transfer.kinds.kind import RowKind
from idp.transfer.kinds.users import humans, machines, user_grants, user_links, user_metadata

KINDS: Final[tuple[RowKind, ...]] = (
    *organizations.KINDS,
    *domains.KINDS,
    *policies.KINDS,
    *factors.KINDS,
    *pictures.KINDS,
    *texts.KINDS,
    *connections.KINDS,
    *humans.KINDS,
    *machines.KINDS,
    *user_metadata.KINDS,
    registered_keys.MACHINE_KEY,
    *user_links.KINDS,
    groups.GROUP,
    groups.MEMBERS,
    projects.PROJECT,
    apps.API,
    apps.OIDC,
    registered_keys.APP_KEY,
    projects.ROLE,
    project_grants.KIND,
    *user_grants.KINDS,
    *group_grants.KINDS,
    *members.KINDS,
    *unsupported.KINDS,
)
BY_MEMBER: Final = {kind.member: kind for kind in KINDS}
