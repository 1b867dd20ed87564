"""Figures over time: sign-ins and the like, of an organization or of the whole installation."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Final, cast

import msgspec

from idp.foundation.errors import FieldProblem, InvalidArgument, PermissionDenied
from idp.management import call as management_call
from idp.management.call import Call
from idp.records import USERS
from idp.schema.answers import Answer
from idp.schema.field_rules import Instant, OneOf, Text
from idp.schema.reading import Request
from idp.service import Service
from idp.usage import counts
from idp.usage.counts import KINDS, LENGTHS, Kind, Step

MAX_FIGURES: Final = 360


class UsageQuery(Request, frozen=True, kw_only=True):
    """A search for figures of hours or days of UTC, from the one that contains `from` to the one
    that contains `to`, by default now: of the organization `orgId`; without it of the call's
    organization, or of the installation if the call names none. Without `kinds` all kinds are
    returned. One answer has at most 360 figures.
    """

    org_id: Annotated[str, Text()] = ""
    kinds: list[Annotated[str, OneOf(KINDS)]] = []
    from_date: Annotated[datetime, Instant()] = msgspec.field(name="from")
    to: Annotated[datetime, Instant()] | None = None
    step: Step = "DAY"

    def check(self) -> Iterable[FieldProblem]:
        """Yields the problem of a range that ends before it begins."""
        if self.from_date is not None and self.to is not None and self.to < self.from_date:
            yield FieldProblem("usage.order", "to", "is before the instant in from")


class UsageFigure(Answer, frozen=True, kw_only=True):
    """The number of an hour or day, which begins at `time`."""

    time: datetime
    count: str


class UsageSeries(Answer, frozen=True, kw_only=True):
    """The figures of one kind, in the order of time, and their sum."""

    kind: str
    total: str
    figures: list[UsageFigure] = []


class UsageFound(Answer, frozen=True, kw_only=True):
    result: list[UsageSeries] = []


async def search(service: Service, call: Call, request: UsageQuery) -> UsageFound:
    """Returns the figures of an organization, or of the installation to callers who may read the
    installation. They are approximate.

    Raises InvalidArgument, PermissionDenied, NotFound (the organization).
    """
    org_id = await _org_id(service, call, request)
    step, kinds = request.step, cast(list[Kind], list(dict.fromkeys(request.kinds or KINDS)))
    times = _times(request, request.to or service.clock.now(), len(kinds))
    found = await counts.read(service, org_id, kinds, step, times)
    return UsageFound(
        result=[
            UsageSeries(
                kind=kind,
                total=str(sum(numbers)),
                figures=[
                    UsageFigure(time=time, count=str(number))
                    for time, number in zip(times, numbers, strict=True)
                ],
            )
            for kind, numbers in found.items()
        ]
    )


async def _org_id(service: Service, call: Call, request: UsageQuery) -> str | None:
    org_id = request.org_id or call.org_id
    if org_id is not None:
        return (await management_call.find_organization(service, call, org_id, "orgId")).id
    if "iam.read" not in call.rights.everywhere:
        raise PermissionDenied("the permission iam.read is missing")
    return None


async def count_users(service: Service, org_id: str | None) -> int:
    """Returns the number of users, service users included, up to `COUNT_CAP`: of the organization,
    or without `org_id` of the installation."""
    return await service.store.count(USERS, {"org_id": org_id} if org_id else None)


def _times(request: UsageQuery, to: datetime, kinds: int) -> list[datetime]:
    """Returns the beginnings of the hours or days, none if all are in the future. Raises
    InvalidArgument if one answer can't have their figures."""
    step = request.step
    begun, length = counts.begin(step, request.from_date), LENGTHS[step]
    number = (counts.begin(step, to) - begun) // length + 1
    if number * kinds > MAX_FIGURES:
        text = f"begins a range of {number * kinds} figures; {MAX_FIGURES} are allowed"
        raise InvalidArgument([FieldProblem("usage.range", "from", text)])
    return [begun + place * length for place in range(number)]
