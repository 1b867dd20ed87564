"""An operation of the management API: its path, its permission, and the function that carries it
out.

An `Operation` is data. The routes of the web server, the permission check, the description at
/openapi.json, the command line and tests are derived from it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from idp import changes
from idp.changes import Change, repeatable_calls
from idp.changes.repeatable_calls import Repeatable
from idp.foundation.errors import NotFound
from idp.identity.users.permissions import Permission
from idp.management import mail_limits
from idp.management.call import Call
from idp.records import Organization
from idp.schema import reading
from idp.schema.answers import Answer, FileAnswer
from idp.schema.reading import Nothing, Request
from idp.service import Service
from storage import MAX_ID_CHARACTERS

Body = Literal["", "request", "document", "package"]
Method = Literal["GET", "POST", "PUT", "DELETE"]
Run = Callable[..., Awaitable[Any]]  # returns a Change, an Answer or a FileAnswer
Lines = Callable[..., AsyncIterator[Answer]]
ReadAhead = Callable[[Service, Organization], Awaitable[object]]

_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_WITH_BODY: Final = ("POST", "PUT")


async def _read_nothing(service: Service, organization: Organization) -> None:
    return None


class Operation(Struct, frozen=True, kw_only=True):
    """One operation of the management API.

    `path` contains its parameters, as in `/v2/users/{userId}`; a parameter whose name ends in `Id`
    is an id. `run` is called with the service, the call, and the values of the parameters in their
    order. With a body it also gets one argument more, of the form `body`: `request`, the validated
    struct; `document`, the decoded JSON, if more than single fields must be validated; or
    `package`, a body of any size that has not been read. `request` is the struct of the body,
    `query` that of the query parameters of a call without a body, `answer` that of the answer.

    With `is_conditional` the operation honours If-Match. With `is_large` its body may have up to
    four megabytes. With `is_for_services` the caller must be a service user with a personal access
    token. With `returns_file` the answer is in a file (`FileAnswer`). `name`
    is the `operationId` of the description and never changes, because clients are generated from
    it. `lines` is called in place of `run` if the client accepts a stream of JSON lines. With
    `plans`, `run` returns a change that is still to be committed (`idp/changes/`). `read_ahead`
    reads what `run` needs in the caller's own organization (`Call.reads`).
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
    returns_file: bool = False
    lines: Lines | None = None
    formats: Sequence[str] = ()
    plans: bool = False
    read_ahead: ReadAhead = _read_nothing

    async def carry_out(
        self, service: Service, call: Call, *values: str, **arguments: object
    ) -> Any:
        """Carries out the operation and returns its answer. Raises the errors of the operation."""
        run = partial(self.run, service, call, *values, **arguments)
        if not self.plans:
            return await run()
        return await changes.commit(service, run, partial(mail_limits.counted, service, call))

    async def carry_out_once(
        self,
        repeatable: Repeatable,
        service: Service,
        call: Call,
        *values: str,
        **arguments: object,
    ) -> tuple[bytes, bool]:
        """Carries out the operation unless a call with the same Idempotency-Key did. Returns the
        answer as JSON, and whether it is that of the earlier call. Raises the errors of the
        operation."""
        if not self.plans:
            answer = await self.carry_out(service, call, *values, **arguments)
            return msgspec.json.encode(answer), False
        plan = partial(self.run, service, call, *values, **arguments)
        limit = partial(mail_limits.counted, service, call)
        return await repeatable_calls.commit_once(service, repeatable, plan, limit)

    def path_values(self, values: Sequence[str]) -> list[str]:
        """Returns the values of the path parameters. Raises NotFound for one that can't be an
        id."""
        for name, value in zip(self.parameters, values, strict=True):
            is_long = len(value) > MAX_ID_CHARACTERS
            if name.endswith("Id") and (is_long or not value.isprintable()):
                raise NotFound("there is no record with this ID")
        return list(values)

    def arguments(self, document: object) -> dict[str, object]:
        """Returns the arguments of `run` for the decoded body, or the query parameters of a call
        without a body, None if there are none; not for a package. Raises InvalidArgument."""
        if self.query is not None:
            return {"request": reading.read(self.query, document or {})}
        if self.body == "document":
            return {"document": document}
        if self.request is None:
            return {}
        request = reading.read(self.request, document)
        return {"request": request} if self.body else {}

    @property
    def is_bulk(self) -> bool:
        """Whether the operation receives a package or returns a file, of any size."""
        return self.body == "package" or self.returns_file

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters in the path, in their order."""
        return _PARAMETER.findall(self.path)


def operation(
    address: str,
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
    read_ahead: ReadAhead = _read_nothing,
) -> Operation:
    """Returns the operation at an address (`POST /path`) that `run` carries out. Its request and
    answer structs are those in the annotations of `run`, unless `answer` is a more specific one.

    With `document` or `package`, `run` gets the body before it is validated (`Operation.body`),
    and the struct given here only describes it. The other parameters are fields of `Operation`.
    """
    method, path = address.split(" ")
    hints = get_type_hints(run.func if isinstance(run, partial) else run)
    body, request, query = _body_of(method, hints.get("request"), document, package)
    returned, plans = _answer_of(hints["return"])
    return Operation(
        method=cast(Method, method),
        path=path,
        permission=permission,
        run=run,
        name=name,
        summary=summary,
        answer=answer or returned,
        request=request,
        query=query,
        body=body,
        is_conditional=conditional,
        is_large=large,
        is_for_services=services,
        returns_file=returned is FileAnswer,
        plans=plans,
        lines=lines,
        read_ahead=read_ahead,
    )


def _body_of(
    method: str,
    request: type[Request] | None,
    document: type[Request] | None,
    package: type[Request] | None,
) -> tuple[Body, type[Request] | None, type[Request] | None]:
    """Returns the form of the body, its struct, and that of the query parameters."""
    if document is not None:
        return "document", document, None
    if package is not None:
        return "package", package, None
    body: Body = "request" if request is not None else ""
    if method not in _WITH_BODY:  # then the struct describes the query parameters
        return body, None, request
    return body, request or Nothing, None  # without a struct, the body is `{}`


def _answer_of(returned: Any) -> tuple[Any, bool]:
    """Returns the answer struct that a function returns, and whether it plans a change
    (`Change[…]`, `Planned[…]`)."""
    for option in (returned, *get_args(returned)):
        if get_origin(option) is Change:
            return get_args(option)[0], True
    return returned, False


def named_in(names: Mapping[str, object]) -> tuple[Operation, ...]:
    """Returns the operations among the values of a module's names, in their order."""
    return tuple(value for value in names.values() if isinstance(value, Operation))


def document_of(answer: Answer) -> dict[str, Any]:
    """Returns an answer as clients read it from JSON."""
    members: dict[str, Any] = _with_lists(msgspec.to_builtins(answer))
    return members


def _with_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_lists(member) for name, member in value.items()}
    return [_with_lists(item) for item in value] if isinstance(value, (list, tuple)) else value
