"""The kinds of records that a state file can contain, with the operations that list, create and
change each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from idp import api
from idp.api.connections import ConnectionOperations
from idp.api.operation import Operation
from idp.cli.document import Document
from idp.management.connections.views import TYPES
from idp.records.policies import PolicyKind


class AppliedKind(Struct, frozen=True, kw_only=True):
    """A kind of record that `idp apply` lists, creates, changes and deletes: `noun` is its name in
    messages, `section` the key of its list in a state file, `children` are the kinds of the lists
    within its records.

    The rows that the operation `listing` answers are in its member `rows`. The field `key`
    identifies a record of the state file, regardless of case if `ignores_case` is true.
    In a row, that value is in the member `row_key`, the id in `row_id`, the displayed name in
    `row_name`, and the other values are in the row itself or in the member `row_values`;
    `distinctive` is a member that only
    rows of this kind have. `parameter` is the id's name in paths, `answer_id` its name in the
    answer of `creating`. `files` maps fields that name a file to the operation whose answer has
    the secret for the file, or None for `creating`. Of the members in a list that prunes others,
    one must have the role `owner_role`. Several kinds may share a section: an entry is
    of the kind whose `variant` is its member `kind`, and a row of the kind whose `row_type` is its
    `type`.
    """

    section: str
    noun: str
    key: str
    ignores_case: bool = False
    parameter: str
    listing: Operation
    rows: str = "result"
    row_key: str
    row_id: str = "id"
    row_values: str = ""
    row_name: str = ""
    distinctive: str = ""
    creating: Operation
    answer_id: str = ""
    changing: Operation | None = None
    deleting: Operation | None = None
    files: Mapping[str, Operation | None] = {}
    children: tuple[AppliedKind, ...] = ()
    owner_role: str = ""
    variant: str = ""
    row_type: str = ""

    def entries(self, state: Document) -> list[Document]:
        """Returns the entries of this kind in the state."""
        section_entries: list[Document] = state[self.section]
        return [
            each
            for each in section_entries
            if not self.variant or each.get("kind") == self.variant
        ]

    def is_row(self, row: Document) -> bool:
        """Returns whether a row that `listing` answers is of this kind."""
        return (not self.distinctive or self.distinctive in row) and (
            not self.row_type or row.get("type") == self.row_type
        )


class SettingsSection(Struct, frozen=True, kw_only=True):
    """A record that exists once, the values of one `section` of a state file; `noun` is its name
    in messages.

    The operation `reading` answers it in the member `values`. The operation
    `changing` sets it, or `creating` if it is only inherited so far.
    """

    section: str
    noun: str
    reading: Operation
    values: str
    changing: Operation
    creating: Operation | None = None


_POLICIES: Final[Mapping[str, PolicyKind]] = {
    "login": "login",
    "passwordComplexity": "password_complexity",
    "passwordAge": "password_age",
    "lockout": "lockout",
    "label": "label",
    "privacy": "privacy",
    "language": "language",
}

INSTANCE_POLICIES: Final = tuple(
    SettingsSection(
        section=section,
        noun=f"policy {section}",
        reading=api.policies.READ_DEFAULT[kind],
        values="policy",
        changing=api.policies.SET_DEFAULT[kind],
    )
    for section, kind in _POLICIES.items()
)
POLICIES: Final = tuple(
    SettingsSection(
        section=section,
        noun=f"policy {section}",
        reading=api.policies.READ[kind],
        values="policy",
        changing=api.policies.CHANGE[kind],
        creating=api.policies.CREATE[kind],
    )
    for section, kind in _POLICIES.items()
)
FEATURES: Final = SettingsSection(
    section="features",
    noun="features",
    reading=api.instance.FEATURES,
    values="",
    changing=api.instance.SET_FEATURES,
)
SECURITY: Final = SettingsSection(
    section="security",
    noun="security policy",
    reading=api.instance.SECURITY,
    values="policy",
    changing=api.instance.SET_SECURITY,
)

ROLE: Final = AppliedKind(
    section="roles",
    noun="role",
    key="roleKey",
    parameter="roleKey",
    listing=api.projects.ROLES,
    row_key="key",
    row_id="key",
    creating=api.projects.ADD_ROLE,
    changing=api.projects.CHANGE_ROLE,
    deleting=api.projects.REMOVE_ROLE,
)
APPLICATION: Final = AppliedKind(
    section="applications",
    noun="application",
    key="name",
    parameter="appId",
    listing=api.applications.SEARCH,
    row_key="name",
    distinctive="oidcConfig",
    row_values="oidcConfig",
    creating=api.applications.CREATE_OIDC,
    answer_id="appId",
    changing=api.applications.CONFIGURE_OIDC,
    deleting=api.applications.REMOVE,
    files={"secretFile": None},
)
API: Final = AppliedKind(
    section="apis",
    noun="api",
    key="name",
    parameter="appId",
    listing=api.applications.SEARCH,
    row_key="name",
    distinctive="apiConfig",
    row_values="apiConfig",
    creating=api.applications.CREATE_API,
    answer_id="appId",
    changing=api.applications.CONFIGURE_API,
    deleting=api.applications.REMOVE,
    files={"secretFile": None, "keyFile": api.applications.CREATE_KEY},
)
PROJECT: Final = AppliedKind(
    section="projects",
    noun="project",
    key="name",
    parameter="projectId",
    listing=api.projects.SEARCH,
    row_key="name",
    creating=api.projects.CREATE,
    answer_id="id",
    deleting=api.projects.REMOVE,
    children=(ROLE, APPLICATION, API),
)
SERVICE_USER: Final = AppliedKind(
    section="serviceUsers",
    noun="service user",
    key="userName",
    ignores_case=True,
    parameter="userId",
    listing=api.users.SEARCH,
    row_key="username",
    row_id="userId",
    row_values="machine",
    distinctive="machine",
    creating=api.service_users.CREATE,
    answer_id="userId",
    changing=api.service_users.CHANGE,
    deleting=api.users.REMOVE,
    files={
        "secretFile": api.service_users.GENERATE_SECRET,
        "keyFile": api.service_users.CREATE_KEY,
    },
)
GROUP_ROLES: Final = AppliedKind(
    section="roles",
    noun="roles in project",
    key="project",
    parameter="projectId",
    listing=api.groups.READ,
    rows="group.grants",
    row_key="projectId",
    row_id="projectId",
    creating=api.groups.SET_GRANT,
    changing=api.groups.SET_GRANT,
    deleting=api.groups.REMOVE_GRANT,
)
GROUP: Final = AppliedKind(
    section="groups",
    noun="group",
    key="name",
    ignores_case=True,
    parameter="groupId",
    listing=api.groups.SEARCH,
    row_key="name",
    creating=api.groups.CREATE,
    answer_id="id",
    changing=api.groups.CHANGE,
    deleting=api.groups.REMOVE,
    children=(GROUP_ROLES,),
)
MEMBER: Final = AppliedKind(
    section="members",
    noun="member",
    key="user",
    parameter="userId",
    listing=api.organizations.SEARCH_MEMBERS,
    row_key="userId",
    row_id="userId",
    row_name="preferredLoginName",
    creating=api.organizations.ADD_MEMBER,
    changing=api.organizations.CHANGE_MEMBER,
    deleting=api.organizations.REMOVE_MEMBER,
    owner_role="ORG_OWNER",
)
INSTANCE_MEMBER: Final = AppliedKind(
    section="members",
    noun="member of the instance",
    key="user",
    parameter="userId",
    listing=api.instance.SEARCH_MEMBERS,
    row_key="userId",
    row_id="userId",
    row_name="preferredLoginName",
    creating=api.instance.ADD_MEMBER,
    changing=api.instance.CHANGE_MEMBER,
    deleting=api.instance.REMOVE_MEMBER,
    owner_role="IAM_OWNER",
)


def _connections(operations: ConnectionOperations, noun: str) -> tuple[AppliedKind, ...]:
    return tuple(
        AppliedKind(
            section="connections",
            noun=noun,
            key="name",
            ignores_case=True,
            parameter="idpId",
            listing=operations.search,
            row_key="name",
            row_values="settings",
            creating=operations.create[kind],
            answer_id="id",
            changing=operations.change[kind],
            deleting=operations.remove,
            variant=kind,
            row_type=row_type,
        )
        for kind, row_type in TYPES.items()
    )


CONNECTIONS: Final = _connections(api.connections.OF_ORGANIZATION, "connection")
INSTANCE_CONNECTIONS: Final = _connections(
    api.connections.OF_INSTANCE, "connection of the instance"
)
ORGANIZATION: Final = AppliedKind(
    section="organizations",
    noun="organization",
    key="name",
    ignores_case=True,
    parameter="orgId",
    listing=api.organizations.SEARCH,
    row_key="name",
    creating=api.organizations.CREATE,
    answer_id="id",
    children=(SERVICE_USER, PROJECT, GROUP, *CONNECTIONS, MEMBER),
)
