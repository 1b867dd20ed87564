"""Plans the steps after which an installation has what a state file describes, without carrying
them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from idp import api
from idp.api.operation import Operation
from idp.cli import queries
from idp.cli.apply import connection_state, kinds
from idp.cli.apply.kinds import AppliedKind, SettingsSection
from idp.cli.apply.steps import AppliedRecord, ApplyStep
from idp.cli.backends import Backend
from idp.cli.document import Document
from idp.foundation.errors import FailedPrecondition, IdpError
from idp.foundation.texts.text_folding import folded
from idp.schema.reading import Request, collect, declared

_INSTALLATION: Final = AppliedRecord("")


class UnresolvedName(IdpError):
    """The error that no record of the installation, or more than one, has a name that the state
    file contains."""

    error_code = "apply.unclear"


async def plan(backend: Backend, state: Document, *, prunes: bool) -> Sequence[ApplyStep]:
    """Compares the installation with `state`, the content of a state file, and returns the steps
    after which the installation has what the file describes, in the order in which they must be
    carried out.

    With `prunes`, the last steps delete the records that a list of the state does not contain.
    Raises IdpError, StorageError.
    """
    planner = _Planner(backend, state, prunes=prunes)
    for settings in (kinds.FEATURES, kinds.SECURITY):
        await planner.plan_settings(settings, _INSTALLATION, state)
    for settings in kinds.INSTANCE_POLICIES:
        await planner.plan_settings(settings, _INSTALLATION, state.get("policies", {}))
    for kind in kinds.INSTANCE_CONNECTIONS:
        await planner.plan_list(kind, _INSTALLATION, state)
    await planner.plan_list(kinds.ORGANIZATION, _INSTALLATION, state)
    await planner.plan_list(kinds.INSTANCE_MEMBER, _INSTALLATION, state)
    return planner.created_or_changed + planner.deleted


class _Planner:
    """Compares the installation with the state, and collects the steps in `created_or_changed` and
    `deleted`."""

    def __init__(self, backend: Backend, state: Document, *, prunes: bool) -> None:
        self._backend = backend
        self._state = state
        self._prunes = prunes
        self.created_or_changed: list[ApplyStep] = []
        self.deleted: list[ApplyStep] = []
        self._users: dict[str, AppliedRecord] = {}
        # By the label of their organization, and their names.
        self._projects: dict[tuple[str, str], AppliedRecord] = {}

    async def plan_list(self, kind: AppliedKind, parent: AppliedRecord, state: Document) -> None:
        """Plans one list of the state."""
        if kind.section not in state:
            return
        # A record that does not exist yet has no contents.
        rows = [] if parent.is_new else await self._rows(kind, parent)
        names = set()
        for each in kind.entries(state):
            name = await self._name(kind, each, parent)
            names.add(name)
            matching_rows = [row for row in rows if _name_of(kind, row) == name]
            if len(matching_rows) > 1:
                raise UnresolvedName(
                    f"{len(matching_rows)} records have the name: {_label(kind, parent, each)}"
                )
            await self._plan_entry(kind, parent, each, matching_rows[0] if matching_rows else None)
        if self._prunes and kind.deleting:
            missing_rows = [row for row in rows if _name_of(kind, row) not in names]
            _check_owner(kind, parent, kind.entries(state), missing_rows)
            self._prune(kind, kind.deleting, parent, missing_rows)

    async def _plan_entry(
        self, kind: AppliedKind, parent: AppliedRecord, entry: Document, row: Document | None
    ) -> None:
        record_id = str(row[kind.row_id]) if row else None
        record = AppliedRecord(_label(kind, parent, entry), kind.parameter, parent, record_id)
        if kind is kinds.GROUP_ROLES:
            record.referenced = await self._project(parent, entry["project"])
        self._remember(kind, record, entry)
        if row is None:
            self._create(kind, record, entry)
        elif kind.changing:
            before = {**row, kind.key: row.get(kind.row_key), **row.get(kind.row_values, {})}
            self._change(record, kind.changing, before, entry, _sequence(row))
        for child in kind.children:
            await self.plan_list(child, record, entry)
        if kind is kinds.ORGANIZATION:
            for settings, default in zip(kinds.POLICIES, kinds.INSTANCE_POLICIES, strict=True):
                await self.plan_settings(settings, record, entry.get("policies", {}), default)

    def _remember(self, kind: AppliedKind, record: AppliedRecord, entry: Document) -> None:
        """Remembers a record that other entries of the state may name before it is created."""
        if kind is kinds.SERVICE_USER:
            self._users[folded(entry["userName"])] = record
        elif kind is kinds.PROJECT and record.parent is not None:
            self._projects[record.parent.label, entry["name"]] = record

    def _create(self, kind: AppliedKind, record: AppliedRecord, entry: Document) -> None:
        operation = kind.creating
        entry_values = connection_state.with_secrets(entry) if kind.variant else entry
        document = _accepted_members(operation, entry_values)
        files = {
            field: (entry[field], generating)
            for field, generating in kind.files.items()
            if field in entry
        }
        values = [*_displayed(document), *((field, file) for field, (file, _) in files.items())]
        self.created_or_changed.append(
            ApplyStep(
                action="create",
                record=record,
                operation=operation,
                document=document,
                differences=[(name, None, value) for name, value in values if name != kind.key],
                user=self._users[folded(entry["user"])] if kind.key == "user" else None,
                answer_id=kind.answer_id,
                files=files,
            )
        )

    def _change(
        self,
        record: AppliedRecord,
        operation: Operation,
        before: Document,
        values: Document,
        sequence: int | None,
    ) -> None:
        """Plans a change, if the state gives other values than the stored ones."""
        before = _accepted_members(operation, before)
        after = before | _accepted_members(operation, values)
        differences = list(_differences(operation, before, after))
        if differences:
            step = ApplyStep(
                action="change",
                record=record,
                operation=operation,
                document=after,
                differences=differences,
                sequence=sequence if operation.is_conditional else None,
            )
            self.created_or_changed.append(step)

    def _prune(
        self,
        kind: AppliedKind,
        deleting: Operation,
        parent: AppliedRecord,
        rows: Sequence[Document],
    ) -> None:
        for row in rows:
            label = _path_label(parent, f"{kind.noun} {row.get(kind.row_name or kind.row_key)}")
            record = AppliedRecord(label, kind.parameter, parent, str(row[kind.row_id]))
            self.deleted.append(ApplyStep(action="delete", record=record, operation=deleting))

    async def plan_settings(
        self,
        settings: SettingsSection,
        parent: AppliedRecord,
        state: Document,
        default: SettingsSection | None = None,
    ) -> None:
        """Plans a record that exists once, if the state has its section.

        An inherited record is compared with `default`, as the state will set it.
        """
        if settings.section not in state:
            return
        # A new organization inherits what the installation has.
        reading = default if default and parent.is_new else settings
        answer = await self._backend.within(parent.org_id).call(reading.reading)
        values = answer.get(settings.values, {}) if settings.values else answer
        before = {name: _request_value(value) for name, value in values.items()}
        inherits = bool(settings.creating) and (parent.is_new or answer.get("isDefault", False))
        if inherits:
            # An earlier step gives the installation's policy these values.
            before |= self._state.get("policies", {}).get(settings.section, {})
        operation = (inherits and settings.creating) or settings.changing
        record = AppliedRecord(_path_label(parent, settings.noun), "", parent)
        sequence = None if inherits else _sequence(answer)
        self._change(record, operation, before, state[settings.section], sequence)

    async def _rows(self, kind: AppliedKind, parent: AppliedRecord) -> list[Document]:
        operation = kind.listing
        backend, values = self._backend.within(parent.org_id), parent.values(operation)
        if queries.is_search(operation):
            answer = await queries.all_pages(backend, operation, values, {})
        else:
            answer = await backend.call(operation, values)
        rows: Any = answer
        for name in kind.rows.split("."):
            rows = rows.get(name, {})
        return [row for row in rows or () if kind.is_row(row)]

    async def _name(self, kind: AppliedKind, entry: Document, parent: AppliedRecord) -> str:
        """Returns the name that identifies an entry; for a member, the id of the user, and for the
        roles of a group, that of the project."""
        name = str(entry[kind.key])
        if kind.key == "project":
            return (await self._project(parent, name)).id or f"new {name}"
        if kind.key != "user":
            return folded(name) if kind.ignores_case else name
        record = self._users.get(folded(name)) or await self._find_user(name)
        # A user without an id is a member of nothing yet: this name matches no row.
        return record.id or f"new {name}"

    async def _project(self, group: AppliedRecord, name: str) -> AppliedRecord:
        """Returns a project of the group's organization, which an earlier step may create. Raises
        UnresolvedName if no project or several have the name."""
        org_label = group.parent.label if group.parent else ""
        cached = self._projects.get((org_label, name))
        if cached is not None:
            return cached
        queries = [{"nameQuery": {"name": name}}]
        backend = self._backend.within(group.org_id)
        # An organization that is still to be created has no projects but those of the state.
        answer = (
            await backend.call(api.projects.SEARCH, [], {"queries": queries})
            if group.org_id
            else {}
        )
        projects = answer.get("result", [])
        if len(projects) != 1:
            raise UnresolvedName(f"{len(projects) or 'no'} projects have the name {name}")
        record = AppliedRecord(name, "projectId", None, projects[0]["id"])
        self._projects[org_label, name] = record
        return record

    async def _find_user(self, user_name: str) -> AppliedRecord:
        """Returns an existing user. Raises UnresolvedName if no user or several have the name."""
        method = "TEXT_QUERY_METHOD_EQUALS_IGNORE_CASE"
        query = {"userNameQuery": {"userName": user_name, "method": method}}
        backend = self._backend.within(None)
        answer = await backend.call(api.users.SEARCH, [], {"queries": [query]})
        users = answer.get("result", [])
        if len(users) != 1:
            raise UnresolvedName(f"{len(users) or 'no'} users have the name {user_name}")
        record = AppliedRecord(user_name, "userId", None, users[0]["userId"])
        self._users[folded(user_name)] = record
        return record


def _displayed(document: Document) -> Iterator[tuple[str, Any]]:
    """Yields the members of a body as a plan prints them, without the values of secrets."""
    secrets = {field for field, _ in connection_state.FILES.values()}
    for name, value in document.items():
        yield name, "(set)" if name in secrets else value


def _check_owner(
    kind: AppliedKind,
    parent: AppliedRecord,
    entries: Sequence[Document],
    missing_rows: Sequence[Document],
) -> None:
    """Raises FailedPrecondition if a list of members without an owner removes an owner: the
    installation or organization would have none, or the caller no permission for the rest."""
    role = kind.owner_role
    is_owner_removed = any(role in row.get("roles", ()) for row in missing_rows)
    if role and is_owner_removed and not any(role in each.get("roles", ()) for each in entries):
        list_name = _path_label(parent, kind.section)
        raise FailedPrecondition(
            f"{list_name}: a list that removes an owner must name a member with the role {role}",
            error_code="member.last_owner",
        )


def _label(kind: AppliedKind, parent: AppliedRecord, entry: Document) -> str:
    return _path_label(parent, f"{kind.noun} {entry[kind.key]}")


def _path_label(parent: AppliedRecord, label: str) -> str:
    return f"{parent.label} / {label}" if parent.label else label


def _name_of(kind: AppliedKind, row: Document) -> str:
    name = str(row.get(kind.row_key, ""))
    return folded(name) if kind.ignores_case else name


def _sequence(answer: Document) -> int | None:
    sequence = answer.get("details", {}).get("sequence")
    return int(sequence) if sequence else None


def _request_value(value: Any) -> Any:
    """Returns a value in the form of requests; in answers, a feature is an object with
    `enabled`."""
    is_feature = isinstance(value, dict) and set(value) <= {"enabled"}
    return value.get("enabled", False) if is_feature else value


def _accepted_members(operation: Operation, values: Mapping[str, Any]) -> Document:
    """Returns the members that the request of the operation declares."""
    names = [each.wire_name for each in declared(_request(operation))]
    return {name: values[name] for name in names if name in values}


def _differences(
    operation: Operation, before: Document, after: Document
) -> Iterator[tuple[str, Any, Any]]:
    """Returns the fields whose values differ; another spelling is no difference."""
    kind = _request(operation)
    old, new = collect(kind, before)[0], collect(kind, after)[0]
    for each in declared(kind):
        if not _is_same(getattr(old, each.name), getattr(new, each.name)):
            yield each.wire_name, before.get(each.wire_name), after.get(each.wire_name)


def _is_same(before: object, after: object) -> bool:
    """Returns whether two values are equal; a false value may be missing from an answer."""
    return before == after or (before in (None, False) and after in (None, False))


def _request(operation: Operation) -> type[Request]:
    if operation.request is None:
        raise LookupError(f"{operation.path} has no request body")
    return operation.request
