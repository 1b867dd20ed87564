"""A schema with two steps for records that a first version has stored."""

from __future__ import annotations

from contextlib import suppress

from storage import Conflict, Insert, Schema, Update, UpgradeStep
from tests.storage.records import ENTRIES, USERS, Entry, user

OLD = Schema(version=1)
PEOPLE = 3


async def note_everybody(store):
    """`n` counts how often it was done."""
    async for each in store.scan(USERS, {"note": None}):
        noted = {"set": {"note": "noted"}, "increment": {"n": 1}}
        await store.commit(Update(USERS, each.id, expect={"note": None}, **noted))


async def enter_everybody(store):
    async for each in store.scan(USERS):
        with suppress(Conflict):
            await store.commit(Insert(ENTRIES, Entry(id=each.id, text=each.note)))


STEPS = (UpgradeStep("notes", note_everybody), UpgradeStep("entries", enter_everybody))
NEW = Schema(version=2, steps=STEPS)
NAMES = [step.name for step in STEPS]
WRITES = 1 + PEOPLE + 1 + PEOPLE + 1  # the lease, and each step's own with its record

UPGRADED = (
    [user(f"u{n}", note="noted", n=1) for n in range(PEOPLE)],
    [Entry(id=f"u{n}", text="noted") for n in range(PEOPLE)],
)


async def fill(store):
    await store.commit_each([[Insert(USERS, user(f"u{n}"))] for n in range(PEOPLE)])


async def kept(store):
    return [one async for one in store.scan(USERS)], [one async for one in store.scan(ENTRIES)]
