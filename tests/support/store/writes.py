"""The writes that a call commits, for tests of calls that must write nothing."""

from __future__ import annotations

from contextlib import contextmanager

from idp.records import LAST_USES, REFUSALS


def recorded(store, monkeypatch) -> list:
    """What is committed from now on, but for notes of refusals and of uses of a token."""
    commit, found = type(store).commit, []

    async def noting(store, *writes):
        found.extend(one for one in writes if one.collection not in (REFUSALS, LAST_USES))
        await commit(store, *writes)

    monkeypatch.setattr(type(store), "commit", noting)
    return found


@contextmanager
def at(call, what, written):
    """Checks that nothing was written; a failure names the call."""
    written.clear()
    try:
        yield
        assert written == []
    except AssertionError as error:
        error.add_note(f"{call}, {what}")
        raise
