"""The report of a migration: a JSON line for each record that has a problem, and counts.

A line is `{row, path, id, action, problems}` as in the report of an import. The line of a dropped
field is `{dropped, count, path, message}`, with the field's first position.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final

import msgspec
from msgspec import Struct

from idp.transfer.package.rows import Action, RowProblem
from idp.transfer.sources.import_row_builder import PersonDraft

MAX_NAMES: Final = 2000
MAX_NAME_CHARACTERS: Final = 200
OTHER_FIELDS: Final = "(further fields)"
_DEFAULT_REASON: Final = "there is no field for it"


class DroppedField(Struct):
    """A field that was omitted from `count` records, first at `path`."""

    count: int
    path: str


class Report:
    """A report that counts the outcomes of records, and writes the lines if there is a `file` for
    them.

    `reasons` has the reasons why fields are dropped, by field name.
    """

    def __init__(self, file: BinaryIO | None, reasons: Mapping[str, str]) -> None:
        self._file = file
        self._reasons = reasons
        self.actions: dict[Action, int] = {"create": 0, "skip": 0, "fail": 0}
        self.problems: dict[str, int] = {}
        self.dropped: dict[str, DroppedField] = {}

    def add(self, draft: PersonDraft) -> None:
        """Counts a record and its dropped fields, and writes its line if it has problems."""
        if draft.action != "fail":
            for name in draft.dropped:
                self._drop(name, draft.path)
        if not draft.row:
            return
        self.actions[draft.action] += 1
        for each in draft.problems:
            self.problems[each.error_code] = self.problems.get(each.error_code, 0) + 1
        if draft.problems:
            self._write(_line(draft))

    def finish(self) -> None:
        """Writes a line for each dropped field, the most frequent first."""
        for name, message, each in self.fields():
            self._write(
                {"dropped": name, "count": each.count, "path": each.path, "message": message}
            )

    def fields(self) -> Iterator[tuple[str, str, DroppedField]]:
        """Yields each dropped field as its name, the reason and its counts, the most frequent
        first.
        """
        for name, each in sorted(self.dropped.items(), key=lambda item: -item[1].count):
            top = name.partition(".")[0]
            yield name, self._reasons.get(name) or self._reasons.get(top) or _DEFAULT_REASON, each

    def _drop(self, name: str, path: str) -> None:
        name = displayed(name)
        # Names come from the file, so their number is bounded.
        if name not in self.dropped and len(self.dropped) >= MAX_NAMES:
            name = OTHER_FIELDS
        dropped = self.dropped.setdefault(name, DroppedField(0, path))
        dropped.count += 1

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._file is not None:
            self._file.write(msgspec.json.encode(line) + b"\n")


def _line(draft: PersonDraft) -> dict[str, Any]:
    return {
        "row": draft.row,
        "path": draft.path,
        "id": displayed(draft.name),
        "action": draft.action,
        "problems": [_problem(each) for each in draft.problems],
    }


def _problem(problem: RowProblem) -> dict[str, str]:
    return {
        "slug": problem.error_code,
        "field": displayed(problem.field),
        "message": problem.message,
        "fix": problem.fix,
    }


def displayed(name: str) -> str:
    """Returns a name or text from a source as reports display it: cut to a limit, without control
    characters.
    """
    cut = name[:MAX_NAME_CHARACTERS]
    if cut.isprintable():
        return cut
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in cut)
