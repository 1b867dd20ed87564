"""The base of the management API: strict JSON requests, JSON responses, one permission per
operation.

Every error has the same body, built in `idp/api/error_body.py` from the domain's errors.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from functools import partial
from os import SEEK_END
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct
from tornado.web import HTTPError

from handlers.http import api_errors, client_connection, if_match, response_parts
from handlers.http.base import Handler
from idp.api import error_body
from idp.api.operation import Operation
from idp.cached_reads import CachedReads
from idp.changes import repeatable_calls
from idp.changes.repeatable_calls import Repeatable
from idp.credentials import rate_limits
from idp.foundation import cancellation, json_bounds, strict_json
from idp.foundation.errors import FieldProblem, InvalidArgument, TooMany, Unauthenticated
from idp.identity.users.subjects import Subject
from idp.limits.admission import BULK, MANAGEMENT, PROTOCOL
from idp.management import call as management_call
from idp.management.call import Call
from idp.records import User
from idp.schema.answers import Answer, FileAnswer
from idp.transfer.package.uploads import Upload
from storage import deadline

PREFIXES: Final = ("/admin/", "/management/", "/v2/", "/assets/")
_TYPE: Final = re.compile(r'application/json *(; *charset=("?)utf-8\2 *)?', re.IGNORECASE)
_PARAMETER: Final = re.compile(r"\{\w+\}")
# Enough for some metadata of 500,000 characters each; a record is smaller.
LARGE_BODY_BYTES: Final = 4 * 1024 * 1024
# After so many bytes of a streamed body its time limit begins again.
_TIMER_RESTART_BYTES: Final = 1024 * 1024
# Received and ignored of a package that is refused, before the connection is closed, so that the
# client can read the answer.
_MAX_IGNORED_BYTES: Final = 8 * 1024 * 1024
_RETRY_AFTER_SECONDS: Final = 2
_UNLIMITED: Final = 2**63
_NDJSON: Final = "application/x-ndjson"
_MAX_INLINE_BYTES: Final = 32 * 1024  # of JSON, which the event loop parses within milliseconds


class _Details(Struct, frozen=True):
    sequence: str = ""


class _Sequenced(Struct, frozen=True):
    """The part of an answer that holds the record's version."""

    details: _Details = _Details()


class JsonHandler(Handler):
    """The base of endpoints that answer in JSON with the API's error bodies. Responses are not
    cached."""

    group = MANAGEMENT

    def set_default_headers(self) -> None:
        super().set_default_headers()
        self._headers["Cache-Control"] = "no-store"

    def decode_argument(self, value: bytes, name: str | None = None) -> str:
        """Decodes one part of the path. Invalid UTF-8 is replaced by U+FFFD, so that the request
        is answered like one for an unknown name."""
        return value.decode("utf-8", "replace")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        error = kwargs.get("exc_info", (None, None))[1]
        status, number = api_errors.numbers(error)
        self.set_status(status)
        if status == 401:
            self.set_header("WWW-Authenticate", api_errors.challenge(error))
        if status == 405:
            self.set_header("Allow", ", ".join(self.allowed_methods()))
        if status in (429, 503):
            seconds = getattr(error, "retry_after_seconds", _RETRY_AFTER_SECONDS)
            self.set_header("Retry-After", str(seconds))
        refusal, config = api_errors.visible_error(error, status), self.service.config
        self.answer(error_body.of(refusal, number, config.vendor, config.issuer, self.request_id))


class ApiHandler(JsonHandler):
    """Answers the requests to one path of the management API; `operations` has the operation for
    each HTTP method.

    `prepare` sets `call`, the authenticated and authorized call, before any of the body is
    received; if the body is late, the call is authorized again when it has arrived. `upload`
    receives the body of an operation that takes a file, None for any other.
    """

    operations: dict[str, Operation]
    call: Call
    prepares_for_body = True  # a package is stored as it arrives
    upload: Upload | None = None
    _is_running = _is_body_late = _was_new = False

    def initialize(self, operations: dict[str, Operation]) -> None:  # type: ignore[override]
        super().initialize()
        self.operations = operations
        self._ended = asyncio.Event()
        if management_call.is_refused(self.service, self.request.headers.get("Authorization")):
            # It needs nothing but the answer, and must not take the slots of those that do.
            self.group = PROTOCOL
        elif self._is_bulk():
            self.group = BULK

    async def prepare(self) -> None:
        """Authenticates the caller and checks the permission for the operation, before the body is
        received. Raises HTTPError, Unauthenticated, PermissionDenied, NotFound, InvalidArgument,
        TooMany."""
        preparation = super().prepare()
        if preparation is not None:
            await preparation
        operation = self.operations.get(self.request.method or "")
        if operation is None:
            raise HTTPError(405)
        try:
            self.call = await self._admitted_call()
        except Unauthenticated as error:
            self._count_refused_token(error)
            raise
        await self.slot.belongs_to(self.call.actor)
        if operation.is_for_services:
            management_call.check_service(self.call)
        if operation.body == "package":
            self._begin_upload()

    async def _admitted_call(self) -> Call:
        headers = self.request.headers
        self._is_body_late = not client_connection.of(self.request).has_arrived
        return await management_call.admit(
            self.service,
            headers.get("Authorization"),
            self.operation.permission,
            headers.get(f"x-{self.service.config.vendor}-orgid") or None,
            if_match.read(headers.get("If-Match"), is_conditional=self.operation.is_conditional),
            self._read_ahead,
        )

    async def _read_ahead(self, caller: Subject) -> CachedReads | None:
        """Reads what the operation needs in the caller's organization, and whether a call with the
        same Idempotency-Key was carried out; nothing if the body has not arrived."""
        if self._is_body_late:
            return None
        reads = CachedReads(self.service)
        await asyncio.gather(
            self._look_up_key(caller.user),
            self.operation.read_ahead(reads.service, caller.organization),
        )
        return reads

    async def _look_up_key(self, caller: User) -> None:
        key = self._idempotency_key
        if key is not None and self.operation.body != "package":
            self._was_new = await repeatable_calls.is_new(self.service, caller.id, key)

    @property
    def _idempotency_key(self) -> str | None:
        is_get = self.request.method == "GET"  # it may be repeated without a key
        return None if is_get else self.request.headers.get("Idempotency-Key")

    def _is_bulk(self) -> bool:
        """Whether the request moves more data than one answer's: an import or an export."""
        operation = self.operations.get(self.request.method or "")
        return operation is not None and (operation.is_bulk or self._accepts_lines(operation))

    def _accepts_lines(self, operation: Operation) -> bool:
        """Whether the client accepts the operation's records as a stream of lines."""
        has_lines = operation.lines is not None
        return has_lines and _NDJSON in self.request.headers.get("Accept", "")

    def wait_for_client(self) -> None:
        # A package is stored while it arrives, and that is work which the admission limits.
        if self.upload is None:
            super().wait_for_client()

    def _begin_upload(self) -> None:
        """Prepares to store a package of any size as it arrives. Raises HTTPError 415."""
        self._check_type()
        self.upload = Upload()
        # The connection's own refusal of a large body has no error body.
        client_connection.of(self.request).set_max_body_size(_UNLIMITED)

    def data_received(self, chunk: bytes) -> None:
        if self.upload is None:
            super().data_received(chunk)
            return
        self._received_bytes += len(chunk)
        if (
            self._received_bytes // _TIMER_RESTART_BYTES
            > (self._received_bytes - len(chunk)) // _TIMER_RESTART_BYTES
        ):
            self._restart_body_timer()
        if self._received_bytes <= self.max_body_bytes:
            self.upload.append(chunk)
        ignored = max(self._received_bytes - self.max_body_bytes, self.upload.ignored_bytes)
        if ignored > _MAX_IGNORED_BYTES and not self._finished:
            error = self.upload.refusal or HTTPError(413, "request body too large")
            status, _ = api_errors.numbers(error)
            self.send_error(status, exc_info=(type(error), error, None))

    def _end(self) -> None:
        super()._end()
        self._ended.set()
        self._delete_upload()

    def _delete_upload(self) -> None:
        """Deletes the stored body, unless the operation is still reading it."""
        if self.upload is not None:
            self.upload.abandon(is_read=self._is_running)

    def _count_refused_token(self, error: Unauthenticated) -> None:
        """Counts a request with a wrong token. Raises TooMany if too many came from its
        network."""
        if error.error_code == management_call.NO_TOKEN:
            return
        seconds = rate_limits.refused_token(self.service, self.address())
        if seconds:
            message = "too many wrong tokens came from this network"
            raise TooMany(message, retry_after_seconds=seconds) from error

    def allowed_methods(self) -> list[str]:
        return list(self.operations)

    @property
    def operation(self) -> Operation:
        return self.operations[self.request.method or ""]

    @property
    def max_body_bytes(self) -> int:
        config = self.service.config
        operation = self.operations.get(self.request.method or "")
        if operation is not None and operation.body == "package":
            return config.max_import_bytes
        is_large = operation is not None and operation.is_large
        return max(config.max_json_bytes, LARGE_BODY_BYTES) if is_large else config.max_json_bytes

    async def run(self, *values: str) -> None:
        """Runs the operation for the request's method and sends its answer. `values` are the path
        parameters."""
        self._is_running = True
        if self.group is BULK:  # its calls of the store are too many for one deadline
            deadline.end()
        try:
            if self._is_body_late:  # the caller may have lost the permission meanwhile
                self.call = await self._admitted_call()
            await self._run(*values)
        finally:
            self._is_running = False
            self._delete_upload()

    async def _run(self, *values: str) -> None:
        ids, arguments = self._path_values(values), await self._arguments()
        if self.operation.lines and self._accepts_lines(self.operation):
            await self._stream(self.operation.lines(self.service, self.call, *ids, **arguments))
            return
        carry_out = partial(self.operation.carry_out, self.service, self.call, *ids, **arguments)
        # An export into a file is cancelled if its caller disconnects.
        if self.operation.returns_file:
            await self._send_file(await cancellation.run_unless_set(self._ended, carry_out()))
            return
        key = self._idempotency_key
        if key is None:
            self._send_answer(msgspec.json.encode(await carry_out()))
            return
        answer, is_repeated = await self.operation.carry_out_once(
            self._repeatable(key, ids), self.service, self.call, *ids, **arguments
        )
        if is_repeated:
            self.set_header("Idempotency-Replayed", "true")
        self._send_answer(answer)

    get = post = put = delete = run

    async def _stream(self, answers: AsyncIterator[Answer]) -> None:
        """Answers with one line of JSON per record, at the speed at which the caller reads."""
        self._headers["Content-Type"] = _NDJSON
        async for answer in answers:
            self.write(msgspec.json.encode(answer) + b"\n")
            if sum(map(len, self._write_buffer)) > response_parts.PART_BYTES:
                await response_parts.send_written(self)
        self.finish()

    async def _send_file(self, answer: FileAnswer) -> None:
        """Answers with the file's content, at the speed at which the caller reads."""
        self._headers["Content-Type"] = "application/json"
        self.slot.yield_slot()  # the work is done
        with answer.file as file:
            self.set_header("Content-Length", str(file.seek(0, SEEK_END)))
            file.seek(0)
            while chunk := await asyncio.to_thread(file.read, response_parts.PART_BYTES):
                self.write(chunk)
                await response_parts.send_written(self)
        self.finish()

    def _path_values(self, values: tuple[str, ...]) -> list[str]:
        return self.operation.path_values(values)

    async def _arguments(self) -> dict[str, object]:
        """Returns the operation's arguments. Raises HTTPError 413, 415, InvalidArgument."""
        operation = self.operation
        if self.upload is not None:
            self._check_received()
            if self.upload.refusal is not None:
                raise self.upload.refusal
            return {"package": self.upload}
        if operation.query is not None:
            return operation.arguments(self._query())
        if operation.request is None:
            return {}
        if len(self.body) > _MAX_INLINE_BYTES:  # parsing it could block the event loop
            document = await asyncio.to_thread(self.document)
        else:
            document = self.document()
        return operation.arguments(document)

    def document(self) -> object:
        """Returns the decoded JSON body. Raises HTTPError 413, 415 and InvalidArgument."""
        self._check_type()
        if len(self.body) > _MAX_INLINE_BYTES:
            json_bounds.check(self.body)
        return strict_json.decode(self.body)

    def _query(self) -> dict[str, str]:
        """Returns the query parameters. Raises InvalidArgument for a repeated one."""
        pairs = parse_qsl(self.request.query, keep_blank_values=True, errors="replace")
        parameters = dict(pairs)
        for name in parameters:
            if sum(sent_name == name for sent_name, _ in pairs) > 1:
                message = "is repeated in the query"
                raise InvalidArgument([FieldProblem("field.duplicate", name[:100], message)])
        return parameters

    def _check_type(self) -> None:
        """Checks that the body is uncompressed JSON. Raises HTTPError 415."""
        headers = self.request.headers
        if not _TYPE.fullmatch(headers.get("Content-Type", "").strip(" \t")):
            raise HTTPError(415, "the content type must be application/json")
        if headers.get("Content-Encoding", "identity").lower() != "identity":
            raise HTTPError(415, "the body must not be compressed")

    def _repeatable(self, key: str, ids: Sequence[str]) -> Repeatable:
        request = self.request
        org_id = self.call.org_id or ""
        line = f"{request.method} {request.uri} {org_id} {self.call.if_match}\n"
        key = repeatable_calls.read_key(key)
        body = self.upload.digest.encode() if self.upload is not None else self.body
        sent = line.encode("utf-8", "replace") + body
        return Repeatable(self.call.actor, key, sent, ids, self._was_new)

    def _send_answer(self, answer: bytes) -> None:
        sequence = msgspec.json.decode(answer, type=_Sequenced).details.sequence
        if sequence:
            self.set_header("ETag", f'"{sequence}"')
        self._headers["Content-Type"] = "application/json"
        self.finish(answer)


class MissingApiHandler(JsonHandler):
    """Answers with 404 for a path below the management API's prefixes that has no operation."""

    def admit(self) -> None:
        super().admit()
        raise HTTPError(404, "there is nothing at this address")


def routes(operations: Sequence[Operation]) -> list[tuple[str, type[ApiHandler], dict[str, Any]]]:
    """Returns Tornado's routes of these operations: one for each path, with its operations by
    method."""
    by_path: dict[str, dict[str, Operation]] = {}
    for operation in operations:
        by_path.setdefault(operation.path, {})[operation.method] = operation
    return [
        (_PARAMETER.sub("([^/]+)", path), ApiHandler, {"operations": by_method})
        for path, by_method in by_path.items()
    ]


ROUTES = [(f"{prefix}.*", MissingApiHandler) for prefix in PREFIXES]
