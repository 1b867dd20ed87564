"""How the program ends: exit codes, and problems told in sentences on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from idp.errors import ConfigError, IdpError, NotFound
from storage import StorageError, Unavailable

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 5
UNREACHABLE: Final = 69


def guarded(work: Callable[[], None]) -> int:
    """Do `work`; the exit code. What the operator can mend is told without a traceback."""
    try:
        work()
    except ConfigError as error:
        return _tell(error.problems, USAGE)
    except Unavailable as error:
        return _tell([f"the store can't be reached: {error}"], UNREACHABLE)
    except NotFound as error:
        return _tell([str(error)], NOT_FOUND)
    except (IdpError, StorageError) as error:
        return _tell([str(error)], FAILED)
    return OK


def _tell(problems: tuple[str, ...] | list[str], code: int) -> int:
    for problem in problems:
        print(f"idp: {problem}", file=sys.stderr, flush=True)
    return code
