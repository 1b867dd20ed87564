"""SQLite, and an overlay of two, against a dictionary, over any sequence of units that Hypothesis
comes upon."""

from __future__ import annotations

import asyncio
import itertools
from datetime import timedelta

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from storage import Conflict, Delete, Insert, Stale, StorageError, Update
from storage.overlay import Overlay
from storage.sqlite import SqliteStore
from tests.storage.records import ALL, TICKETS, USERS, Ticket, later, user
from tests.support.clock import SteppingClock

pytestmark = pytest.mark.full

IDS = st.sampled_from(["a", "b", "c", "d"])
KEYS = st.sampled_from(["k1", "k2", "k3"])
SMALL = st.integers(0, 2)
NOTES = st.none() | st.text(st.characters(codec="utf-8", min_codepoint=1), max_size=3)
USER_WRITES = st.one_of(
    st.builds(lambda id, key, n: Insert(USERS, user(id, login_key=key, n=n)), IDS, KEYS, SMALL),
    st.builds(
        lambda id, values, by, n: Update(
            USERS, id, set=values, increment={"n": by}, expect={} if n is None else {"n": n}
        ),
        IDS,
        st.fixed_dictionaries({}, optional={"note": NOTES, "login_key": KEYS}),
        SMALL,
        st.none() | SMALL,
    ),
    st.builds(lambda id, note: Update(USERS, id, expect={"note": note}), IDS, NOTES),
    st.builds(lambda id, n: Delete(USERS, id, expect={"n": n}), IDS, SMALL),
    st.builds(lambda id: Delete(USERS, id), IDS),
)
TICKET_WRITES = st.one_of(
    st.builds(
        lambda id, seconds: Insert(TICKETS, Ticket(id=id, expires_at=later(seconds))),
        IDS,
        st.integers(1, 30),
    ),
    st.builds(lambda id: Update(TICKETS, id, set={"state": "used"}, expect={"state": "new"}), IDS),
)
UNITS = st.lists(
    USER_WRITES | TICKET_WRITES,
    min_size=1,
    max_size=3,
    unique_by=lambda write: (write.collection.name, write.id),
)


class Model:
    """The contract in the plainest words: a dictionary, copied before each unit."""

    def __init__(self):
        self.kept = {}
        self.now = later(0)

    def living(self, collection, id):
        record = self.kept.get((collection.name, id))
        is_over = record is not None and collection.expires and record.expires_at <= self.now
        return None if is_over else record

    def commit(self, writes):
        before = dict(self.kept)
        try:
            for write in writes:
                self.apply(write)
                self.check_keys()
        except StorageError as error:
            self.kept = before
            return type(error)
        return None

    def apply(self, write):
        key = (write.collection.name, write.id)
        record = self.living(write.collection, write.id)
        if isinstance(write, Insert):
            if record is not None:
                raise Conflict(*key)
            self.kept[key] = write.record
            return
        if isinstance(write, Delete) and not write.expect:
            self.kept.pop(key, None)
            return
        if record is None or any(getattr(record, f) != v for f, v in write.expect.items()):
            raise Stale(*key)
        if isinstance(write, Delete):
            del self.kept[key]
        else:
            added = {f: getattr(record, f) + by for f, by in write.increment.items()}
            self.kept[key] = msgspec.structs.replace(record, **write.set, **added)

    def check_keys(self):
        keys = [record.login_key for (name, _), record in self.kept.items() if name == "users"]
        if len(set(keys)) != len(keys):
            raise Conflict("users", "login_key")

    def users(self):
        return sorted((r for (name, _), r in self.kept.items() if name == "users"), key=_by_login)


def _by_login(record):
    return record.login_key


class SqliteAgainstModel(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.runner = asyncio.Runner()
        self.model = Model()
        self.clock = SteppingClock(self.model.now)
        self.ids = (f"u{n}" for n in itertools.count())
        self.store = self.opened()

    def opened(self):
        store = self.sqlite()
        self.runner.run(store.open(ALL))
        return store

    def sqlite(self):
        return SqliteStore(None, now=self.clock.now, new_id=self.ids.__next__)

    def teardown(self):
        self.runner.run(self.store.close())
        self.runner.close()

    @rule(writes=UNITS)
    def commit(self, writes):
        try:
            outcome = self.runner.run(self.store.commit(*writes))
        except StorageError as error:
            outcome = type(error)

        assert outcome is self.model.commit(writes)

    @rule(units=st.lists(UNITS, max_size=6))
    def commit_each(self, units):
        outcomes = self.runner.run(self.store.commit_each(units))

        expected = [self.model.commit(writes) for writes in units]
        assert [outcome and type(outcome) for outcome in outcomes] == expected

    @rule(seconds=st.integers(1, 20))
    def time_passes(self, seconds):
        self.model.now = self.clock.advance(timedelta(seconds=seconds))

    @invariant()
    def what_is_read_is_what_was_written(self):
        keys = [(collection, id) for collection in (USERS, TICKETS) for id in "abcd"]
        expected = [self.model.living(*key) for key in keys]

        assert self.runner.run(self.store.get_many(keys)) == expected

    @invariant()
    def the_list_is_in_order(self):
        where = {"org_id": "org"}
        page = self.runner.run(self.store.find(USERS, where, order="login_key"))

        assert page.records == self.model.users()


class OverlayAgainstModel(SqliteAgainstModel):
    """What lies below to begin with stays as it is, whatever is done above."""

    BELOW = (
        Insert(USERS, user("a", login_key="k1")),
        Insert(USERS, user("b", login_key="k2", note="below")),
        Insert(TICKETS, Ticket(id="c", expires_at=later(15))),
    )

    def opened(self):
        self.lower = super().opened()
        self.model.commit(self.BELOW)
        self.runner.run(self.lower.commit(*self.BELOW))
        store = Overlay(self.lower, self.sqlite())
        self.runner.run(store.open(ALL))
        return store

    def teardown(self):
        keys = [(write.collection, write.id) for write in self.BELOW]
        self.clock.advance(later(0) - self.clock.now())
        found = self.runner.run(self.lower.get_many(keys))
        number = self.runner.run(self.lower.count(USERS))
        self.runner.run(self.lower.close())
        super().teardown()

        assert found == [write.record for write in self.BELOW]
        assert number == 2

    @invariant()
    def values_find_the_same_as_the_list(self):
        found = self.runner.run(self.store.find_each(USERS, "login_key", ["k1", "k2", "k3"]))
        count = self.runner.run(self.store.count(USERS, {"org_id": "org"}))

        assert found == {each.login_key: [each] for each in self.model.users()}
        assert count == len(self.model.users())


TestSqliteAgainstModel = SqliteAgainstModel.TestCase
TestOverlayAgainstModel = OverlayAgainstModel.TestCase
TestSqliteAgainstModel.settings = settings(
    max_examples=40,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
TestOverlayAgainstModel.settings = settings(TestSqliteAgainstModel.settings, max_examples=20)
