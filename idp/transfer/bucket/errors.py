"""The failure of an operation on an object storage bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING

from idp.foundation.errors import FieldProblem, InvalidArgument

if TYPE_CHECKING:
    pass


class ObjectStorageFailed(InvalidArgument):
    """Nothing was read, or nothing was written.

    `cause` is for the log; neither it nor the problem holds a secret.
    """

    def __init__(self, problem: FieldProblem, cause: str = "") -> None:
        super().__init__([problem])
        self.error_code = problem.error_code
        self.cause = cause
