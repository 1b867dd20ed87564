"""Packages: what organizations hold, in one JSON document of any size (specification 4.11, 4.14).

A package is looked through once, from its beginning to its end, before anything is stored. What
is no package is refused as a whole; a row that breaks a rule of JSON is `broken` alone. The rows
go to disk in the order in which they will be stored, so that nothing is held but a slice.
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
from idp.transfer.package.reader import APART, ORGANIZATION, PackageReader
from idp.transfer.package.rows import Row, RowProblem
from idp.transfer.package.spool import ITSELF, RowFile, Spool, Spooled


class PackageRefused(InvalidArgument):
    """This is no package, so nothing of it is stored."""

    def __init__(self, problems: Sequence[FieldProblem]) -> None:
        super().__init__(problems)
        self.slug = problems[0].slug


class Package:
    """The rows of a package. `beside` is what stands in its envelope: a timeout, options."""

    def __init__(
        self,
        drawers: dict[str, RowFile],
        ids: Sequence[str | RowProblem],
        beside: dict[str, object],
    ) -> None:
        self._drawers = drawers
        self._ids = ids
        self.beside = beside

    @property
    def counts(self) -> dict[str, int]:
        """How many rows there are of each list, in the order in which they are stored.

        The rows of lists that nobody knows are counted under the name "".
        """
        return {member: each.count for member, each in self._drawers.items() if each.count}

    @property
    def total(self) -> int:
        """How many rows there are."""
        return sum(self.counts.values())

    def batches(self, skip: int, size: int) -> Iterator[list[Row]]:
        """The rows behind the first `skip`, in the order in which they are stored.

        Each list is of one kind and has up to `size` rows, and fewer where rows are large. A
        package that is opened again gives the same.
        """
        number = 1
        for member, drawer in self._drawers.items():
            skipped = min(skip, drawer.count)
            at = number + skipped
            firsts = drawer.firsts(skipped)
            for batch in drawer.batches(skipped, size):
                yield [
                    self._row(member, at + n, each, None if first is None else number + first)
                    for n, (each, first) in enumerate(zip(batch, firsts, strict=False))
                ]
                at += len(batch)
            number += drawer.count
            skip -= skipped

    def _row(self, member: str, number: int, spooled: Spooled, double_of: int | None) -> Row:
        id = self._ids[spooled.organization]
        broken = (id,) if isinstance(id, RowProblem) else spooled.broken
        name = str(spooled.document) if member == APART else member
        return Row(
            number=number,
            path=_path(spooled, name),
            member=name,
            org_id="" if isinstance(id, RowProblem) else id,
            document=None if member == APART else spooled.document,
            broken=broken,
            double_of=double_of,
        )


def open_package(file: Path, scratch: Path) -> Package:
    """The package in `file`, looked through; its rows are spooled into the directory `scratch`.

    Raises PackageRefused, and OSError when `scratch` is full.
    """
    with file.open("rb") as source:
        return read_package(source, scratch)


def read_package(source: ByteSource, scratch: Path, kinds: Sequence[RowKind] = KINDS) -> Package:
    """The package that is read from `source`, as from a file."""
    members = dict.fromkeys([*(kind.member for kind in kinds), ORGANIZATION, APART])
    with closing(Spool(scratch, tuple(members))) as spool:
        reader = PackageReader(scratch, spool, kinds)
        try:
            reader.read(JsonStream(source))
        except InvalidArgument as error:
            raise PackageRefused([_of_package(each) for each in error.problems]) from None
    spool.look_for_doubles()
    return Package(spool.drawers, reader.ids, reader.beside)


def _path(spooled: Spooled, member: str) -> str:
    organization = f"orgs[{spooled.organization}]"
    if spooled.index == ITSELF:
        return organization
    path = child(organization, member)
    return path if spooled.index is None else f"{path}[{spooled.index}]"


def _of_package(problem: FieldProblem) -> FieldProblem:
    """A problem of the document as a whole, as a sentence."""
    return problem if problem.field else problem._replace(message=f"the package {problem.message}")
