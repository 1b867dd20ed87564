"""The failure of an operation on an object storage bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING

from idp.foundation.errors import FieldProblem, InvalidArgument

if TYPE_CHECKING:
    pass


class ObjectStorageFailed(InvalidArgument):
    """The error of an operation on object storage: nothing was read, or nothing was written.

    `problem` is returned to the caller, `cause` is a description for the log; neither contains a
    secret.
    """

    def __init__(self, problem: FieldProblem, cause: str = "") -> None:
        super().__init__([problem])
        self.error_code = problem.error_code
        self.cause = cause
