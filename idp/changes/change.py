"""What a planner returns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, TypeAlias, TypeVar

from idp.foundation.errors import IdpError
from storage import Conflict, Write

A = TypeVar("A", covariant=True)
B = TypeVar("B")
Task = Callable[[], Awaitable[object] | None]


class Author(Protocol):
    """The user who makes a change, by id; `if_match` is the `sequence` that the changed record
    must have, or None if any will do."""

    @property
    def actor(self) -> str: ...

    @property
    def if_match(self) -> int | None: ...


@dataclass(frozen=True)
class _By:
    actor: str
    if_match: None = None


def by(actor: str) -> Author:
    """Returns the author of a change that may be made to any version of the record."""
    return _By(actor)


@dataclass(frozen=True)
class Change(Generic[A]):
    """A change that is to be made: its `answer`, and the `writes` of the one unit that makes it.
    Without writes nothing has to change.

    The tasks in `afterwards` are run once the unit is stored, before the answer is returned.
    `if_taken` is the error if the unit inserts what another one has inserted meanwhile
    (Conflict); without it the change is planned again. `replan` does that without what need not be
    repeated, such as the hashing of a password. `then` is work of several further units, which
    returns the answer of this call; a repetition of an interrupted call gets `answer`.
    """

    answer: A
    writes: Sequence[Write] = ()
    afterwards: Sequence[Task] = ()
    if_taken: IdpError | Callable[[Conflict], IdpError] | None = None
    replan: Callable[[], Awaitable[Planned[A]]] | None = None
    then: Callable[[], Awaitable[A]] | None = None

    def map(self, answer_of: Callable[[A], B]) -> Change[B]:
        """Returns the change with the answer that `answer_of` returns for this one."""
        return Change(
            answer_of(self.answer),
            self.writes,
            self.afterwards,
            self.if_taken,
            partial(_planned_answer, self.replan, answer_of) if self.replan else None,
            partial(_answer, self.then, answer_of) if self.then else None,
        )


@dataclass(frozen=True)
class Part:
    """A unit that has to be stored before the change can be planned: it is committed, and the
    planner is run again."""

    writes: Sequence[Write]
    afterwards: Sequence[Task] = ()

    def map(self, answer_of: Callable[..., object]) -> Part:
        """Returns the part itself, which has no answer."""
        return self


Planned: TypeAlias = Change[A] | Part


async def _planned_answer(
    plan: Callable[[], Awaitable[Planned[A]]], answer_of: Callable[[A], B]
) -> Planned[B]:
    return (await plan()).map(answer_of)


async def _answer(work: Callable[[], Awaitable[A]], answer_of: Callable[[A], B]) -> B:
    return answer_of(await work())
