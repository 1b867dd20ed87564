"""The outbox for operators: the messages that wait, those that failed with the reasons, and those
to be sent again.

No answer contains an address or any text of a message.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, get_args

from msgspec import structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.changes import Change
from idp.foundation.errors import FailedPrecondition, FieldProblem, NotFound
from idp.mail import messages
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.search import MAX_FILTERS, Search, SearchDetails
from idp.records import OUTBOX, MailKind, MailState, OutboxMessage
from idp.schema.answers import Answer
from idp.schema.field_rules import Items, Name, OneOf
from idp.schema.reading import Request
from idp.search.query_planner import Filter
from idp.service import Service
from storage import Update

RETRIED: Final[tuple[MailState, ...]] = ("failed", "queued", "held")


class MessageStateQuery(Request, frozen=True, kw_only=True):
    state: Annotated[str, OneOf(get_args(MailState))]


class KindQuery(Request, frozen=True, kw_only=True):
    kind: Annotated[str, OneOf(get_args(MailKind))]


class MessageUserIdQuery(Request, frozen=True, kw_only=True):
    user_id: Name


class MessageQuery(Request, frozen=True, kw_only=True):
    """A filter: exactly one member must be sent."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("state_query", "kind_query", "user_id_query"),
    )

    state_query: MessageStateQuery | None = None
    kind_query: KindQuery | None = None
    user_id_query: MessageUserIdQuery | None = None

    def check(self) -> Iterator[FieldProblem]:
        if all(value is None for value in structs.astuple(self)):
            yield FieldProblem("field.required", "", "must contain one filter")

    @property
    def filter(self) -> Filter:
        """The condition on the records of messages that the query's one field states."""
        if self.state_query:
            return Filter(path="state", value=self.state_query.state)
        if self.kind_query:
            return Filter(path="kind", value=self.kind_query.kind)
        user_id = self.user_id_query.user_id if self.user_id_query else None
        return Filter(path="user_id", value=user_id)


class MessageSearch(Search, frozen=True, kw_only=True):
    """A search for the records that match all filters."""

    queries: Annotated[list[MessageQuery], Items(MAX_FILTERS)] = []


class MessageView(Answer, frozen=True, kw_only=True):
    """A message. `lastError` is the reason for which the last attempt failed, `nextAttemptDate`
    the time of the next one.
    """

    id: str
    kind: str
    state: str
    creation_date: datetime
    attempts: int
    user_id: str = ""
    last_error: str = ""
    next_attempt_date: datetime | None = None


class MessagesFound(Answer, frozen=True, kw_only=True):
    """A page of results. `nextCursor` is present if there may be more."""

    details: SearchDetails
    result: list[MessageView] = []
    next_cursor: str = ""


class Retried(Answer, frozen=True, kw_only=True):
    letter: MessageView


async def search(service: Service, call: Call, request: MessageSearch) -> MessagesFound:
    """Returns messages of the last seven days: waiting, sent, failed or held.

    Raises InvalidArgument (the cursor).
    """
    filters = [each.filter for each in request.queries]
    page = await management_search.find(
        service, OUTBOX, request.query, filters, order="created_at"
    )
    return MessagesFound(
        details=page.details,
        result=[_view(message) for message in page.records],
        next_cursor=page.next_cursor,
    )


async def retry(service: Service, call: Call, mail_id: str) -> Change[Retried]:
    """Queues a message to be sent now, if it failed, waits for its next attempt, or was held.

    Raises NotFound; FailedPrecondition if it is sent or being sent, or if nothing is configured by
    which it could be sent.
    """
    message = await service.store.get(OUTBOX, mail_id)
    if message is None:
        raise NotFound("there is no such message", error_code="mail.not_found")
    if message.state not in RETRIED:
        raise FailedPrecondition(
            "the message is sent or is being sent", error_code="mail.not_waiting"
        )
    if not messages.is_sent(service.config, message.kind):
        raise FailedPrecondition("no server is set up to send it", error_code="mail.off")
    now = service.clock.now()
    changed: dict[str, Any] = {"state": "queued", "due_at": now, "attempts": 0}
    # A delivery that began meanwhile changes one of these, and the unit is refused.
    expected = {name: getattr(message, name) for name in ("state", "attempts", "sequence")}
    entry = AuditEntry("mail.retried", call.actor, now)
    return Change(
        Retried(letter=_view(structs.replace(message, **changed))),
        [
            Update(OUTBOX, message.id, set=changed, increment={"sequence": 1}, expect=expected),
            events.changed(service.random, OUTBOX, message, entry),
        ],
    )


def _view(message: OutboxMessage) -> MessageView:
    return MessageView(
        id=message.id,
        kind=message.kind,
        state=message.state,
        creation_date=message.created_at,
        attempts=message.attempts,
        user_id=message.user_id or "",
        last_error=message.last_error,
        next_attempt_date=message.due_at if message.state == "queued" else None,
    )
