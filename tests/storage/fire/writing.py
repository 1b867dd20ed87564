"""A process that begets writers, to be killed: a fork costs a hundredth of a new interpreter.

Reads orders line by line (JSON, see `Order`). Says `pid N` of the writer that it made, then what
the writer says (`done LANE STEP` for each acknowledged step, `opened`, at SIGTERM
`queued LANE STEP` for each that the store has not answered yet), then `dead CODE`.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sqlite3
import sys
import threading
import traceback
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import msgspec

from storage import Store, Unavailable, open_store
from storage.sqlite import SqliteStore
from storage.upgrades import upgrade
from tests.storage.fire.script import Step, steps
from tests.storage.opening.upgrade_steps import NEW
from tests.storage.records import ALL
from tests.support.programs.crashing import crashing, die


class Order(msgspec.Struct):
    """What a writer is to do: so many steps in each lane, then close.

    `crash` is for `crashing`; `statement` is the same for the statements that SQLite executes.
    With `upgrades` the store is upgraded instead.
    """

    run: str
    url: str
    lanes: int = 1
    steps: int = sys.maxsize
    crash: str = ""
    statement: str = ""
    upgrades: bool = False


_UNIT_IDS: ContextVar[Iterator[str]] = ContextVar("unit ids")
_UNDER_WAY: dict[str, Step] = {}


def tell(line: str) -> None:
    os.write(1, f"{line}\n".encode())  # whole, or not at all: shorter than a pipe's buffer


def lanes(order: Order) -> list[str]:
    return [f"{order.run}.{n}" for n in range(order.lanes)]


async def work(order: Order) -> None:
    store = crashing(_store(order), order.crash)
    _UNIT_IDS.set(f"{order.run}:{n}" for n in itertools.count())
    await store.open(ALL)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, lambda: loop.create_task(_close(store)))
    tell("opened")
    if order.upgrades:
        done = await upgrade(store, NEW, _now, order.run)
        tell(" ".join(["upgraded", *done]))
    else:
        await asyncio.gather(*(_write(store, lane, order.steps) for lane in lanes(order)))
    await store.close()


async def _close(store: Any) -> None:
    for step in _UNDER_WAY.values():
        tell(f"queued {step.lane} {step.n}")
    await store.close()


def _now() -> datetime:
    return datetime.now(UTC)


async def _write(store: Any, lane: str, number: int) -> None:
    """Until it is enough, or the store is closed. A store that fails in any other way is told."""
    for step in islice(steps(lane), number):
        _UNIT_IDS.set(_unit_ids(step))
        _UNDER_WAY[lane] = step
        try:
            await step.perform(store)
        except Unavailable as error:
            tell(f"refused {lane} {error}")
            return
        finally:
            del _UNDER_WAY[lane]
        tell(f"done {lane} {step.n}")


def _unit_ids(step: Step) -> Iterator[str]:
    """The step's own id for its unit, so that the parent can ask for it."""
    yield step.id
    yield from (f"{step.id}/{n}" for n in itertools.count())


def _store(order: Order) -> Store:
    options = {"now": _now, "new_id": lambda: next(_UNIT_IDS.get())}
    if order.statement:
        connect = _mortal(order.statement)
        return SqliteStore(order.url.removeprefix("sqlite:///"), connect=connect, **options)
    return open_store(order.url, **options)


def _mortal(statement: str) -> Any:
    """Connections that die before or after the n-th statement, saying first which it is."""
    when, number = statement.split()
    numbers = itertools.count(1)
    lock = threading.Lock()

    class Connection(sqlite3.Connection):
        def execute(self, sql, *values):
            with lock:
                is_last = next(numbers) == int(number)
            if is_last and when == "before":
                self._die(sql)
            cursor = super().execute(sql, *values)
            if is_last:
                self._die(sql)
            return cursor

        def _die(self, sql):
            tell(f"at {sql.split()[0]}")
            die()

    return lambda *args, **options: sqlite3.connect(*args, factory=Connection, **options)


def _beget(order: Order) -> int:
    if order.url.startswith("mongodb"):
        import storage.mongo  # noqa: F401  before the fork, once for all
    pid = os.fork()
    if pid:
        return pid
    try:
        asyncio.run(work(order))
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def main() -> None:
    for line in sys.stdin:
        pid = _beget(msgspec.json.decode(line, type=Order))
        tell(f"pid {pid}")
        _, status = os.waitpid(pid, 0)
        tell(f"dead {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    main()
