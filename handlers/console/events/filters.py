"""The filters of the console's audit log, in its address."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct, structs

from handlers.console.base import ConsoleHandler
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp import api
from idp.audit import event_details
from idp.audit.event_types import TYPES, object_of
from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.foundation.i18n import Message, message


class EventGroup(Struct, frozen=True):
    """Events that are filtered together: those about these kinds of objects, or of these types."""

    label: Message
    kinds: tuple[str, ...] = ()
    types: tuple[str, ...] = ()

    def has(self, event_type: str) -> bool:
        return event_type in self.types or object_of(event_type) in self.kinds


_GROUPS: Final[Mapping[str, EventGroup]] = {
    "sign-ins": EventGroup(
        message("Sign-ins and tokens", context="events"),
        ("session", "token", "authorization", "consent", "device"),
    ),
    "refused": EventGroup(
        message("Refused attempts", context="events"), types=tuple(event_details.SENTENCES)
    ),
    "users": EventGroup(
        message("Users and their roles", context="events"),
        (
            "user",
            "user_key",
            "user_metadata",
            "pat",
            "passkey",
            "identity_link",
            "role_assignment",
            "membership",
            "group",
            "group_grant",
            "group_member",
        ),
    ),
    "applications": EventGroup(
        message("Applications and projects", context="events"),
        ("application", "app_key", "client", "project", "project_grant", "project_role"),
    ),
    "organizations": EventGroup(
        message("Organizations and domains", context="events"), ("organization", "domain")
    ),
    "settings": EventGroup(
        message("Policies, branding and texts", context="events"),
        (
            "label_policy",
            "lockout_policy",
            "language_policy",
            "login_policy",
            "login_text",
            "message_text",
            "password_age_policy",
            "password_complexity_policy",
            "picture",
            "privacy_policy",
            "policy",
        ),
    ),
    "connections": EventGroup(
        message("Connections", context="connections"),
        ("connection", "connection_test", "offered_connections"),
    ),
    "installation": EventGroup(
        message("Installation", context="console"),
        ("instance", "key", "audit", "export", "import", "mail", "network"),
    ),
}
FIELDS: Final = (
    FormField(
        path="editorUserId",
        label=message("By (username or ID)", context="events"),
        direction="auto",
    ),
    FormField(
        path="aggregateId", label=message("ID of the object", context="events"), direction="ltr"
    ),
    FormField(
        path="eventTypes",
        label=message("What", context="events"),
        kind="choice",
        options=[
            ("", message("Everything", context="events")),
            *((name, group.label) for name, group in _GROUPS.items()),
        ],
    ),
    FormField(path="since", label=message("From", context="events"), kind="day"),
    FormField(path="until", label=message("To", context="events"), kind="day"),
    FormField(path="requestId", label=message("Request ID", context="events"), direction="ltr"),
)


def fields(chosen: str) -> list[FormField]:
    """Returns the filters, of which the choice of types also has those in the chosen group or in
    that of the chosen type: a page with all of them would be heavy."""
    group = _GROUPS.get(chosen) or next(
        (each for each in _GROUPS.values() if each.has(chosen)), None
    )
    types = [(name, name) for name in TYPES if group and group.has(name)]
    return [
        structs.replace(field, options=[*field.options, *types])
        if field.path == "eventTypes"
        else field
        for field in FIELDS
    ]


async def query(
    page: ConsoleHandler, values: Values, zone: tzinfo, org_id: str | None
) -> Document:
    """Returns the search for events with these values of the filters; days are those of the time
    zone. Raises InvalidArgument for what is no day."""
    found = {name: values[name] for name in ("aggregateId", "requestId") if values[name]}
    if editor := values["editorUserId"]:
        found["editorUserId"] = await _user_id(page, editor, org_id) or editor
    if group := _GROUPS.get(values["eventTypes"]):
        found |= {"aggregateTypes": list(group.kinds), "eventTypes": list(group.types)}
    elif values["eventTypes"]:
        found["eventTypes"] = [values["eventTypes"]]
    return {**found, **_range(values, zone)}


async def _user_id(page: ConsoleHandler, login_name: str, org_id: str | None) -> str | None:
    """Returns the id of the user with this login name, if there is one."""
    queries = [{"loginNameQuery": {"loginName": login_name}}]
    try:
        answer = await page.run(api.users.SEARCH, document={"queries": queries}, org_id=org_id)
    except InvalidArgument:
        return None
    user_ids: list[str] = [user["userId"] for user in answer.get("result", ())]
    return user_ids[0] if user_ids else None


def _range(values: Values, zone: tzinfo) -> Document:
    """Returns the range of instants of the days, both included."""
    since, until = _day(values, "since"), _day(values, "until")
    instants = {}
    if since:
        instants["since"] = _start(since, zone)
    if until:
        instants["until"] = _start(until, zone, timedelta(days=1) - timedelta(microseconds=1))
    return {"range": {name: at.isoformat() for name, at in instants.items()}} if instants else {}


def _day(values: Values, name: str) -> date | None:
    if not values[name]:
        return None
    try:
        return date.fromisoformat(values[name])
    except ValueError:
        raise InvalidArgument([FieldProblem("field.timestamp", name, "is no date")]) from None


def _start(day: date, zone: tzinfo, later: timedelta = timedelta()) -> datetime:
    try:
        return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC) + later
    except OverflowError:  # the first or the last day that there is
        return datetime(day.year, day.month, day.day, tzinfo=UTC)
