"""A check that requests have to pass, and the checks that several endpoints share."""

from __future__ import annotations

from types import TracebackType
from typing import Final

from msgspec import Struct

from idp.oauth.errors import RequestRefused


class Check(Struct, frozen=True):
    """A check of a request: its requirement (`says`), the standard's section, and the usual
    correction.

    As a context manager it becomes the `check` of every refusal that is raised within the block.
    """

    name: str
    says: str
    rule: str
    fix: str

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # The innermost check takes precedence: an outer one is less exact.
        if isinstance(error, RequestRefused) and error.check is None:
            error.check = self


METHOD: Final = Check(
    "method",
    "the endpoint has this method",
    "RFC 6749, 3.1 and 3.2",
    "Send the request with a method that the endpoint has.",
)
FORM: Final = Check(
    "form",
    "the parameters can be read",
    "RFC 6749, appendix B",
    "Send the parameters as application/x-www-form-urlencoded, in UTF-8; let a library do it.",
)
USER_ALLOWED: Final = Check(
    "user_allowed",
    "the user may use the application",
    "OpenID Connect Core, 3.1.2.1; RFC 6749, 4.1.2.1",
    "Let the application be used by more users (allowedUsers), grant its project to the user's "
    "organization, or give the user a role in the project; then sign in again.",
)
ONCE: Final = Check(
    "once", "no parameter was sent twice", "RFC 6749, 3.1 and 3.2", "Send each parameter once."
)
