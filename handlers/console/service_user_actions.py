"""What can be done with a service user, and with what it proves itself by."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from handlers.console import registered_keys
from handlers.console.actions import Action, Secret
from handlers.console.fields import Field, Values
from handlers.console.registered_keys import KeyHandler
from handlers.console.running import Document
from idp.errors import FieldProblem, InvalidArgument
from idp.i18n import Message, message

USERS: Final = "/management/v1/users"
USER: Final = f"{USERS}/{{userId}}"
PATH: Final = "/service-users"
ONE: Final = f"{PATH}/{{userId}}"
USUAL_DAYS: Final = 7
MANY_DAYS: Final = 90
_SECTION: Final = "service-users"
_IS_LONG: Final = "isLong"
_ANY: Final = "/v2/users/{userId}"

_NEW_FIELDS: Final = (
    Field(path="name", label=message("Name", context="console"), is_required=True),
    Field(
        path="userName",
        label=message("Login name", context="console"),
        hint=message("Unique in the whole installation: nightly-backup.", context="service-users"),
        is_required=True,
    ),
    Field(path="description", label=message("Description", context="service-users")),
    Field(
        path="accessTokenType",
        label=message("Access tokens", context="applications"),
        kind="choice",
        options=[
            ("ACCESS_TOKEN_TYPE_BEARER", message("Opaque", context="applications")),
            ("ACCESS_TOKEN_TYPE_JWT", message("JWT", context="applications")),
        ],
    ),
)
_EXPIRY: Final = Field(
    path="expirationDate",
    label=message("Valid until", context="console"),
    hint=message(
        "The last day on which it opens anything. The shorter, the better.",
        context="service-users",
    ),
    kind="date",
    direction="ltr",
    is_required=True,
)
_LONG: Final = Field(
    path=_IS_LONG,
    label=message("It may last longer than 90 days", context="service-users"),
    hint=message(
        "Whoever finds a token can use it for so long, and nobody remembers where it is.",
        context="service-users",
    ),
    kind="switch",
)


class PatHandler(KeyHandler):
    """A token has an end: in a week, unless another day is said; more than 90 days are meant."""

    def known(self, loaded: Document) -> Values:
        last = self.service.clock.now() + timedelta(days=USUAL_DAYS)
        return {"expirationDate": f"{last:%Y-%m-%d}", _IS_LONG: False}

    def document(self, values: Values) -> Document:
        date = values["expirationDate"]
        if not date:
            raise InvalidArgument([FieldProblem("field.required", "expirationDate", "is missing")])
        latest = self.service.clock.now() + timedelta(days=MANY_DAYS)
        if date[:10] > f"{latest:%Y-%m-%d}" and not values.get(_IS_LONG):
            told = "is more than 90 days away"
            raise InvalidArgument([FieldProblem("pat.long", "expirationDate", told)])
        return registered_keys.dated({"expirationDate": date})

    def commands(self, ids: Sequence[str], values: Values) -> list[dict[str, object]]:
        date = values["expirationDate"] or self.known({})["expirationDate"]
        return super().commands(ids, {"expirationDate": date, _IS_LONG: True})


def _change(name: str, operation: str, title: Message, button: Message, **more: Any) -> Action:
    usual = {"loads": f"GET {_ANY}", "name": "user.username", "then": ONE, "done": "saved"}
    return Action(
        path=f"{ONE}/{name}",
        section=_SECTION,
        operation=operation,
        title=title,
        button=button,
        **(usual | more),
    )


_MACHINE: Final[dict[str, Any]] = {
    "section": _SECTION,
    "loads": f"GET {_ANY}",
    "name": "user.username",
}

ACTIONS: Final = (
    Action(
        path=f"{PATH}/new",
        section=_SECTION,
        operation=f"POST {USERS}/machine",
        title=message("New service user", context="service-users"),
        button=message("Create the service user", context="service-users"),
        fields=_NEW_FIELDS,
        then=ONE,
        done="created",
        command="service-user create --user-name USER --name NAME",
    ),
    _change(
        "pats/new",
        f"POST {USER}/pats",
        message("New access token", context="service-users"),
        message("Make the token", context="service-users"),
        intro=message(
            "Whoever has the token can do what the service user may, until it ends.",
            context="service-users",
        ),
        fields=(_EXPIRY, _LONG),
        handler=PatHandler,
        shows=(Secret("token", message("Personal access token", context="service-users")),),
        done="created",
        command="pat create --user {userId} --expires 7d",
    ),
    _change(
        "pats/{tokenId}/delete",
        f"DELETE {USER}/pats/{{tokenId}}",
        message("Revoke the token", context="service-users"),
        message("Revoke", context="console"),
        intro=message("It opens nothing from then on.", context="service-users"),
        is_dangerous=True,
        done="deleted",
    ),
    _change(
        "secret",
        f"PUT {USER}/secret",
        message("New secret", context="applications"),
        message("Make a new secret", context="applications"),
        intro=message(
            "Another secret opens nothing from then on; tokens live on.", context="service-users"
        ),
        shows=(
            Secret("clientId", message("Client id", context="console")),
            Secret("clientSecret", message("Client secret", context="applications")),
        ),
        done="created",
    ),
    _change(
        "secret/delete",
        f"DELETE {USER}/secret",
        message("Delete the secret", context="service-users"),
        message("Delete", context="console"),
        intro=message("It opens nothing from then on.", context="service-users"),
        is_dangerous=True,
        done="deleted",
    ),
    _change(
        "deactivate",
        f"POST {_ANY}/deactivate",
        message("Deactivate the service user", context="service-users"),
        message("Deactivate", context="console"),
        intro=message("Its tokens end, and do not come back.", context="service-users"),
        is_dangerous=True,
        done="deactivated",
    ),
    _change(
        "reactivate",
        f"POST {_ANY}/reactivate",
        message("Reactivate the service user", context="service-users"),
        message("Reactivate", context="console"),
        done="reactivated",
    ),
    *registered_keys.actions(ONE, USER, **_MACHINE),
)
