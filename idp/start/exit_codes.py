"""The exit codes of the program, and its error messages on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from idp.foundation.errors import (
    AlreadyExists,
    AlreadyRunning,
    Busy,
    ConfigError,
    FailedPrecondition,
    FieldProblem,
    IdpError,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    PreconditionFailed,
    SecretGone,
    Unauthenticated,
)
from storage import StorageError, Unavailable, Unknown
from storage.filling import StoreNotEmpty

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
ROW_ERRORS: Final = 3  # done, but some rows were refused
NOT_AUTHORISED: Final = 4
NOT_FOUND: Final = 5
CONFLICT: Final = 6
INTERRUPTED: Final = 7  # the same command can resume it
UNREACHABLE: Final = 69
TRY_AGAIN: Final = 75  # another process does the same at this moment

# The exit code of each error; FAILED for any other.
CODES: Final[Mapping[type[Exception], int]] = {
    ConfigError: USAGE,
    InvalidArgument: USAGE,
    Unauthenticated: NOT_AUTHORISED,
    PermissionDenied: NOT_AUTHORISED,
    NotFound: NOT_FOUND,
    AlreadyExists: CONFLICT,
    SecretGone: CONFLICT,
    PreconditionFailed: CONFLICT,
    FailedPrecondition: CONFLICT,
    StoreNotEmpty: CONFLICT,
    AlreadyRunning: TRY_AGAIN,
    Busy: UNREACHABLE,
    Unavailable: UNREACHABLE,
    Unknown: UNREACHABLE,
}


def guarded(work: Callable[[], None]) -> int:
    """Runs `work` and returns the exit code of the program.

    An error that the operator can fix (IdpError, StorageError) is printed without a traceback; any
    other is raised.
    """
    try:
        work()
    except (IdpError, StorageError) as error:
        return report(error)
    return OK


def report(error: IdpError | StorageError) -> int:
    """Prints an error to stderr, one line for each problem, and returns its exit code."""
    for line in _lines(error):
        print(f"idp: {line}", file=sys.stderr, flush=True)
    return code(error)


def code(error: Exception) -> int:
    """Returns the exit code with which the program ends because of this error."""
    return next((code for kind, code in CODES.items() if isinstance(error, kind)), FAILED)


def _lines(error: IdpError | StorageError) -> Sequence[str]:
    if isinstance(error, ConfigError):
        return error.problems
    if isinstance(error, Unavailable):
        return [f"the store can't be reached: {error}"]
    if isinstance(error, IdpError):
        return [_line(each) for each in error.details]
    return [str(error)]


def _line(problem: FieldProblem) -> str:
    """Returns a problem with its path, and its error code, by which the documentation lists it."""
    return f"{problem} ({problem.error_code})" if "." in problem.error_code else str(problem)
