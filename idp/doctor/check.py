"""The types of a check by `idp doctor`: the installation that it examines, and its finding."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from msgspec import Struct

from idp.config.settings import Config
from idp.foundation.clock import Clock, SystemClock
from idp.foundation.i18n import Message
from idp.outgoing.http import Outgoing
from storage import Record, Store

State = Literal["ok", "warn", "fail", "skipped"]
Area = Literal["files", "store", "outside", "safety", "upkeep"]

MAX_RECORDS: Final = 5_000  # of a collection that one check reads, unless it is to read all
MAX_NAMED: Final = 5  # of the records that were found


@dataclass(frozen=True)
class Installation:
    """The installation that the checks examine.

    `store` is None if it cannot be opened. `has_records` is false if this program cannot read the
    records in it; `store_problem` is the reason in both cases. `max_records` limits how many
    records of a collection a check reads; None means all. `outgoing` makes HTTP requests. At
    `deadline`, a time of the event loop, checks that wait for other servers or for MongoDB end.
    `clock` is the one by which records expire, `wall_clock` that of the machine.
    """

    config: Config
    clock: Clock
    store: Store | None
    store_problem: str = ""
    has_records: bool = True
    max_records: int | None = MAX_RECORDS
    outgoing: Outgoing = field(default_factory=Outgoing)
    deadline: float = math.inf
    wall_clock: Clock = field(default_factory=SystemClock)

    @property
    def is_deep(self) -> bool:
        """Whether checks may read all records, and take long."""
        return self.max_records is None

    def waits_for_server(self, check: DoctorCheck) -> bool:
        """Returns whether the check waits for another server: outside, or one with the store."""
        if check.area == "outside":
            return True
        is_on_server = self.store is not None and self.config.store.startswith("mongodb")
        return is_on_server and (check.area == "store" or check.needs != "nothing")

    @property
    def opened(self) -> Store:
        """The store, for checks whose `needs` name it.

        Raises RuntimeError if there is none, which does not happen because such checks are skipped
        then.
        """
        if self.store is None:
            raise RuntimeError(self.store_problem)
        return self.store


class Finding(Struct, frozen=True):
    """The result of a check: its `state`, and a `sentence` that describes it.

    `names` are some of the `count` items that it concerns, `records` are those with these names
    if they are stored, and `commands` are command lines, each of which fixes one of them. `fix`
    replaces the check's own advice.
    """

    state: State
    sentence: str
    names: Sequence[str] = ()
    count: int = 0
    commands: Sequence[str] = ()
    fix: str = ""
    records: Sequence[Record] = ()


class DoctorCheck(Struct, frozen=True, kw_only=True):
    """One check of `idp doctor`.

    `about` states what should be true, and `fix` what to do if it is not. `needs` states
    whether `run` reads the store or the records in it; without these the check is skipped.
    """

    id: str
    area: Area
    about: Message
    fix: Message
    run: Callable[[Installation], Awaitable[Finding]]
    needs: Literal["nothing", "store", "records"] = "nothing"


class Result(Struct, frozen=True, kw_only=True):
    """A check together with its finding."""

    check: DoctorCheck
    finding: Finding

    @property
    def fix(self) -> str:
        """The advice on what to do, in English: that of the finding, or else that of the check;
        empty if nothing is wrong."""
        if self.finding.state in ("ok", "skipped"):
            return ""
        return self.finding.fix or self.check.fix.msgid


def ok(sentence: str) -> Finding:
    """Returns a finding that nothing is wrong; `sentence` describes it."""
    return Finding("ok", sentence)


def warn(sentence: str, *commands: str, fix: str = "") -> Finding:
    """Returns a finding that the service works, but something should be changed. `sentence`
    describes it, `commands` are command lines that fix it, and `fix` replaces the check's own
    advice."""
    return Finding("warn", sentence, commands=commands, fix=fix)


def fail(sentence: str, *commands: str, fix: str = "") -> Finding:
    """Returns a finding that something does not work, or can be misused now. `sentence` describes
    it, `commands` are command lines that fix it, and `fix` replaces the check's own advice."""
    return Finding("fail", sentence, commands=commands, fix=fix)


def skipped(sentence: str) -> Finding:
    """Returns a finding that the check does not apply or cannot be run; `sentence` is the
    reason."""
    return Finding("skipped", sentence)
