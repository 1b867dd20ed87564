"""The preparation of a process that forks others."""

from __future__ import annotations

import gc
import threading


def share_memory() -> None:
    """Prepares the memory of this process for sharing it with workers.

    Raises RuntimeError if there is a second thread: a lock that it holds would stay locked in
    every worker.
    """
    if threading.active_count() > 1:
        raise RuntimeError("a supervisor has one thread only")
    gc.collect()
    gc.freeze()
