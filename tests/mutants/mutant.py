"""One check taken away, and the tests that have to notice."""

from __future__ import annotations

from msgspec import Struct


class Mutant(Struct, frozen=True):
    """A copy of the program in which `old`, which stands once in `file`, reads `new`.

    `tests` are pytest's arguments: the tests of which one has to fail.
    """

    says: str
    file: str
    old: str
    new: str
    tests: str
