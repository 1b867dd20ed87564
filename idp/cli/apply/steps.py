"""The steps after which an installation has what a state file describes: printed as a diff, and
carried out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from idp.api.operation import Operation
from idp.cli import output, proposals
from idp.cli.backends import Backend
from idp.cli.document import Document
from idp.foundation.errors import FieldProblem, InvalidArgument

Action = Literal["create", "change", "delete"]
_MARKS: Final[Mapping[Action, str]] = {"create": "+", "change": "~", "delete": "-"}
_BODIES: Final[Mapping[str, Document]] = {"keyFile": {"type": "KEY_TYPE_JSON"}}


@dataclass
class AppliedRecord:
    """A record that a step creates, changes or deletes, or that contains such a record (`parent`).

    `label` names it in a plan, and `id` is the value of the path parameter `parameter`, None until
    the record is created. If the parameter names another record, that is `referenced`.
    """

    label: str
    parameter: str = ""
    parent: AppliedRecord | None = None
    id: str | None = None
    referenced: AppliedRecord | None = None

    @property
    def is_new(self) -> bool:
        return bool(self.parameter) and self.id is None

    @property
    def org_id(self) -> str | None:
        """The id of the organization that the record belongs to, or None."""
        return self._path_ids().get("orgId")

    def values(self, operation: Operation) -> list[str]:
        """Returns the values of the operation's path parameters, which are the ids of this record
        and those that contain it.
        """
        ids = self._path_ids()
        return [ids[name] for name in operation.parameters]

    def _path_ids(self) -> dict[str, str]:
        ids = self.parent._path_ids() if self.parent else {}
        record_id = self.referenced.id if self.referenced else self.id
        return ids | ({self.parameter: record_id} if record_id is not None else {})


class ApplyStep(msgspec.Struct, frozen=True, kw_only=True):
    """One change of one record: the `operation` to call with the body `document`, and the expected
    `sequence` of the record. `differences` are the fields with their values before and after.

    `user` is the user that the body names, whom an earlier step may create; `answer_id` is the
    name of the record's id in the answer. `files` maps fields to the file for a generated secret
    and the operation that generates it, None for the step's own operation.
    """

    action: Action
    record: AppliedRecord
    operation: Operation
    document: Document | None = None
    differences: Sequence[tuple[str, Any, Any]] = ()
    sequence: int | None = None
    user: AppliedRecord | None = None
    answer_id: str = ""
    files: Mapping[str, tuple[str, Operation | None]] = {}

    def lines(self) -> list[str]:
        """Returns the lines by which a printed plan describes the step."""
        head = f"{_MARKS[self.action]} {self.record.label}"
        return [head, *(_line(self.action, *each) for each in self.differences)]

    def as_json(self) -> Document:
        """Returns the step as the JSON object that `--format json` prints."""
        fields = [
            {"field": name, "before": before, "after": after}
            for name, before, after in self.differences
        ]
        return {"action": self.action, "what": self.record.label, "fields": fields}

    async def carry_out(self, backend: Backend) -> None:
        """Calls the step's operation and those of its files, writes generated secrets into the
        files, and sets the id of a created record. Raises IdpError, StorageError.
        """
        backend_of_org, document = backend.within(self.record.org_id), self.document
        if self.user is not None and document is not None:
            document = document | {"userId": self.user.id}
        values = self.record.values(self.operation)
        document = await proposals.with_allowed_users(
            backend_of_org, self.operation, values, document
        )
        secret_file = next(
            (file for file, generating in self.files.values() if not generating), None
        )
        with output.secret_file(secret_file) as store_secrets:
            answer = await backend_of_org.call(self.operation, values, document, self.sequence)
            store_secrets(answer)
        # Later steps use the id in their paths.
        if self.answer_id:
            self.record.id = str(answer[self.answer_id])
        for field, (file, generating) in self.files.items():
            if generating:
                await self._generate_secret(backend_of_org, generating, field, file)

    async def _generate_secret(
        self, backend: Backend, operation: Operation, field: str, file: str
    ) -> None:
        values = self.record.values(operation)
        with output.secret_file(file) as store_secrets:
            store_secrets(await backend.call(operation, values, _BODIES.get(field, {})))


def _line(action: Action, name: str, before: Any, after: Any) -> str:
    after_text = msgspec.json.encode(after).decode()
    if action == "create":
        return f"    {name}: {after_text}"
    return f"    {name}: {msgspec.json.encode(before).decode()} -> {after_text}"


def check_files(steps: Sequence[ApplyStep]) -> None:
    """Raises InvalidArgument if a file for a generated secret exists already, or its directory
    does not exist.
    """
    problems = [
        FieldProblem("apply.file", "", f"{step.record.label}: {file} {obstacle}")
        for step in steps
        for file, _ in step.files.values()
        if (obstacle := _obstacle(Path(file)))
    ]
    if problems:
        raise InvalidArgument(problems)


def _obstacle(file: Path) -> str:
    if file.exists():
        return "already exists"
    return "" if file.parent.is_dir() else "has no directory"
