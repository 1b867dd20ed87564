"""The password file of Auth0, searched by user id and by e-mail address: a join of two long
files.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import msgspec
from msgspec import Struct

from idp.foundation.texts.text_folding import folded
from idp.transfer.package.rows import RowProblem
from idp.transfer.sources import source
from idp.transfer.sources.import_row_builder import PersonDraft
from idp.transfer.sources.json_text_reader import JsonTextReader
from idp.transfer.sources.key_index import KeyIndex

_READ: Final = frozenset({"_id", "_ID", "email", "passwordHash"})
_FILE: Final = "passwords"  # prefix of its field names in reports


class FoundPassword(Struct, frozen=True, array_like=True):
    """A password of the file, with the user id and the e-mail address of its entry.

    `path` is the entry's position in the file. `is_by_id` is whether it was found by the user's
    id; otherwise it was found by the address alone.
    """

    id: str
    email: str
    hash: str
    path: str
    is_by_id: bool = False


class Passwords:
    """Every password of the file, in a temporary file that only this process can open.

    Memory holds 45 to 117 bytes per password: its offset, and a hash of each of its two keys. A
    password with a user's own id belongs to that user; otherwise the first one with the user's
    address does.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed by __exit__)
        self._offsets = array("Q")
        self._used = bytearray()
        self._by_id = KeyIndex()
        self._by_email = KeyIndex()

    def __enter__(self) -> Passwords:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def read(self, path: Path) -> Iterator[PersonDraft]:
        """Reads the file; yields drafts of entries that cannot be read or have fields that are not
        carried over.

        Raises SourceRefused.
        """
        with source.open_file(path) as file:
            for source_record in source.records(JsonTextReader(file), path.name):
                draft, record = source_record.draft(), source_record.members()
                email, encoded = record.get("email"), record.get("passwordHash")
                if not draft.problems and not (_is_text(email) and _is_text(encoded)):
                    draft.problems.append(_NO_PASSWORD)
                if draft.problems:
                    yield draft
                else:
                    if dropped := [f"{_FILE}.{name}" for name in record if name not in _READ]:
                        yield PersonDraft(row=0, path=source_record.path, dropped=dropped)
                    self._add(
                        FoundPassword(_oid(record), str(email), str(encoded), source_record.path)
                    )

    def pop(self, user_id: str, email: object) -> FoundPassword | None:
        """Returns the password of the user with this id or this e-mail address, and records that
        it is used; None if there is none.
        """
        number = self._by_id.get(user_id.rpartition("|")[2])
        password = self._at(number) if number is not None else None
        # The index holds 64-bit hashes, so the key itself is compared.
        if password is not None and password.id == user_id.rpartition("|")[2]:
            self._used[number or 0] = True
            return msgspec.structs.replace(password, is_by_id=True)
        if not isinstance(email, str):
            return None
        number = self._by_email.get(_key(email))
        password = self._at(number) if number is not None else None
        if password is None or _key(password.email) != _key(email):
            return None
        self._used[number or 0] = True
        return password

    def unused(self, row: int) -> Iterator[PersonDraft]:
        """Yields a draft with a warning for each password that no user has taken. `row` is the
        first draft's number.
        """
        for number, is_used in enumerate(self._used):
            if not is_used:
                password = self._at(number)
                problem = (
                    _UNUSED if self._by_email.get(_key(password.email)) == number else _DUPLICATE
                )
                yield PersonDraft(
                    row=row,
                    path=password.path,
                    email=password.email,
                    is_skipped=True,
                    problems=[problem],
                )
                row += 1

    def _add(self, password: FoundPassword) -> None:
        number = len(self._offsets)
        self._by_email.add(_key(password.email), number)
        if password.id:
            self._by_id.add(password.id, number)
        # At the end of the file: look-ups move the position.
        self._offsets.append(self._file.seek(0, 2))
        self._used.append(False)
        self._file.write(msgspec.json.encode(password) + b"\n")

    def _at(self, number: int) -> FoundPassword:
        self._file.seek(self._offsets[number])
        return msgspec.json.decode(self._file.readline(), type=FoundPassword)


def _key(email: str) -> str:
    return folded(email)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _oid(record: dict[str, Any]) -> str:
    value = record.get("_id", record.get("_ID"))
    oid = value.get("$oid") if isinstance(value, dict) else value
    return oid if isinstance(oid, str) else ""


_NO_PASSWORD: Final = RowProblem(
    error_code="source.password_lacking",
    message="has no email and passwordHash",
    fix="Export the password file again.",
)
_UNUSED: Final = RowProblem(
    error_code="source.password_unused",
    field="email",
    message="no user in the file of users has this address",
    fix="Export both files at the same time.",
    is_error=False,
)
_DUPLICATE: Final = RowProblem(
    error_code="source.password_doubled",
    field="email",
    message="an earlier password has the same address",
    fix="Leave only the right one in the file.",
    is_error=False,
)
