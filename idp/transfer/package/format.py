"""Packages: the contents of organizations in one JSON document of any size.

A package is read once from beginning to end before anything is stored. A document that is not a
package is refused as a whole; a row that breaks a rule of JSON is `broken` alone. The rows are
spooled to disk in the order in which they will be stored, so that only one chunk is in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.foundation.strict_json import child
from idp.transfer.kinds import KINDS
from idp.transfer.kinds.kind import RowKind
from idp.transfer.package.json_stream import ByteSource, JsonStream
from idp.transfer.package.reader import ORGANIZATION, UNKNOWN_LISTS, PackageReader
from idp.transfer.package.rows import Row, RowProblem
from idp.transfer.package.spool import WHOLE_ORGANIZATION, RowFile, Spool, SpooledRow


class PackageRefused(InvalidArgument):
    """The error that the document is not a package, so that nothing of it is stored."""

    def __init__(self, problems: Sequence[FieldProblem]) -> None:
        super().__init__(problems)
        self.error_code = problems[0].error_code


class Package:
    """The rows of a package that was read, in files on disk.

    `envelope_options` holds the members of the document next to the organizations, which are
    options of the import call.
    """

    def __init__(
        self,
        row_files: dict[str, RowFile],
        ids: Sequence[str | RowProblem],
        envelope_options: dict[str, object],
    ) -> None:
        self._row_files = row_files
        self._ids = ids
        self.envelope_options = envelope_options

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows in each list, in the order in which they are stored.

        Rows of unknown lists are counted under the name "".
        """
        return {member: each.count for member, each in self._row_files.items() if each.count}

    @property
    def total(self) -> int:
        """The number of rows in all lists."""
        return sum(self.counts.values())

    def batches(self, skip: int, size: int) -> Iterator[list[Row]]:
        """Yields the rows after the first `skip`, in the order in which they are stored.

        Each batch is of one kind and has up to `size` rows, fewer where rows are large. Opening
        the package again yields the same batches.
        """
        number = 1
        for member, row_file in self._row_files.items():
            skipped = min(skip, row_file.count)
            at = number + skipped
            # Row numbers count over all lists, so an index within a list is shifted by the list's
            # first number.
            first_rows = row_file.first_rows(skipped)
            for batch in row_file.batches(skipped, size):
                yield [
                    self._row(member, at + n, each, None if first is None else number + first)
                    for n, (each, first) in enumerate(zip(batch, first_rows, strict=False))
                ]
                at += len(batch)
            number += row_file.count
            skip -= skipped

    def _row(self, member: str, number: int, spooled: SpooledRow, duplicate_of: int | None) -> Row:
        org_id = self._ids[spooled.organization]
        # Without its organization's id no row can be stored.
        broken = (org_id,) if isinstance(org_id, RowProblem) else spooled.broken
        name = str(spooled.document) if member == UNKNOWN_LISTS else member
        return Row(
            number=number,
            path=_path(spooled, name),
            member=name,
            org_id="" if isinstance(org_id, RowProblem) else org_id,
            document=None if member == UNKNOWN_LISTS else spooled.document,
            broken=broken,
            duplicate_of=duplicate_of,
        )


def open_package(file: Path, temporary_dir: Path) -> Package:
    """Reads the package in `file`, writes its rows into files in the directory `temporary_dir`,
    and returns the package, whose rows are read from these files.

    Raises PackageRefused, and OSError, also when `temporary_dir` is full.
    """
    with file.open("rb") as source:
        return read_package(source, temporary_dir)


def read_package(
    source: ByteSource, temporary_dir: Path, kinds: Sequence[RowKind] = KINDS
) -> Package:
    """Reads a package from an open source, as `open_package` does from a file.

    `kinds` are the lists that an organization may have, in the order in which their rows are
    stored. Raises PackageRefused, and OSError, also when `temporary_dir` is full.
    """
    members = dict.fromkeys([*(kind.member for kind in kinds), ORGANIZATION, UNKNOWN_LISTS])
    with closing(Spool(temporary_dir, tuple(members))) as spool:
        reader = PackageReader(temporary_dir, spool, kinds)
        try:
            reader.read(JsonStream(source))
        except InvalidArgument as error:
            raise PackageRefused([_as_package_problem(each) for each in error.problems]) from None
    spool.find_duplicates()
    return Package(spool.row_files, reader.ids, reader.envelope_options)


def _path(spooled: SpooledRow, member: str) -> str:
    organization = f"orgs[{spooled.organization}]"
    if spooled.index == WHOLE_ORGANIZATION:
        return organization
    path = child(organization, member)
    return path if spooled.index is None else f"{path}[{spooled.index}]"


def _as_package_problem(problem: FieldProblem) -> FieldProblem:
    """Returns a problem of the whole document as a sentence about the package."""
    return problem if problem.field else problem._replace(message=f"the package {problem.message}")
