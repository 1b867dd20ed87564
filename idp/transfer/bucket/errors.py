"""The failures of operations on object storage."""

from __future__ import annotations

from typing import Final

from idp.foundation.errors import FieldProblem, InvalidArgument

UNREACHABLE: Final = FieldProblem(
    "object_storage.unreachable", "", "object storage can't be used right now"
)
TIMED_OUT: Final = FieldProblem("object_storage.timeout", "", "object storage took too long")
TOO_LARGE: Final = FieldProblem(
    "object_storage.too_large", "", "the object has more bytes than a package may have"
)
FORBIDDEN: Final = FieldProblem(
    "object_storage.forbidden", "", "the credentials may not do this in that bucket"
)
ENDPOINT: Final = FieldProblem(
    "object_storage.endpoint", "endpoint", "is not a server that the operators have allowed"
)
NOT_INSTALLED: Final = FieldProblem(
    "object_storage.not_installed",
    "",
    "needs the extra object-storage, which is not installed: pip install 'idp[object-storage]'",
)
EXISTS: Final = FieldProblem(
    "object_storage.exists", "", "there is an object of that name already"
)
NOT_FOUND: Final = FieldProblem(
    "object_storage.not_found", "", "there is no such bucket, or no such object in it"
)


class ObjectStorageFailed(InvalidArgument):
    """The error of an operation on object storage: nothing was read, or nothing was written.

    `problem` is returned to the caller, `cause` is a description for the log; neither contains a
    secret.
    """

    def __init__(self, problem: FieldProblem, cause: str = "") -> None:
        super().__init__([problem])
        self.error_code = problem.error_code
        self.cause = cause
