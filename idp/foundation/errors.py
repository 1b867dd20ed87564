"""The errors of the domain, outside of the OAuth protocol.

Each error has a stable `error_code` for programs and an English `message` for operators;
neither ever contains a secret or a stored value::

    IdpError
    ├── InvalidArgument     fields can't be used; `problems` lists each, with the reason
    ├── Unauthenticated     the caller is not authenticated
    ├── PermissionDenied    the caller is authenticated and may not do this
    ├── NotFound            there is no such thing, or the caller may not know that there is
    ├── AlreadyExists       the thing exists already
    │   └── Taken           a name, a domain or an id is taken; `problems` lists each
    ├── FailedPrecondition  the record is not in the state that the operation requires
    ├── PreconditionFailed  the record has changed since the caller read it
    ├── DeadlineExceeded    the operation took longer than the caller allowed
    ├── SecretGone          the call was made before, and the secret of its answer was deleted
    ├── TooMany             the rate limit is exceeded; `retry_after_seconds` is the time to wait
    ├── Busy                too many concurrent operations; `retry_after_seconds` as above
    │   ├── HashingBusy     (idp.passwords) too many sign-ins wait for a password hash
    │   └── SealingStopped  (idp.keys.master_key) which master key is in charge is not known
    ├── AlreadyRunning      another process does the same at this moment
    ├── ConfigError         the settings can't be used; `problems` lists every reason
    ├── WrongKey            (idp.keys.master_key) a value of another master key, or altered
    ├── PasswordRefused     (idp.passwords.policy) a password that can't be hashed
    └── UnreadableHash      (idp.passwords.schemes) a hash that is not accepted
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

MAX_PROBLEMS = 100


class FieldProblem(NamedTuple):
    """The reason why one field can't be used. `field` is its JSON path, empty for the whole
    document."""

    error_code: str
    field: str
    message: str
    limit: int | None = None

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


def _bounded(problems: Sequence[FieldProblem]) -> Sequence[FieldProblem]:
    """The first problems, and after them one that says that there are more."""
    if len(problems) <= MAX_PROBLEMS:
        return problems
    last_problem = FieldProblem(
        "fields.too_many", "", "there are more problems than are listed here"
    )
    return [*problems[:MAX_PROBLEMS], last_problem]


class IdpError(Exception):
    """The base of all errors outside of the OAuth protocol. `error_code` is the class's unless
    the caller gives another one."""

    error_code = "internal"

    def __init__(self, message: str, *, error_code: str | None = None, field: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        if error_code is not None:
            self.error_code = error_code

    @property
    def details(self) -> tuple[FieldProblem, ...]:
        """The problems one by one, for programs; empty for an error that has only a message."""
        return (FieldProblem(self.error_code, self.field, self.message),)


class InvalidArgument(IdpError):
    """Fields can't be used. `problems` contains all of them, or the first hundred."""

    error_code = "invalid_argument"

    def __init__(self, problems: Sequence[FieldProblem]) -> None:
        suffix = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"{problems[0]}{suffix}")
        self.problems = tuple(_bounded(problems))

    @property
    def details(self) -> tuple[FieldProblem, ...]:
        return self.problems

    def within(self, path: str) -> InvalidArgument:
        """Returns this error with `path` put before the JSON path of each problem, because the
        object with the problems is at `path` in the document."""
        return InvalidArgument(
            [each._replace(field=f"{path}.{each.field}".rstrip(".")) for each in self.problems]
        )


class Unauthenticated(IdpError):
    """The caller is not authenticated: there is no token, or no valid one."""

    error_code = "unauthenticated"


class PermissionDenied(IdpError):
    """The caller is authenticated and may not do this."""

    error_code = "permission_denied"


class AlreadyExists(IdpError):
    """The thing exists already; nothing was changed."""

    error_code = "already_exists"


class Taken(AlreadyExists):
    """Names, domains or ids belong to another record. `problems` lists each."""

    error_code = "taken"

    def __init__(self, problems: Sequence[FieldProblem]) -> None:
        suffix = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"{problems[0]}{suffix}", error_code=problems[0].error_code)
        self.problems = tuple(problems)

    @property
    def details(self) -> tuple[FieldProblem, ...]:
        return self.problems


class FailedPrecondition(IdpError):
    """The record is not in the state that the operation requires."""

    error_code = "failed_precondition"


class PreconditionFailed(IdpError):
    """The record has changed since the caller read it; nothing was done."""

    error_code = "precondition.failed"


class DeadlineExceeded(IdpError):
    """The operation took longer than the caller allowed, and was cancelled."""

    error_code = "deadline.exceeded"


class SecretGone(IdpError):
    """The call was made before with this Idempotency-Key, and its secret is no longer stored."""

    error_code = "idempotency.secret_gone"


class TooMany(IdpError):
    """The rate limit is exceeded; nothing was done, and the call may be repeated."""

    error_code = "rate_limit.exceeded"

    def __init__(self, message: str, *, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class NotFound(IdpError):
    """The thing does not exist, or the caller may not know that it does."""

    error_code = "not_found"


class Busy(IdpError):
    """Too many concurrent operations; nothing was done, and the call may be repeated."""

    error_code = "busy"

    def __init__(self, message: str, *, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class DiskFull(Busy):
    """The disk for temporary files is full; nothing was done, and the call may be repeated."""

    error_code = "disk_full"

    def __init__(self) -> None:
        super().__init__("there is no space for temporary files", retry_after_seconds=30)


class AlreadyRunning(IdpError):
    """Another process does the same at this moment; nothing was done, and it may be repeated."""

    error_code = "already_running"


class ConfigError(IdpError):
    """The settings can't be used. `problems` are sentences, one for each reason."""

    error_code = "config"

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)
