"""Threads that a program does not wait for at its end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class DaemonThreads(ThreadPoolExecutor):
    """Runs each call in a daemon thread, to be the default executor of an event loop.

    A program with a time limit can't end a thread that waits, such as for an answer of a name
    server, and both `asyncio.run` and the interpreter would wait for a thread of the default
    executor.
    """

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Starts a thread for this call, and returns its future result."""
        future: Future[Any] = Future()
        thread = threading.Thread(target=_run, args=(future, function, args, kwargs), daemon=True)
        thread.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Returns immediately: calls in progress continue until the program ends."""


def _run(
    future: Future[Any], function: Callable[..., Any], args: tuple[Any, ...], kwargs: Any
) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(function(*args, **kwargs))
    except BaseException as error:  # the caller gets it
        future.set_exception(error)
