"""File descriptors: how many this process may have, and how many are reserved for other uses than
connections.
"""

from __future__ import annotations

import errno
import resource
from contextlib import suppress
from typing import Final

EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE)
_MAX_LIMIT: Final = 65_536
_RESERVED: Final = 128  # for the store, outgoing calls, files and logs


def raise_limit() -> None:
    """Raises this process's soft limit of open file descriptors to the hard one, but at most to
    65,536."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = _MAX_LIMIT if hard == resource.RLIM_INFINITY else min(hard, _MAX_LIMIT)
    if soft != resource.RLIM_INFINITY and soft < highest:
        with suppress(OSError, ValueError):  # a sandbox may forbid it
            resource.setrlimit(resource.RLIMIT_NOFILE, (highest, hard))


def limit() -> int:
    """Returns this process's soft limit of open file descriptors."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MAX_LIMIT if soft == resource.RLIM_INFINITY else soft


def max_connections(configured: int) -> int:
    """Returns how many connections this process may have: `configured`, or fewer if the limit of
    file descriptors allows no more."""
    return max(1, min(configured, limit() - _RESERVED))
