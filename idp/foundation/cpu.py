"""What this process may use of its machine."""

from __future__ import annotations

import os


def count() -> int:
    """The cores that this process may use: fewer than the machine's in a container."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
