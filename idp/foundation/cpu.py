"""The processor cores of this process."""

from __future__ import annotations

import os


def count() -> int:
    """Returns the number of cores that this process may use, which can be fewer than the
    machine's."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
