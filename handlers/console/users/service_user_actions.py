"""The actions of the console's service user page: changes, states, tokens, keys and secrets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from handlers.console.actions import Action, ActionHandler, DisplayedOnce
from handlers.console.applications import client_secrets, registered_keys
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp.credentials import expirations
from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.foundation.i18n import Message, message

USERS: Final = "/management/v1/users"
USER: Final = f"{USERS}/{{userId}}"
PATH: Final = "/service-users"
ONE: Final = f"{PATH}/{{userId}}"
USUAL_DAYS: Final = 7
MANY_DAYS: Final = 90
_SECTION: Final = "service-users"
_IS_LONG: Final = "isLong"
_ANY: Final = "/v2/users/{userId}"

_DELETE: Final = message("Delete", context="console")
_NO_MORE: Final = message("It opens nothing from then on.", context="service-users")

_FIELDS: Final = (
    FormField(
        path="name",
        source="user.machine.name",
        label=message("Name", context="console"),
        is_required=True,
    ),
    FormField(
        path="userName",
        source="user.username",
        label=message("Login name", context="console"),
        hint=message("Unique in the whole installation: nightly-backup.", context="service-users"),
        is_required=True,
    ),
    FormField(
        path="description",
        source="user.machine.description",
        label=message("Description", context="service-users"),
        is_sent_empty=True,
    ),
    FormField(
        path="accessTokenType",
        source="user.machine.accessTokenType",
        label=message("Access tokens", context="applications"),
        kind="choice",
        options=[
            ("ACCESS_TOKEN_TYPE_BEARER", message("Opaque", context="applications")),
            ("ACCESS_TOKEN_TYPE_JWT", message("JWT", context="applications")),
        ],
    ),
)
_EXPIRY: Final = FormField(
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
_LONG: Final = FormField(
    path=_IS_LONG,
    label=message("It may last longer than 90 days", context="service-users"),
    hint=message(
        "Whoever finds a token can use it for so long, and nobody remembers where it is.",
        context="service-users",
    ),
    kind="switch",
)


class PatHandler(ActionHandler):
    """Creates a personal access token. It expires in a week by default; for more than 90 days, the
    person has to confirm."""

    def initial_values(self, loaded: Document) -> Values:
        usual = self.service.clock.now() + timedelta(days=USUAL_DAYS)
        last = min(usual, self._latest())
        return {"expirationDate": f"{last:%Y-%m-%d}", _IS_LONG: False}

    def request_body(self, values: Values) -> Document:
        date = values["expirationDate"]
        if not date:
            raise InvalidArgument([FieldProblem("field.required", "expirationDate", "is missing")])
        many = self.service.clock.now() + timedelta(days=MANY_DAYS)
        # Dates in this format compare as texts.
        if date[:10] > f"{many:%Y-%m-%d}" and not values.get(_IS_LONG):
            reason = "is more than 90 days away"
            raise InvalidArgument([FieldProblem("pat.long", "expirationDate", reason)])
        return registered_keys.dated({"expirationDate": date}, self._latest())

    def _latest(self) -> datetime:
        """Returns the latest expiration that the installation allows for a token."""
        return expirations.latest(self.service.clock.now(), self.service.config.pat_max_days)

    def commands(self, ids: Sequence[str], values: Values) -> list[dict[str, object]]:
        date = values["expirationDate"] or self.initial_values({})["expirationDate"]
        # The confirmation belongs to the form only, so the command does without it.
        return super().commands(ids, {"expirationDate": date, _IS_LONG: True})


_MACHINE: Final[dict[str, Any]] = {
    "section": _SECTION,
    "loads": f"GET {_ANY}",
    "name": "user.username",
}


def _change(name: str, operation: str, **more: Any) -> Action:
    usual = {"path": f"{ONE}/{name}", "operation": operation, "then": ONE}
    return Action(**(_MACHINE | usual | more))


def _change_state(name: str, title: Message, button: Message, **more: Any) -> Action:
    """Returns an action that changes a service user's state."""
    command = f"user {name} {{userId}}"
    return _change(
        name, f"POST {_ANY}/{name}", title=title, button=button, command=command, **more
    )


ACTIONS: Final = (
    Action(
        path=f"{PATH}/new",
        section=_SECTION,
        operation=f"POST {USERS}/machine",
        title=message("New service user", context="service-users"),
        button=message("Create the service user", context="service-users"),
        fields=_FIELDS,
        then=ONE,
        done="created",
        command="service-user create --user-name USER --name NAME",
    ),
    _change(
        "edit",
        f"PUT {USER}/machine",
        title=message("Change the service user", context="service-users"),
        button=message("Save", context="console"),
        fields=_FIELDS,
        done="saved",
        command="service-user change {userId} --name NAME",
    ),
    _change(
        "pats/new",
        f"POST {USER}/pats",
        title=message("New access token", context="service-users"),
        button=message("Make the token", context="service-users"),
        intro=message(
            "Whoever has the token can do what the service user may, until it ends.",
            context="service-users",
        ),
        fields=(_EXPIRY, _LONG),
        handler=PatHandler,
        shows=(DisplayedOnce("token", message("Personal access token", context="service-users")),),
        done="created",
        command="pat create --user {userId} --expires 7d",
    ),
    _change(
        "pats/{tokenId}/delete",
        f"DELETE {USER}/pats/{{tokenId}}",
        title=message("Revoke the token", context="service-users"),
        button=message("Revoke", context="console"),
        intro=_NO_MORE,
        is_dangerous=True,
        done="deleted",
        command="pat revoke --user {userId} {tokenId}",
    ),
    _change(
        "secret",
        f"PUT {USER}/secret",
        shows=(
            DisplayedOnce("clientId", message("Client id", context="console")),
            DisplayedOnce("clientSecret", message("Client secret", context="applications")),
        ),
        command="service-user generate-secret {userId} --overlap 24h",
        **client_secrets.NEW,
    ),
    _change(
        "secret/delete",
        f"DELETE {USER}/secret",
        title=message("Delete the secret", context="service-users"),
        button=_DELETE,
        intro=_NO_MORE,
        is_dangerous=True,
        done="deleted",
        command="service-user remove-secret {userId}",
    ),
    client_secrets.end(
        ONE, USER, "service-user end-secret --user {userId} {secretId}", **_MACHINE
    ),
    _change_state(
        "deactivate",
        message("Deactivate the service user", context="service-users"),
        message("Deactivate", context="console"),
        intro=message("Its tokens end, and do not come back.", context="service-users"),
        is_dangerous=True,
        done="deactivated",
    ),
    _change_state(
        "reactivate",
        message("Reactivate the service user", context="service-users"),
        message("Reactivate", context="console"),
        done="reactivated",
    ),
    _change_state(
        "unlock",
        message("Let the service user in again", context="service-users"),
        message("Unlock", context="users"),
        done="unlocked",
    ),
    _change(
        "delete",
        f"DELETE {_ANY}",
        title=message("Delete the service user", context="service-users"),
        button=_DELETE,
        intro=message(
            "Its tokens, keys and roles go with it. There is no way back.",
            context="service-users",
        ),
        confirms=True,
        is_dangerous=True,
        then=PATH,
        done="deleted",
        command="user delete {userId}",
    ),
    *registered_keys.actions(ONE, USER, "--user {userId}", **_MACHINE),
)
