"""A unit whose answer was lost: whoever waits for it learns what came of it."""

from __future__ import annotations

import pytest

from storage import Insert, Stale, Unavailable, Unit, Unknown
from storage.confirmed_commit import commit_confirmed
from tests.storage.records import USERS, user

WRITE = Insert(USERS, user("u1"))


class Lossy:
    """A store that loses every answer, and when asked says what `answers` hold, in turn."""

    def __init__(self, *answers):
        self.answers = list(answers)

    async def commit(self, *writes):
        raise Unknown(Unit("unit", writes))

    async def applied(self, unit):
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.full
async def test_a_lost_unit_that_was_applied_is_committed():
    store = Lossy(Unavailable("not yet"), True)

    await commit_confirmed(store, WRITE)

    assert store.answers == [True], "it was asked again"


async def test_a_lost_unit_that_was_not_applied_may_be_tried_again():
    with pytest.raises(Unavailable):
        await commit_confirmed(Lossy(False), WRITE)


@pytest.mark.full
@pytest.mark.parametrize("answer", [None, Unavailable("gone")], ids=repr)
async def test_what_can_not_be_known_stays_unknown(answer):
    with pytest.raises(Unknown):
        await commit_confirmed(Lossy(answer), WRITE, within_seconds=0.3)


async def test_any_other_outcome_is_reported_at_once():
    class Refusing:
        async def commit(self, *writes):
            raise Stale("users", "u1")

    with pytest.raises(Stale):
        await commit_confirmed(Refusing(), WRITE)
