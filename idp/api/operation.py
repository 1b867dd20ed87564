"""What a call of the management API is: an address, a permission, and the function that does it.

An `Operation` is data. The web server mounts it, the permission check, the description at
/openapi.json, the command line and the tests are made of it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, Final, Literal, get_type_hints

from msgspec import Struct

from idp.identity.users.permissions import Permission
from idp.schema.answers import Answer, FileAnswer
from idp.schema.reading import Nothing, Request

Body = Literal["", "request", "document", "package"]
Method = Literal["GET", "POST", "PUT", "DELETE"]
Run = Callable[..., Awaitable[Any]]  # an Answer, or Filed
Lines = Callable[..., AsyncIterator[Answer]]

_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_WITH_BODY: Final = ("POST", "PUT")


class Operation(Struct, frozen=True, kw_only=True):
    """One call.

    `path` names what it varies by: `/v2/users/{userId}`; a name that ends in `Id` stands for an
    id. `run` is called with the service, the call, and these values in their order; with a body
    it gets `request`, or `document` where it judges across fields what it reads, or `package`, a
    body of any size as it was received. `request` is what the body holds, `query` what the
    address holds of a call without one, `answer` what comes back. A conditional operation honours
    If-Match; one `for services` is made by a service user with a personal access token alone.
    What `is_filed` answers by a file (`FileAnswer`), in which the `answer` stands.
    `name` is the `operationId` of the description, and never changes: clients are generated from
    it. `lines` is called like `run` by who wants the answer as a stream of JSON lines.
    """

    method: Method
    path: str
    permission: Permission
    run: Run
    name: str
    summary: str
    answer: type[Answer]
    request: type[Request] | None = None
    query: type[Request] | None = None
    body: Body = ""
    is_conditional: bool = False
    is_large: bool = False
    is_for_services: bool = False
    is_filed: bool = False
    lines: Lines | None = None

    @property
    def parameters(self) -> list[str]:
        """The names that vary in the path, in their order."""
        return _PARAMETER.findall(self.path)


def operation(
    method: Method,
    path: str,
    permission: Permission,
    run: Run,
    *,
    name: str,
    summary: str,
    document: type[Request] | None = None,
    package: type[Request] | None = None,
    answer: type[Answer] | None = None,
    conditional: bool = False,
    large: bool = False,
    services: bool = False,
    lines: Lines | None = None,
) -> Operation:
    """The operation that `run` does; what it takes and answers is read off its annotations.

    `document`, `package`: `run` gets the body unread, and this is what it describes. `answer`
    says more of what comes back than the annotation. `large`: the body may have four megabytes.
    """
    hints = get_type_hints(run.func if isinstance(run, partial) else run)
    body: Body = "request" if "request" in hints else ""
    request, query = hints.get("request"), None
    if document is not None:
        body, request = "document", document
    elif package is not None:
        body, request = "package", package
    elif method not in _WITH_BODY:
        request, query = None, request
    elif request is None:
        request = Nothing
    return Operation(
        method=method,
        path=path,
        permission=permission,
        run=run,
        name=name,
        summary=summary,
        answer=answer or hints["return"],
        request=request,
        query=query,
        body=body,
        is_conditional=conditional,
        is_large=large,
        is_for_services=services,
        is_filed=hints["return"] is FileAnswer,
        lines=lines,
    )
