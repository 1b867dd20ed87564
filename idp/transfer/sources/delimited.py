"""Persons from CSV tables: a row for each person, and a header row that names the columns (RFC
4180).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TextIO

from idp.transfer.package.rows import RowProblem
from idp.transfer.sources import fields_of_import as fields
from idp.transfer.sources.import_row_builder import INACTIVE, PersonDraft
from idp.transfer.sources.source import SourceRefused, stated_encoding

MAX_LINE_CHARACTERS: Final = 1 << 20
_METADATA: Final = "metadata."
_YES: Final = frozenset({"true", "yes", "y", "1", "t"})
_NO: Final = frozenset({"false", "no", "n", "0", "f", ""})
_ACTIVE: Final = frozenset({"", "active", "enabled", "user_state_active"})
_INACTIVE: Final = frozenset({"inactive", "disabled", "blocked", INACTIVE.casefold()})
_DELIMITERS: Final = {"';'": ";", "tab": "\t", "'|'": "|"}
_FORMULA_BEGINNINGS: Final = ("=", "+", "-", "@")
_JSON: Final = "is JSON, not a table: use idp migrate ndjson, auth0 or keycloak"
_SURROGATES: Final = re.compile("[\udc80-\udcff]")


class DelimitedTable:
    """A source of persons: a CSV file.

    `columns` maps columns whose names are not recognized to fields of the import.
    """

    names: Mapping[str, str] = fields.NAMES
    reasons: Mapping[str, str] = {}

    def __init__(
        self,
        path: Path,
        org_id: str,
        *,
        columns: Mapping[str, str],
        delimiter: str = ",",
        encoding: str = "utf-8",
    ) -> None:
        self._path = path
        self._org_id = org_id
        self._columns = {fields.comparable(name): field for name, field in columns.items()}
        self._delimiter = delimiter
        self._encoding = encoding

    def drafts(self) -> Iterator[PersonDraft]:
        with self._text() as text:
            lines = _TextLines(text)
            reader = csv.reader(lines, delimiter=self._delimiter, strict=True)
            try:
                head = _head(reader)
            except (csv.Error, UnicodeDecodeError) as error:
                problem = _JSON if _is_json(lines.first) else f"has no first line: {error}"
                raise SourceRefused(f"{self._path} {problem}") from None
            paths = self._column_paths(head)
            row = 1
            while (numbered := _next(reader, lines)) is not None:
                line, cells = numbered
                if isinstance(cells, RowProblem) or any(map(str.strip, cells)):
                    yield self._draft(row, f"{self._path.name}:{line}", head, paths, cells)
                    row += 1

    def _text(self) -> TextIO:
        try:
            with self._path.open("rb") as file:
                # A byte order mark, as spreadsheets write it, knows better than the option.
                encoding = stated_encoding(self._path, file) or self._encoding
            file = self._path.open("rb")
        except OSError as error:
            raise SourceRefused(f"{self._path} can't be read: {error.strerror}") from None
        return io.TextIOWrapper(file, encoding, "surrogateescape", newline="")

    def _column_paths(self, head: Sequence[str]) -> list[str]:
        """Returns the import's path for each column; a column's own name where it has none."""
        # Later entries have precedence: complete paths, then other common names.
        path_by_name = {
            fields.comparable(path.rpartition(".")[2]): path for path in fields.FIELD_BY_PATH
        }
        path_by_name |= {fields.comparable(path): path for path in fields.FIELD_BY_PATH}
        path_by_name |= {
            fields.comparable(name): path for name, path in fields.OTHER_NAMES.items()
        }
        chosen = {
            name: path_by_name.get(fields.comparable(field), field)
            for name, field in self._columns.items()
        }
        wrong = [path for path in chosen.values() if not _is_import_path(path)]
        lacking = set(chosen) - {fields.comparable(name) for name in head}
        if wrong or lacking:
            problem = f"no field {wrong[0]}" if wrong else f"no column {sorted(lacking)[0]}"
            raise SourceRefused(f"there is {problem}; the columns are {', '.join(head)}")
        paths = [
            chosen.get(fields.comparable(name)) or path_by_name.get(fields.comparable(name), name)
            for name in head
        ]
        duplicates = {
            each for each in paths if each in fields.FIELD_BY_PATH and paths.count(each) > 1
        }
        if duplicates:
            raise SourceRefused(f"several columns have the field {sorted(duplicates)[0]}")
        if "email.email" not in paths:
            raise SourceRefused(_without_email(self._path, head))
        return paths

    def _draft(
        self, row: int, path: str, head: Sequence[str], paths: Sequence[str],
        cells: list[str] | RowProblem,
    ) -> PersonDraft:  # fmt: skip
        draft = PersonDraft(row=row, path=path)
        if isinstance(cells, RowProblem):
            draft.problems.append(cells)
        elif len(cells) != len(head):
            draft.problems.append(_columns(len(cells), len(head)))
        elif any(_SURROGATES.search(value) for value in cells):
            # Bytes that could not be decoded were read as surrogates.
            draft.problems.append(_NOT_UTF8)
        if not draft.problems and not isinstance(cells, RowProblem):
            _fill(draft, zip(paths, _without_apostrophes(paths, cells), strict=True))
            _complete(draft, self._org_id)
        return draft


def _head(reader: Iterator[list[str]]) -> list[str]:
    """Returns the row with the names of the columns: the first one that is neither empty nor the
    `sep=;` of a spreadsheet."""
    return next((row for row in reader if row and not row[0].startswith("sep=")), [])


def _without_email(path: Path, head: Sequence[str]) -> str:
    """Returns the text of the refusal of a table without a column for the address."""
    if not any(map(str.strip, head)):
        return f"{path} is empty: export it again"
    first = head[0].strip()
    if _is_json(first):
        return f"{path} {_JSON}"
    if len(head) == 1 and (
        name := next((n for n, each in _DELIMITERS.items() if each in first), "")
    ):
        return f"{path} has one column only: choose another delimiter, --delimiter {name}"
    return f"no column is email (--map COLUMN=email): {', '.join(head)}"


def _is_json(text: str) -> bool:
    return text.lstrip().startswith(("{", "["))


def _without_apostrophes(paths: Sequence[str], cells: Sequence[str]) -> Iterator[str]:
    """Yields the cells without the apostrophe that exporters put first, so that a spreadsheet
    takes none for a formula: before some characters, or before every text."""
    is_every = any(
        path == "email.email" and cell.startswith("'")
        for path, cell in zip(paths, cells, strict=True)
    )
    for cell in cells:
        is_added = cell[:1] == "'" and (is_every or cell[1:2] in _FORMULA_BEGINNINGS)
        yield cell[1:] if is_added else cell


def _is_import_path(path: str) -> bool:
    return path in fields.FIELD_BY_PATH or path.startswith(_METADATA)


def _fill(draft: PersonDraft, values: Iterator[tuple[str, str]]) -> None:
    dropped = []
    for path, value in values:
        field = fields.FIELD_BY_PATH.get(path)
        if field == "state":
            _set_state(draft, value)
        elif field in fields.SWITCHES:
            setattr(draft, field, _switch(value))
        elif field is not None:
            # Spaces may be part of a password.
            setattr(draft, field, value if field == "password" else value.strip())
        elif value and path.startswith(_METADATA):
            draft.metadata[path.removeprefix(_METADATA)] = value
        elif value:
            dropped.append(path or "a column without a name")
    draft.dropped = dropped


def _switch(value: str) -> object:
    """Returns a boolean where the text means one, else the text, which is refused later."""
    plain = value.strip().casefold()
    return True if plain in _YES else False if plain in _NO else value


def _set_state(draft: PersonDraft, value: str) -> None:
    plain = value.strip().casefold()
    draft.is_inactive = plain in _INACTIVE
    if plain not in _ACTIVE | _INACTIVE:
        draft.problems.append(_STATE)


def _complete(draft: PersonDraft, org_id: str) -> None:
    """Sets fields that the import requires and that the table does not have."""
    draft.user_name = draft.user_name or draft.email
    names = [each for each in (draft.first_name, draft.last_name) if each]
    if len(names) < 2 and not draft.display_name:
        draft.display_name = names[0] if names else draft.user_name
    draft.first_name = draft.first_name or draft.display_name or draft.user_name
    draft.last_name = draft.last_name or draft.display_name or draft.user_name
    draft.id = draft.id or fields.derived_id(org_id, draft.user_name)


class _TextLines:
    """The lines of a text, none longer than a limit; `line` is the number of the last one, and
    `first` is the first one."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self.line = 0
        self.first = ""
        self.is_too_long = False
        self.has_failed = False  # nothing after a decoding error can be read

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = "" if self.has_failed else self._text.readline(MAX_LINE_CHARACTERS)
        if not line:
            raise StopIteration
        self.line += 1
        self.first = self.first or line
        while len(line) == MAX_LINE_CHARACTERS and not line.endswith(("\n", "\r")):
            self.is_too_long = True
            discarded = self._text.readline(MAX_LINE_CHARACTERS)
            if len(discarded) < MAX_LINE_CHARACTERS or discarded.endswith(("\n", "\r")):
                # The remaining characters are discarded, so that the next record begins on its own
                # line.
                return "\n"
        return line


def _next(
    reader: Iterator[list[str]], lines: _TextLines
) -> tuple[int, list[str] | RowProblem] | None:
    """Returns the next row with the number of its first line; None at the end."""
    first, lines.is_too_long = lines.line + 1, False
    try:
        row: list[str] | RowProblem = next(reader)
    except StopIteration:
        return None
    except csv.Error as error:
        row = _unreadable(str(error), first, lines.line)
    except UnicodeDecodeError:
        lines.has_failed = True
        row = _NOT_UTF8
    return first, _TOO_LONG if lines.is_too_long else row


def _unreadable(reason: str, first: int, last: int) -> RowProblem:
    return RowProblem(
        error_code="source.unreadable",
        message=f"can't be read from line {first} to {last}: {reason}",
        fix="Check the quotation marks there; a quotation mark within a field must be doubled.",
    )


def _columns(column_count: int, expected_count: int) -> RowProblem:
    return RowProblem(
        error_code="source.columns",
        message=f"has {column_count} fields where the first line has {expected_count}",
        fix="Put a field that contains the delimiter into quotation marks.",
    )


_NOT_UTF8: Final = RowProblem(
    error_code="source.encoding",
    message="is not in the encoding of the file",
    fix="Set the right one, such as --encoding cp1252.",
)
_TOO_LONG: Final = RowProblem(
    error_code="source.too_long",
    message=f"has a line of more than {MAX_LINE_CHARACTERS} characters",
    fix="Check whether line breaks are missing.",
)
_STATE: Final = RowProblem(
    error_code="field.unknown_name",
    field="state",
    message="must be active or inactive",
    fix="Use one of these words.",
)
