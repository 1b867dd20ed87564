"""Plans the steps after which an installation has what a state file describes, without carrying
them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from idp.api.operation import Operation
from idp.cli import queries
from idp.cli.apply import kinds
from idp.cli.apply.kinds import AppliedKind, Settings
from idp.cli.apply.steps import AppliedRecord, ApplyStep
from idp.cli.backends import Backend
from idp.cli.command import BY_ADDRESS
from idp.cli.document import Document
from idp.clients import new_apps, presets
from idp.foundation.errors import IdpError
from idp.schema.reading import Request, collect, declared

_ALL: Final = AppliedRecord("")


class Unclear(IdpError):
    """The error that a name in the state file fits no record of the installation, or several."""

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
        await planner.settings(settings, _ALL, state)
    for settings in kinds.INSTANCE_POLICIES:
        await planner.settings(settings, _ALL, state.get("policies", {}))
    await planner.all_of(kinds.ORGANIZATION, _ALL, state)
    await planner.all_of(kinds.INSTANCE_MEMBER, _ALL, state)
    return planner.made + planner.deleted


class _Planner:
    """Compares the installation with the state, and collects the steps in `made` and `deleted`."""

    def __init__(self, backend: Backend, state: Document, *, prunes: bool) -> None:
        self._backend = backend
        self._state = state
        self._prunes = prunes
        self.made: list[ApplyStep] = []
        self.deleted: list[ApplyStep] = []
        self._users: dict[str, AppliedRecord] = {}

    async def all_of(self, kind: AppliedKind, parent: AppliedRecord, state: Document) -> None:
        """Plans one list of the state."""
        if kind.section not in state:
            return
        # A record that does not exist yet has no contents.
        rows = [] if parent.is_new else await self._rows(kind, parent)
        names = set()
        for each in state[kind.section]:
            name = await self._name(kind, each)
            names.add(name)
            same = [row for row in rows if _name_of(kind, row) == name]
            if len(same) > 1:
                raise Unclear(f"{len(same)} are named so: {_label(kind, parent, each)}")
            await self._one_of(kind, parent, each, same[0] if same else None)
        if self._prunes and kind.deleting:
            self._prune(kind, parent, [row for row in rows if _name_of(kind, row) not in names])

    async def _one_of(
        self, kind: AppliedKind, parent: AppliedRecord, entry: Document, row: Document | None
    ) -> None:
        record_id = str(row[kind.row_id]) if row else None
        record = AppliedRecord(_label(kind, parent, entry), kind.parameter, parent, record_id)
        if kind is kinds.SERVICE_USER:
            # Members in the same state may name a user that is still to be created.
            self._users[entry["userName"].casefold()] = record
        if row is None:
            self._create(kind, record, entry)
        elif kind.changing:
            before = {**row, kind.key: row.get(kind.row_key), **row.get(kind.row_values, {})}
            self._change(record, BY_ADDRESS[kind.changing], before, entry, _sequence(row))
        for child in kind.children:
            await self.all_of(child, record, entry)
        if kind is kinds.ORGANIZATION:
            for settings, default in zip(kinds.POLICIES, kinds.INSTANCE_POLICIES, strict=True):
                await self.settings(settings, record, entry.get("policies", {}), default)

    def _create(self, kind: AppliedKind, record: AppliedRecord, entry: Document) -> None:
        operation = BY_ADDRESS[kind.creating]
        document = _accepted(operation, entry)
        if kind is kinds.APPLICATION:
            preset = presets.find(entry["preset"]) if "preset" in entry else None
            document |= new_apps.proposed(document, preset)
        files = {
            field: (entry[field], address)
            for field, address in kind.files.items()
            if field in entry
        }
        values = [*document.items(), *((field, file) for field, (file, _) in files.items())]
        self.made.append(
            ApplyStep(
                action="create",
                record=record,
                operation=operation,
                document=document,
                differences=[(name, None, value) for name, value in values if name != kind.key],
                user=self._users[entry["user"].casefold()] if kind.key == "user" else None,
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
        before = _accepted(operation, before)
        after = before | _accepted(operation, values)
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
            self.made.append(step)

    def _prune(self, kind: AppliedKind, parent: AppliedRecord, rows: Sequence[Document]) -> None:
        for row in rows:
            label = _joined(parent, f"{kind.noun} {row.get(kind.row_name or kind.row_key)}")
            record = AppliedRecord(label, kind.parameter, parent, str(row[kind.row_id]))
            operation = BY_ADDRESS[kind.deleting]
            self.deleted.append(ApplyStep(action="delete", record=record, operation=operation))

    async def settings(
        self,
        settings: Settings,
        parent: AppliedRecord,
        state: Document,
        default: Settings | None = None,
    ) -> None:
        """Plans a record that exists once, if the state has its section.

        An inherited record is compared with `default`, as the state will set it.
        """
        if settings.section not in state:
            return
        # A new organization inherits what the installation has.
        reading = default if default and parent.is_new else settings
        answer = await self._backend.within(parent.org_id).call(BY_ADDRESS[reading.reading])
        values = answer.get(settings.values, {}) if settings.values else answer
        before = {name: _plain(value) for name, value in values.items()}
        inherits = bool(settings.creating) and (parent.is_new or answer.get("isDefault", False))
        if inherits:
            # An earlier step gives the installation's policy these values.
            before |= self._state.get("policies", {}).get(settings.section, {})
        address = settings.creating if inherits else settings.changing
        record = AppliedRecord(_joined(parent, settings.noun), "", parent)
        sequence = None if inherits else _sequence(answer)
        self._change(record, BY_ADDRESS[address], before, state[settings.section], sequence)

    async def _rows(self, kind: AppliedKind, parent: AppliedRecord) -> list[Document]:
        operation = BY_ADDRESS[kind.listing]
        backend, values = self._backend.within(parent.org_id), parent.values(operation)
        if queries.is_search(operation):
            answer = await queries.all_pages(backend, operation, values, {})
        else:
            answer = await backend.call(operation, values)
        return [row for row in answer.get("result", []) if not kind.only or kind.only in row]

    async def _name(self, kind: AppliedKind, entry: Document) -> str:
        """Returns what identifies an entry; for a member, the id of the user."""
        name = str(entry[kind.key])
        if kind.key != "user":
            return name.casefold() if kind.ignores_case else name
        record = self._users.get(name.casefold()) or await self._find_user(name)
        # A user without an id is a member of nothing yet: this name matches no row.
        return record.id or f"new {name}"

    async def _find_user(self, user_name: str) -> AppliedRecord:
        """Returns an existing user. Raises Unclear if no user or several have the name."""
        method = "TEXT_QUERY_METHOD_EQUALS_IGNORE_CASE"
        query = {"userNameQuery": {"userName": user_name, "method": method}}
        search = BY_ADDRESS["POST /v2/users"]
        answer = await self._backend.within(None).call(search, [], {"queries": [query]})
        users = answer.get("result", [])
        if len(users) != 1:
            raise Unclear(f"{len(users) or 'no'} users have the name {user_name}")
        record = AppliedRecord(user_name, "userId", None, users[0]["userId"])
        self._users[user_name.casefold()] = record
        return record


def _label(kind: AppliedKind, parent: AppliedRecord, entry: Document) -> str:
    return _joined(parent, f"{kind.noun} {entry[kind.key]}")


def _joined(parent: AppliedRecord, label: str) -> str:
    return f"{parent.label} / {label}" if parent.label else label


def _name_of(kind: AppliedKind, row: Document) -> str:
    name = str(row.get(kind.row_key, ""))
    return name.casefold() if kind.ignores_case else name


def _sequence(answer: Document) -> int | None:
    sequence = answer.get("details", {}).get("sequence")
    return int(sequence) if sequence else None


def _plain(value: Any) -> Any:
    """Returns a value as requests have it; answers have a feature as an object with `enabled`."""
    is_feature = isinstance(value, dict) and set(value) <= {"enabled"}
    return value.get("enabled", False) if is_feature else value


def _accepted(operation: Operation, values: Mapping[str, Any]) -> Document:
    """Returns the members that the operation takes."""
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
        raise LookupError(f"{operation.path} takes nothing")
    return operation.request
