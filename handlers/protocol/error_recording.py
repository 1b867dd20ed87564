"""The base of protocol endpoints: stores a refused request with its cause before the refusal is
answered."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, ClassVar

from tornado.web import HTTPError

from handlers.http import hosts, params
from handlers.http.base import Handler, ProtocolHandler
from handlers.http.protocol_errors import METHOD_NOT_ALLOWED
from idp.audit import failure_events
from idp.credentials import rate_limits
from idp.foundation import logs, metrics
from idp.foundation.network_keys import client_key
from idp.oauth.authentication import claimed_client
from idp.oauth.endpoints import refusal_records
from idp.oauth.endpoints.check_order import Endpoint
from idp.oauth.endpoints.refusal_records import RefusedRequest
from idp.oauth.errors import (
    AuthorizationPending,
    InvalidClient,
    InvalidRequest,
    InvalidToken,
    OAuthError,
    RequestRefused,
    TooManyRequests,
)
from idp.oauth.refusals import explain, safe_display
from idp.oauth.refusals.check import METHOD


class RefusingHandler(Handler):
    """An endpoint that stores each request that it refuses, with the cause, for `idp explain`."""

    endpoint: ClassVar[Endpoint]
    _refusal_task: asyncio.Future[None] | None = None

    async def record_refusal(self, error: RequestRefused) -> None:
        """Stores this request with the error that is the cause of its refusal."""
        _log_check(error)
        await refusal_records.store(self.service, self._refused_request(), error)

    def send_error(self, status_code: int = 500, **kwargs: Any) -> None:
        """Sends an error response. If the error refuses the request, the refusal is stored
        first."""
        answer = partial(super().send_error, status_code, **kwargs)
        refusal = self._refusal(kwargs.get("exc_info", (None, None))[1])
        if isinstance(refusal, InvalidClient) and self._may_explain(refusal):
            refusal.explain_to_developer(self.request_id)
        # A second error of the same request is not stored.
        if refusal is None or self._refusal_task is not None:
            answer()
            return
        _log_check(refusal)
        check = refusal.check.name if refusal.check is not None else "none"
        code = refusal.code if isinstance(refusal, OAuthError) else "none"
        metrics.REFUSALS.count(self.endpoint, check, code)
        self._refusal_task = asyncio.ensure_future(self._record_and_answer(refusal, answer))

    def _may_explain(self, refusal: InvalidClient) -> bool:
        """Returns whether the response may name more of the cause, as the explain page does."""
        is_local_peer = hosts.is_local_peer(self.request)
        config, now = self.service.config, self.service.clock.now()
        return explain.may_explain(config, refusal.client, now, is_local_peer=is_local_peer)

    async def _record_and_answer(self, refusal: RequestRefused, answer: partial[None]) -> None:
        try:
            if not self._exceeds_limit(refusal):
                await self.record_refusal(refusal)
        # The client gets its answer even if the refusal cannot be stored.
        finally:
            answer()

    def _exceeds_limit(self, refusal: RequestRefused) -> bool:
        """Counts a failed client authentication or token. Returns True if the limit is reached:
        then the error states how long to wait, and is not stored."""
        if isinstance(refusal, InvalidClient):
            client_id = refusal.failed_id
            failure_events.client(self.service, client_id, self.address())
            seconds = rate_limits.refused_client(self.service, client_id, self.address())
        elif isinstance(refusal, InvalidToken) and refusal.description:
            seconds = rate_limits.refused_token(self.service, self.address())
        else:
            return False
        if seconds:
            refusal.set_too_many_attempts(seconds)
        return seconds > 0

    def _refusal(self, error: BaseException | None) -> RequestRefused | None:
        """Returns the refusal that is stored for an error; internal failures are only logged."""
        if isinstance(error, HTTPError) and error.status_code == 405:
            return self._wrong_method()
        if not isinstance(error, OAuthError):
            return None
        # These are frequent and expected.
        if isinstance(error, AuthorizationPending | TooManyRequests):
            return None
        return error if error.status < 500 else None

    def _wrong_method(self) -> RequestRefused:
        allowed = " or ".join(self.allowed_methods())
        method = safe_display.value("method", self.request.method or "") or "another method"
        details = f"The request came by {method}; this endpoint takes {allowed}."
        is_page = not isinstance(self, ProtocolHandler)
        refusal = InvalidRequest("" if is_page else METHOD_NOT_ALLOWED, details=details)
        refusal.check = METHOD
        return refusal

    def _refused_request(self) -> RefusedRequest:
        headers = self.request.headers
        pairs = [*self._pairs_of_query(), *self._pairs_of_form()]
        authorization = headers.get("Authorization")
        return RefusedRequest(
            request_id=self.request_id,
            endpoint=self.endpoint,
            method=self.request.method or "",
            pairs=pairs,
            authorization=authorization,
            content_type=headers.get("Content-Type"),
            client_id=claimed_client.name(authorization, dict(pairs).get("client_assertion")),
            sender=client_key(self.address()),
        )

    def _pairs_of_query(self) -> list[tuple[str, str]]:
        try:
            return self.query_params().pairs()
        except InvalidRequest:
            return []

    def _pairs_of_form(self) -> list[tuple[str, str]]:
        try:
            return params.parse_form(self.request.headers.get("Content-Type"), self.body).pairs()
        except (InvalidRequest, HTTPError):
            return []


def _log_check(refusal: RequestRefused) -> None:
    if refusal.check is not None:
        logs.bind(refused_check=refusal.check.name)
