"""A store that does the work and loses its answer."""

from __future__ import annotations

from storage import Unit, Unknown


def lose(store, monkeypatch) -> None:
    """Loses the answer to each unit from now on; asked later, the store says that it was
    applied."""
    commit = store.commit

    async def lost(*writes):
        await commit(*writes)
        raise Unknown(Unit("lost", writes))

    async def applied(unit):
        return True

    monkeypatch.setattr(store, "commit", lost)
    monkeypatch.setattr(store, "applied", applied)
