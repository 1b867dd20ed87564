"""What a check of the installation is, what it needs at hand, and what comes of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from msgspec import Struct

from idp.config.settings import Config
from idp.foundation.clock import Clock, SystemClock
from idp.foundation.i18n import Message
from idp.outgoing.http import Outgoing
from storage import Store

State = Literal["ok", "warn", "fail", "skipped"]
Area = Literal["files", "machine", "store", "outside", "safety", "upkeep"]

MOST_RECORDS: Final = 5_000  # of a collection that one check looks at, if it is not asked for all
MOST_NAMED: Final = 5  # of those that were found


@dataclass(frozen=True)
class Installation:
    """What the checks examine. `store` is None where it can't be opened. `has_records` is
    false where this program can't read what is in it; `store_problem` says why.

    `most_records` is None where every record of a collection is to be looked at. `clock` is the
    one by which records expire, `wall_clock` that of the machine.
    """

    config: Config
    clock: Clock
    store: Store | None
    store_problem: str = ""
    has_records: bool = True
    most_records: int | None = MOST_RECORDS
    outgoing: Outgoing = field(default_factory=Outgoing)
    wall_clock: Clock = field(default_factory=SystemClock)

    @property
    def opened(self) -> Store:
        """The store, for checks that need one: they are skipped where there is none."""
        if self.store is None:
            raise RuntimeError(self.store_problem)
        return self.store


class Finding(Struct, frozen=True):
    """What a check found. `names` are some of those that it is about, of `count` in all; each of
    `commands` cures one of them. `todo` is said instead of the check's own."""

    state: State
    found: str
    names: Sequence[str] = ()
    count: int = 0
    commands: Sequence[str] = ()
    todo: str = ""


class DoctorCheck(Struct, frozen=True, kw_only=True):
    """One check. `about` says what it looks at, `todo` what to do if that is not well."""

    id: str
    area: Area
    about: Message
    todo: Message
    run: Callable[[Installation], Awaitable[Finding]]
    needs: Literal["nothing", "store", "records"] = "nothing"


class Result(Struct, frozen=True, kw_only=True):
    """A check and what it found."""

    check: DoctorCheck
    finding: Finding

    @property
    def todo(self) -> str:
        """What to do, in English; empty where all is well."""
        if self.finding.state in ("ok", "skipped"):
            return ""
        return self.finding.todo or self.check.todo.msgid


def ok(found: str) -> Finding:
    """All is well."""
    return Finding("ok", found)


def warn(found: str, *commands: str, todo: str = "") -> Finding:
    """The service works, and something about it should be changed."""
    return Finding("warn", found, commands=commands, todo=todo)


def fail(found: str, *commands: str, todo: str = "") -> Finding:
    """Something does not work, or others can misuse it now."""
    return Finding("fail", found, commands=commands, todo=todo)


def skipped(found: str) -> Finding:
    """The check does not apply, or can't be made."""
    return Finding("skipped", found)
