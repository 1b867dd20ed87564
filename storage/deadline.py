"""The deadline of a request: how long it may wait for the store, with all its calls together.

A call of a store that gets no answer ends after a limit of its own, and a request makes several
calls. `begin`, at the edge, gives the request one limit for all of them. Tasks without a deadline,
such as background tasks and commands, have the limits of the calls.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from functools import partial
from typing import Final, Self, TypeVar

from storage.base import StorageError, Unavailable

T = TypeVar("T")

# The client has the answer after 8 seconds, even if quick calls, which do not count, came first.
REQUEST_SECONDS: Final = 7.0
# Calls that are answered so soon do not count: a request may make any number of them.
QUICK_SECONDS: Final = 0.5


class Deadline:
    """The time for which a request may still wait, `seconds` at first.

    Its clock runs only within `with` blocks of the deadline: a request that computes, receives its
    body or waits for another server loses none of it. Blocks that overlap, such as those of
    concurrent calls, count once, and those that end within QUICK_SECONDS not at all. `now` is a
    monotonic clock.
    """

    __slots__ = ("_remaining", "_now", "_open_blocks", "_since")

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._remaining = seconds
        self._now = now
        self._open_blocks = 0
        self._since = 0.0

    @property
    def seconds_left(self) -> float:
        """The remaining time, 0 if there is none."""
        running = self._now() - self._since if self._open_blocks else 0.0
        return max(0.0, self._remaining - running)

    def __enter__(self) -> Self:
        if not self._open_blocks:
            self._since = self._now()
        self._open_blocks += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._open_blocks -= 1
        if self._open_blocks:
            return
        seconds = self._now() - self._since
        # A call that reaches the deadline counts, even if it was short: no time remains for the
        # next one.
        if seconds > min(QUICK_SECONDS, 0.9 * self._remaining):
            self._remaining -= seconds


_current: Final[ContextVar[Deadline | None]] = ContextVar("deadline", default=None)


def begin(deadline: Deadline | None = None) -> None:
    """Sets the deadline of the current task and of all tasks that it creates from now on."""
    _current.set(deadline or Deadline(REQUEST_SECONDS))


def end() -> None:
    """Removes the deadline of the current task: for work that may take longer than a request."""
    _current.set(None)


def running() -> AbstractContextManager[object]:
    """Returns a context in which the clock of the current deadline runs, if there is one."""
    return _current.get() or nullcontext()


def seconds_left(limit: float = math.inf) -> float:
    """Returns for how long the current task may wait for the store; `limit` without a
    deadline."""
    deadline = _current.get()
    return limit if deadline is None else min(limit, deadline.seconds_left)


class TimedCall:
    """A context for one call of a store. Its value is for how many seconds the call may wait:
    `limit`, or less because of the deadline, whose clock runs within the block.

    Raises Unavailable, without entering the block, if no time is left.
    """

    __slots__ = ("_limit", "_deadline")

    def __init__(self, limit: float = math.inf) -> None:
        self._limit = limit
        self._deadline = _current.get()

    def __enter__(self) -> float:
        deadline = self._deadline
        if deadline is None:
            return self._limit
        seconds = deadline.seconds_left
        if seconds <= 0:
            raise Unavailable("the request has no time left to wait for the store")
        deadline.__enter__()
        return min(seconds, self._limit)

    def __exit__(self, *_: object) -> None:
        if self._deadline is not None:
            self._deadline.__exit__()


async def wait_for_answer(
    answer: asyncio.Future[T], seconds: float, on_timeout: Callable[[], T | StorageError]
) -> T:
    """Returns the result of a future, which another task completes if it is not done.

    After `seconds` it gets the value of `on_timeout` as its result, or as its exception if that is
    an error. The work for it continues, as it does when the caller is cancelled."""
    if seconds == math.inf:
        return await answer
    # A timer, and not a timeout that cancels: that can lose a cancellation which arrives together
    # with the answer.
    timer = asyncio.get_running_loop().call_later(seconds, _complete, answer, on_timeout)
    try:
        return await answer
    finally:
        timer.cancel()


def _complete(answer: asyncio.Future[T], on_timeout: Callable[[], T | StorageError]) -> None:
    if answer.done():
        return
    outcome = on_timeout()
    if isinstance(outcome, StorageError):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)


def answer_future(task: asyncio.Future[T]) -> asyncio.Future[T]:
    """Returns a future that gets the outcome of a task, and that `wait_for_answer` may complete
    before: the task then continues. A failure that no caller waits for is not
    reported."""
    answer: asyncio.Future[T] = task.get_loop().create_future()
    task.add_done_callback(partial(_copy_outcome, answer))
    return answer


def _copy_outcome(answer: asyncio.Future[T], task: asyncio.Future[T]) -> None:
    # Read in any case, or asyncio would report an error that no caller waits for.
    error = None if task.cancelled() else task.exception()
    if answer.done():
        return
    if task.cancelled():
        answer.cancel()
    elif error is not None:
        answer.set_exception(error)
    else:
        answer.set_result(task.result())
