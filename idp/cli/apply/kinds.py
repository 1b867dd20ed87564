"""The kinds of records that a state file can contain, with the operations that list, create and
change each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from idp.cli.document import Document
from idp.management.connections.views import TYPES

_ORGS: Final = "/management/v1/orgs"
_PROJECTS: Final = "/management/v1/projects"
_PROJECT: Final = f"{_PROJECTS}/{{projectId}}"
_APPS: Final = f"{_PROJECT}/apps"
_APP: Final = f"{_APPS}/{{appId}}"
_USERS: Final = "/management/v1/users"
_GROUPS: Final = "/v2/groups"
_GROUP: Final = f"{_GROUPS}/{{groupId}}"


class AppliedKind(Struct, frozen=True, kw_only=True):
    """A kind of record that `idp apply` lists, creates, changes and deletes: `noun` is its name in
    messages, `section` the key of its list in a state file, `children` are the kinds of the lists
    within its records.

    `listing`, `creating`, `changing` and `deleting` are the addresses of operations (`POST
    /path`); the rows that `listing` answers are in its member `rows`. The field `key` identifies a
    record of the state file, regardless of case if `ignores_case` is true. In a row, that value is
    in the member `row_key`, the id in `row_id`, the displayed name in `row_name`, and the other
    values are in the row itself or in the member `row_values`; `distinctive` is a member that only
    rows of this kind have. `parameter` is the id's name in paths, `answer_id` its name in the
    answer of `creating`. `files` maps fields that name a file to the operation whose answer has
    the secret for the file, or "" for `creating`. Several kinds may share a section: an entry is
    of the kind whose `variant` is its member `kind`, and a row of the kind whose `row_type` is its
    `type`.
    """

    section: str
    noun: str
    key: str
    ignores_case: bool = False
    parameter: str
    listing: str
    rows: str = "result"
    row_key: str
    row_id: str = "id"
    row_values: str = ""
    row_name: str = ""
    distinctive: str = ""
    creating: str
    answer_id: str = ""
    changing: str = ""
    deleting: str = ""
    files: Mapping[str, str] = {}
    children: tuple[AppliedKind, ...] = ()
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

    The operation at the address `reading` answers it in the member `values`. The operation
    `changing` sets it, or `creating` if it is only inherited so far.
    """

    section: str
    noun: str
    reading: str
    values: str
    changing: str
    creating: str = ""


_POLICY_PATHS: Final = {
    "login": "login",
    "passwordComplexity": "password/complexity",
    "passwordAge": "password/age",
    "lockout": "lockout",
    "label": "label",
    "privacy": "privacy",
    "language": "language",
}

INSTANCE_POLICIES: Final = tuple(
    SettingsSection(
        section=section,
        noun=f"policy {section}",
        reading=f"GET /admin/v1/policies/{path}",
        values="policy",
        changing=f"PUT /admin/v1/policies/{path}",
    )
    for section, path in _POLICY_PATHS.items()
)
POLICIES: Final = tuple(
    SettingsSection(
        section=section,
        noun=f"policy {section}",
        reading=f"GET /management/v1/policies/{path}",
        values="policy",
        changing=f"PUT /management/v1/policies/{path}",
        creating=f"POST /management/v1/policies/{path}",
    )
    for section, path in _POLICY_PATHS.items()
)
FEATURES: Final = SettingsSection(
    section="features",
    noun="features",
    reading="GET /v2/features/instance",
    values="",
    changing="PUT /v2/features/instance",
)
SECURITY: Final = SettingsSection(
    section="security",
    noun="security policy",
    reading="GET /admin/v1/policies/security",
    values="policy",
    changing="PUT /admin/v1/policies/security",
)

ROLE: Final = AppliedKind(
    section="roles",
    noun="role",
    key="roleKey",
    parameter="roleKey",
    listing=f"GET {_PROJECT}/roles",
    row_key="key",
    row_id="key",
    creating=f"POST {_PROJECT}/roles",
    changing=f"PUT {_PROJECT}/roles/{{roleKey}}",
    deleting=f"DELETE {_PROJECT}/roles/{{roleKey}}",
)
APPLICATION: Final = AppliedKind(
    section="applications",
    noun="application",
    key="name",
    parameter="appId",
    listing=f"POST {_APPS}/_search",
    row_key="name",
    distinctive="oidcConfig",
    row_values="oidcConfig",
    creating=f"POST {_APPS}/oidc",
    answer_id="appId",
    changing=f"PUT {_APP}/oidc_config",
    deleting=f"DELETE {_APP}",
    files={"secretFile": ""},
)
API: Final = AppliedKind(
    section="apis",
    noun="api",
    key="name",
    parameter="appId",
    listing=f"POST {_APPS}/_search",
    row_key="name",
    distinctive="apiConfig",
    row_values="apiConfig",
    creating=f"POST {_APPS}/api",
    answer_id="appId",
    changing=f"PUT {_APP}/api_config",
    deleting=f"DELETE {_APP}",
    files={"secretFile": "", "keyFile": f"POST {_APP}/keys"},
)
PROJECT: Final = AppliedKind(
    section="projects",
    noun="project",
    key="name",
    parameter="projectId",
    listing=f"POST {_PROJECTS}/_search",
    row_key="name",
    creating=f"POST {_PROJECTS}",
    answer_id="id",
    deleting=f"DELETE {_PROJECT}",
    children=(ROLE, APPLICATION, API),
)
SERVICE_USER: Final = AppliedKind(
    section="serviceUsers",
    noun="service user",
    key="userName",
    ignores_case=True,
    parameter="userId",
    listing="POST /v2/users",
    row_key="username",
    row_id="userId",
    row_values="machine",
    distinctive="machine",
    creating=f"POST {_USERS}/machine",
    answer_id="userId",
    changing=f"PUT {_USERS}/{{userId}}/machine",
    deleting="DELETE /v2/users/{userId}",
    files={
        "secretFile": f"PUT {_USERS}/{{userId}}/secret",
        "keyFile": f"POST {_USERS}/{{userId}}/keys",
    },
)
GROUP_ROLES: Final = AppliedKind(
    section="roles",
    noun="roles in project",
    key="project",
    parameter="projectId",
    listing=f"GET {_GROUP}",
    rows="group.grants",
    row_key="projectId",
    row_id="projectId",
    creating=f"PUT {_GROUP}/grants/{{projectId}}",
    changing=f"PUT {_GROUP}/grants/{{projectId}}",
    deleting=f"DELETE {_GROUP}/grants/{{projectId}}",
)
GROUP: Final = AppliedKind(
    section="groups",
    noun="group",
    key="name",
    ignores_case=True,
    parameter="groupId",
    listing=f"POST {_GROUPS}/_search",
    row_key="name",
    creating=f"POST {_GROUPS}",
    answer_id="id",
    changing=f"PUT {_GROUP}",
    deleting=f"DELETE {_GROUP}",
    children=(GROUP_ROLES,),
)
MEMBER: Final = AppliedKind(
    section="members",
    noun="member",
    key="user",
    parameter="userId",
    listing=f"POST {_ORGS}/me/members/_search",
    row_key="userId",
    row_id="userId",
    row_name="preferredLoginName",
    creating=f"POST {_ORGS}/me/members",
    changing=f"PUT {_ORGS}/me/members/{{userId}}",
    deleting=f"DELETE {_ORGS}/me/members/{{userId}}",
)
INSTANCE_MEMBER: Final = AppliedKind(
    section="members",
    noun="member of the instance",
    key="user",
    parameter="userId",
    listing="POST /admin/v1/members/_search",
    row_key="userId",
    row_id="userId",
    row_name="preferredLoginName",
    creating="POST /admin/v1/members",
    changing="PUT /admin/v1/members/{userId}",
    deleting="DELETE /admin/v1/members/{userId}",
)


def _connections(prefix: str, noun: str) -> tuple[AppliedKind, ...]:
    return tuple(
        AppliedKind(
            section="connections",
            noun=noun,
            key="name",
            ignores_case=True,
            parameter="idpId",
            listing=f"POST {prefix}/idps/templates/_search",
            row_key="name",
            row_values="settings",
            creating=f"POST {prefix}/idps/{kind}",
            answer_id="id",
            changing=f"PUT {prefix}/idps/{kind}/{{idpId}}",
            deleting=f"DELETE {prefix}/idps/templates/{{idpId}}",
            variant=kind,
            row_type=row_type,
        )
        for kind, row_type in TYPES.items()
    )


CONNECTIONS: Final = _connections("/management/v1", "connection")
INSTANCE_CONNECTIONS: Final = _connections("/admin/v1", "connection of the instance")
ORGANIZATION: Final = AppliedKind(
    section="organizations",
    noun="organization",
    key="name",
    ignores_case=True,
    parameter="orgId",
    listing="POST /v2/organizations/_search",
    row_key="name",
    creating=f"POST {_ORGS}",
    answer_id="id",
    children=(SERVICE_USER, PROJECT, GROUP, *CONNECTIONS, MEMBER),
)
