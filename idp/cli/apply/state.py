"""Reads a state from its file: YAML or JSON, with the fields of the management API.

Unknown fields are refused with their path, before anything is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, get_args, get_origin

import yaml

from idp.cli.apply import connection_state
from idp.cli.document import Document
from idp.clients import presets
from idp.foundation.errors import ConfigError, FieldProblem, InvalidArgument, NotFound
from idp.identity.users.permissions import INSTANCE_ROLES, ORGANIZATION_ROLES
from idp.management.groups.grants import GroupRoles
from idp.management.groups.groups import NewGroup
from idp.management.instance.settings import Features, SecurityPolicy
from idp.management.policies import forms
from idp.management.projects.api_apps import NewApiApp
from idp.management.projects.oidc_request import NewOidcApp
from idp.management.projects.projects import NewProject
from idp.management.projects.roles import NewRole
from idp.management.users.service_users import NewMachine
from idp.schema.field_rules import Items, Name, OneOf, Text
from idp.schema.reading import Request, declared, read

MAX_ENTRIES: Final = 10_000
_MAX_BYTES: Final = 16 * 1024 * 1024

File = Annotated[str, Text(1, 4000)]


class Policies(Request, frozen=True, kw_only=True):
    login: forms.LoginPolicy | None = None
    password_complexity: forms.ComplexityPolicy | None = None
    password_age: forms.AgePolicy | None = None
    lockout: forms.LockoutPolicy | None = None
    label: forms.LabelPolicy | None = None
    privacy: forms.PrivacyPolicy | None = None


class MemberState(Request, frozen=True, kw_only=True):
    """A member of an organization in a state file. `user` is the user name."""

    user: Name
    roles: Annotated[list[Annotated[str, OneOf(tuple(ORGANIZATION_ROLES))]], Items(20, min=1)]


class InstanceMember(Request, frozen=True, kw_only=True):
    user: Name
    roles: Annotated[list[Annotated[str, OneOf(tuple(INSTANCE_ROLES))]], Items(20, min=1)]


class ServiceUser(NewMachine, frozen=True, kw_only=True):
    """A service user in a state file. A secret and a key are created together with the user and
    are stored only in the files `secret_file` and `key_file`; None creates none.
    """

    secret_file: File | None = None
    key_file: File | None = None


class OidcApplication(NewOidcApp, frozen=True, kw_only=True):
    preset: Name | None = None
    host: Name | None = None
    secret_file: File | None = None


class ApiApplication(NewApiApp, frozen=True, kw_only=True):
    preset: Name | None = None
    secret_file: File | None = None
    key_file: File | None = None


class ProjectState(NewProject, frozen=True, kw_only=True):
    roles: Annotated[list[NewRole], Items(MAX_ENTRIES)] = []
    applications: Annotated[list[OidcApplication], Items(MAX_ENTRIES)] = []
    apis: Annotated[list[ApiApplication], Items(MAX_ENTRIES)] = []


class GroupRolesState(GroupRoles, frozen=True, kw_only=True):
    """The roles of a group in the project with the name `project`."""

    project: Name


class GroupState(NewGroup, frozen=True, kw_only=True):
    """A group in a state file. Its members are not part of the state."""

    roles: Annotated[list[GroupRolesState], Items(MAX_ENTRIES)] = []


class OrganizationState(Request, frozen=True, kw_only=True):
    name: Name
    policies: Policies | None = None
    service_users: Annotated[list[ServiceUser], Items(MAX_ENTRIES)] = []
    projects: Annotated[list[ProjectState], Items(MAX_ENTRIES)] = []
    groups: Annotated[list[GroupState], Items(MAX_ENTRIES)] = []
    members: Annotated[list[MemberState], Items(MAX_ENTRIES)] = []


class State(Request, frozen=True, kw_only=True):
    features: Features | None = None
    security: SecurityPolicy | None = None
    policies: Policies | None = None
    organizations: Annotated[list[OrganizationState], Items(MAX_ENTRIES)] = []
    members: Annotated[list[InstanceMember], Items(MAX_ENTRIES)] = []


def load(path: Path) -> Document:
    """Returns the content of a state file (YAML or JSON), with the field names of the management
    API. Raises ConfigError, InvalidArgument.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError([f"{path} can't be read: {error.strerror}"]) from None
    if len(data) > _MAX_BYTES:
        raise ConfigError([f"{path} has more than {_MAX_BYTES} bytes"])
    try:
        document = _Loader(data).get_single_data()
    except yaml.YAMLError as error:
        raise ConfigError([f"{path} is not YAML: {error}"]) from None
    state = _with_api_names(State, _with_presets({} if document is None else document))
    for holder in (state, *(each for _, each in _entries(state, "organizations"))):
        _rename_connection_fields(holder)
    other_state, problems = connection_state.without_connections(state)
    if problems:
        raise InvalidArgument(problems)
    read(State, other_state)
    duplicates = list(_duplicates(state, ""))
    if duplicates:
        raise InvalidArgument(duplicates)
    return state if isinstance(state, dict) else {}


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Loads plain values only; duplicate keys and aliases are refused."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        # Aliases would let a small file expand into a huge document.
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            raise yaml.constructor.ConstructorError(
                None, None, "aliases are not supported: write the value instead", event.start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str) or key in keys:
                problem = "is listed twice" if isinstance(key, str) else "is not a text"
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key} {problem}", key_node.start_mark
                )
            keys.add(key)
        return super().construct_mapping(node, deep)


def _with_api_names(hint: Any, value: Any) -> Any:
    """Returns the value with the field names of the API; unknown names stay as they are."""
    if get_origin(hint) is Annotated:
        return _with_api_names(get_args(hint)[0], value)
    if get_origin(hint) is list and isinstance(value, list):
        return [_with_api_names(get_args(hint)[0], each) for each in value]
    if not (isinstance(hint, type) and issubclass(hint, Request) and isinstance(value, dict)):
        return value
    fields = {each.name: each for each in declared(hint)}
    fields |= {each.wire_name: each for each in fields.values()}
    renamed: Document = {}
    for name, each in value.items():
        field = fields.get(name)
        wire_name = field.wire_name if field and field.wire_name not in value else name
        renamed[wire_name] = _with_api_names(field.type, each) if field else each
    return renamed


def _rename_connection_fields(holder: Any) -> None:
    """Replaces the field names of connections by those of the API, in the state of an organization
    or in the whole state."""
    connections = holder.get(connection_state.SECTION) if isinstance(holder, dict) else None
    if isinstance(connections, list):
        holder[connection_state.SECTION] = [
            _with_api_names(form, entry) if (form := connection_state.form_of(entry)) else entry
            for entry in connections
        ]


def _with_presets(document: Any) -> Any:
    """Returns the state with its presets' values. Raises InvalidArgument for an unknown one."""
    for path, app in list(_applications(document)):
        name, host = app.get("preset"), app.get("host", "app.example")
        if not isinstance(name, str) or not isinstance(host, str):
            continue
        try:
            preset_values = presets.expand(name, host)
        except NotFound as error:
            problem = FieldProblem(error.error_code, f"{path}.preset", "is not known")
            raise InvalidArgument([problem]) from None
        for field, value in preset_values.items():
            # The state's own values take precedence.
            app.setdefault(field, value)
    return document


def _applications(document: Any) -> Iterator[tuple[str, Document]]:
    for n, organization in _entries(document, "organizations"):
        for m, project in _entries(organization, "projects"):
            for k, app in _entries(project, "applications"):
                yield f"organizations[{n}].projects[{m}].applications[{k}]", app


def _entries(document: Any, name: str) -> Iterator[tuple[int, Document]]:
    entries = document.get(name) if isinstance(document, dict) else None
    for n, each in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(each, dict):
            yield n, each


_KEYS: Final = ("name", "userName", "user", "roleKey", "project")


def _duplicates(value: Any, path: str) -> Iterator[FieldProblem]:
    """Returns a problem for each entry whose name another entry of its list has."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _duplicates(each, f"{path}.{name}" if path else name)
        return
    names: set[str] = set()
    for n, each in enumerate(value if isinstance(value, list) else ()):
        yield from _duplicates(each, f"{path}[{n}]")
        key = next((key for key in _KEYS if isinstance(each, dict) and key in each), None)
        if key and each[key] in names:
            yield FieldProblem("field.duplicate", f"{path}[{n}].{key}", "is listed twice")
        elif key:
            names.add(each[key])
