"""The figures of the console's first page: of an organization, or of the whole installation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any, Final, NamedTuple

from handlers.console import plots
from handlers.console.base import ConsoleHandler
from handlers.console.plots import Figures, PlotContext, Series
from handlers.console.sections import CONSOLE
from idp import api
from idp.foundation.i18n import Bundle, Message, message
from idp.foundation.localization import local_time
from idp.management.instance import usage
from idp.usage.counts import LENGTHS, Kind, Step, begin
from storage import COUNT_CAP

Numbers = dict[str, list[int]]


class Period(NamedTuple):
    """The hours or days that plots show, up to now."""

    step: Step
    number: int


PERIODS: Final = {
    "24h": Period("HOUR", 24),
    "7d": Period("DAY", 7),
    "30d": Period("DAY", 30),
    "90d": Period("DAY", 90),
}
DEFAULT: Final = "30d"
_TABLE: Final = "table"  # the view without plots
_DAY: Final = timedelta(days=1)
_PLOTTED: Final[tuple[Kind, ...]] = ("sign_in", "sign_in_failed", "active_day", "registration")
_SIGN_INS: Final = message("Sign-ins", context="figures")
_FAILURES: Final = message("Failed attempts", context="figures")
_ACTIVE_USERS: Final = message("Active users", context="figures")
_FIRST_SIGN_INS: Final = message("First sign-ins of the day", context="figures")
_REGISTRATIONS: Final = message("Registrations", context="figures")


async def values(
    handler: ConsoleHandler, org_id: str | None, bundle: Bundle, zone: tzinfo
) -> dict[str, Any]:
    """Returns the values of the figures for a page in this language and time zone: of the
    organization, or without `org_id` of the installation. The address says the period. Raises
    IdpError."""
    name = handler.query_params().if_once("range") or DEFAULT
    name = name if name in PERIODS else DEFAULT
    step, number = PERIODS[name]
    begun = begin(step, handler.service.clock.now()) - (number - 1) * LENGTHS[step]
    times = [begun + place * LENGTHS[step] for place in range(number)]
    numbers, stats = await asyncio.gather(
        _read(handler, org_id, _PLOTTED, step, begun), _stats(handler, org_id, bundle.tag)
    )
    context = PlotContext(times, step, bundle, zone)
    view = {"view": _TABLE} if handler.query_params().if_once("view") == _TABLE else {}
    other_view = {} if view else {"view": _TABLE}
    drawn = _table(numbers, context) if view else _plots(numbers, context)
    return {
        "stats": stats,
        "periods": [_period(handler, each, name, bundle.tag, view) for each in PERIODS],
        "view_url": handler.url_of(CONSOLE, range=name, **other_view),
        **drawn,
    }


def _period(
    handler: ConsoleHandler, name: str, current: str, tag: str, view: Mapping[str, str]
) -> dict[str, object]:
    step, number = PERIODS[name]
    length = local_time.hours if step == "HOUR" else local_time.days
    return {
        "text": length(number, tag),
        "url": handler.url_of(CONSOLE, range=name, **view),
        "is_current": name == current,
    }


async def _read(
    handler: ConsoleHandler, org_id: str | None, kinds: Sequence[Kind], step: Step, begun: datetime
) -> Numbers:
    """Returns the numbers of each kind in the hours or days from `begun` to now."""
    query = {"kinds": list(kinds), "from": f"{begun:%Y-%m-%dT%H:%M:%SZ}", "step": step}
    document = {**query, "orgId": org_id} if org_id else query
    answer = await handler.run(api.usage.SEARCH, document=document, org_id=None)
    return {
        series["kind"]: [int(figure["count"]) for figure in series["figures"]]
        for series in answer["result"]
    }


def _plots(numbers: Numbers, context: PlotContext) -> dict[str, Any]:
    sign_ins, users = _figures(numbers, context)
    drawn = [plots.values("lines", sign_ins, context), plots.values("bars", users, context)]
    return {"plots": drawn, "table": None}


def _table(numbers: Numbers, context: PlotContext) -> dict[str, Any]:
    return {"plots": [], "table": plots.table(_figures(numbers, context), context)}


def _figures(numbers: Numbers, context: PlotContext) -> tuple[Figures, Figures]:
    """Returns the figures of each plot."""
    sign_ins = Figures(
        message("Sign-ins and failed attempts", context="figures"),
        (Series(_SIGN_INS, numbers["sign_in"]), Series(_FAILURES, numbers["sign_in_failed"])),
        message("No sign-ins in this period yet.", context="figures"),
    )
    active = _FIRST_SIGN_INS if context.step == "HOUR" else _ACTIVE_USERS
    users = Figures(
        message("Active users and registrations", context="figures"),
        (Series(active, numbers["active_day"]), Series(_REGISTRATIONS, numbers["registration"])),
        message("No active users in this period yet.", context="figures"),
    )
    return sign_ins, users


async def _stats(handler: ConsoleHandler, org_id: str | None, tag: str) -> list[dict[str, object]]:
    """Returns the numbers of users, and of today with those of yesterday at the same hour."""
    today = begin("DAY", handler.service.clock.now())
    days, hours, users = await asyncio.gather(
        _read(handler, org_id, ("active_month", "active_day"), "DAY", today.replace(day=1)),
        _read(handler, org_id, ("sign_in", "sign_in_failed"), "HOUR", today - _DAY),
        usage.count_users(handler.service, org_id),
    )
    active_now = local_time.number(days["active_day"][-1], tag)
    active_today = message("%(number)s today", context="figures", number=active_now)
    all_users = local_time.number(users, tag) + ("+" if users >= COUNT_CAP else "")
    active = local_time.number(sum(days["active_month"]), tag)
    return [
        _stat(message("Users and service accounts", context="figures"), "users", all_users),
        _stat(message("Active this month", context="figures"), "user", active, active_today),
        _today(message("Sign-ins today", context="figures"), "activity", hours["sign_in"], tag),
        _today(
            message("Failed attempts today", context="figures"),
            "circle-alert",
            hours["sign_in_failed"],
            tag,
        ),
    ]


def _today(label: Message, icon: str, hours: Sequence[int], tag: str) -> dict[str, object]:
    """Returns the number of today; `hours` are those of yesterday and today."""
    today = hours[24:]
    change = sum(today) - sum(hours[: len(today)])
    detail = message("Same as yesterday at this time", context="figures")
    if change:
        detail = message(
            "%(change)s compared with yesterday at this time",
            context="figures",
            change=local_time.number(change, tag, is_change=True),
        )
    return _stat(label, icon, local_time.number(sum(today), tag), detail)


def _stat(
    label: Message, icon: str, number: str, detail: Message | None = None
) -> dict[str, object]:
    return {"label": label, "icon": icon, "number": number, "detail": detail}
