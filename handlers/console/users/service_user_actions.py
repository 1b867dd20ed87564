"""The actions of the console's service user page: changes, states, tokens, keys and secrets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from handlers.console.actions import Action, ActionHandler, DisplayedOnce
from handlers.console.applications import client_secrets, registered_keys
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp import api
from idp.api.operation import Operation
from idp.credentials import expirations
from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.foundation.i18n import message

PATH: Final = "/service-users"
PAGE_PATH: Final = f"{PATH}/{{userId}}"
DEFAULT_DAYS: Final = 7
MAX_UNCONFIRMED_DAYS: Final = 90
_SECTION: Final = "service-users"
_IS_LONG: Final = "isLong"

_DELETE: Final = message("Delete", context="console")
_STOPS_WORKING: Final = message("It stops working immediately.", context="service-users")

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
        label=message("Username", context="console"),
        hint=message(
            "Must be unique in the installation, for example nightly-backup.",
            context="service-users",
        ),
        kind="name",
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
        "The last day on which the token works. Shorter lifetimes are safer.",
        context="service-users",
    ),
    kind="date",
    direction="ltr",
    is_required=True,
)
_LONG_FIELD: Final = FormField(
    path=_IS_LONG,
    label=message("Allow more than 90 days", context="service-users"),
    hint=message(
        "Anyone who finds the token can use it for that long.",
        context="service-users",
    ),
    kind="switch",
)


class PatHandler(ActionHandler):
    """Creates a personal access token. It expires in a week by default. The person has to confirm
    an expiration date that is more than 90 days away."""

    def initial_values(self, record: Document) -> Values:
        default = self.service.clock.now() + timedelta(days=DEFAULT_DAYS)
        last_day = min(default, self._latest())
        return {"expirationDate": f"{last_day:%Y-%m-%d}", _IS_LONG: False}

    def request_body(self, values: Values) -> Document:
        date = values["expirationDate"]
        if not date:
            raise InvalidArgument([FieldProblem("field.required", "expirationDate", "is missing")])
        unconfirmed_until = self.service.clock.now() + timedelta(days=MAX_UNCONFIRMED_DAYS)
        # Dates in this format compare as texts.
        if date[:10] > f"{unconfirmed_until:%Y-%m-%d}" and not values.get(_IS_LONG):
            reason = "is more than 90 days away"
            raise InvalidArgument([FieldProblem("pat.long", "expirationDate", reason)])
        return registered_keys.with_exact_expiry({"expirationDate": date}, self._latest())

    def _latest(self) -> datetime:
        """Returns the latest expiration that the installation allows for a token."""
        return expirations.latest(self.service.clock.now(), self.service.config.pat_max_days)

    def commands(self, ids: Sequence[str], values: Values) -> list[dict[str, object]]:
        date = values["expirationDate"] or self.initial_values({})["expirationDate"]
        # The command needs no confirmation: only the form asks for one.
        return super().commands(ids, {"expirationDate": date, _IS_LONG: True})


_COMMON: Final[dict[str, Any]] = {
    "section": _SECTION,
    "loads": api.users.READ,
    "name": "user.username",
}


def _change(name: str, operation: Operation, **fields: Any) -> Action:
    defaults: dict[str, Any] = {
        "path": f"{PAGE_PATH}/{name}",
        "operation": operation,
        "next_path": PAGE_PATH,
    }
    return Action(**(_COMMON | defaults | fields))


def _change_state(name: str, operation: Operation, **fields: Any) -> Action:
    """Returns an action that changes a service user's state."""
    return _change(name, operation, command=f"user {name} {{userId}}", **fields)


ACTIONS: Final = (
    Action(
        path=f"{PATH}/new",
        section=_SECTION,
        operation=api.service_users.CREATE,
        title=message("New service account", context="service-users"),
        button=message("Create the service account", context="service-users"),
        fields=_FIELDS,
        next_path=PAGE_PATH,
        confirmation="created",
        command="service-user create --user-name USER --name NAME",
    ),
    _change(
        "edit",
        api.service_users.CHANGE,
        title=message("Change the service account", context="service-users"),
        button=message("Save", context="console"),
        fields=_FIELDS,
        confirmation="saved",
        command="service-user change {userId} --name NAME",
    ),
    _change(
        "pats/new",
        api.service_users.CREATE_TOKEN,
        title=message("New access token", context="service-users"),
        button=message("Create the token", context="service-users"),
        intro=message(
            "Anyone who has the token can act as the service account until the token expires.",
            context="service-users",
        ),
        fields=(_EXPIRY, _LONG_FIELD),
        handler=PatHandler,
        shows=(DisplayedOnce("token", message("Personal access token", context="service-users")),),
        confirmation="created",
        command="pat create --user {userId} --expires 7d",
    ),
    _change(
        "pats/{tokenId}/delete",
        api.service_users.REMOVE_TOKEN,
        title=message("Revoke the token", context="service-users"),
        button=message("Revoke", context="console"),
        intro=_STOPS_WORKING,
        is_dangerous=True,
        confirmation="deleted",
        command="pat revoke --user {userId} {tokenId}",
    ),
    _change(
        "secret",
        api.service_users.GENERATE_SECRET,
        shows=(
            DisplayedOnce("clientId", message("Client ID", context="console")),
            DisplayedOnce("clientSecret", message("Client secret", context="applications")),
        ),
        command="service-user generate-secret {userId} --overlap 24h",
        **client_secrets.NEW_SECRET,
    ),
    _change(
        "secret/delete",
        api.service_users.REMOVE_SECRET,
        title=message("Delete the secret", context="service-users"),
        button=_DELETE,
        intro=_STOPS_WORKING,
        is_dangerous=True,
        confirmation="deleted",
        command="service-user remove-secret {userId}",
    ),
    client_secrets.end_action(
        PAGE_PATH,
        api.service_users.END_SECRET,
        "service-user end-secret --user {userId} {secretId}",
        **_COMMON,
    ),
    _change_state(
        "deactivate",
        api.users.DEACTIVATE,
        title=message("Deactivate the service account", context="service-users"),
        button=message("Deactivate", context="console"),
        intro=message("Its tokens are revoked and can't be restored.", context="service-users"),
        is_dangerous=True,
        confirmation="deactivated",
    ),
    _change_state(
        "reactivate",
        api.users.REACTIVATE,
        title=message("Reactivate the service account", context="service-users"),
        button=message("Reactivate", context="console"),
        confirmation="reactivated",
    ),
    _change_state(
        "unlock",
        api.users.UNLOCK,
        title=message("Unlock the service account", context="service-users"),
        button=message("Unlock", context="users"),
        confirmation="unlocked",
    ),
    _change(
        "delete",
        api.users.REMOVE,
        title=message("Delete the service account", context="service-users"),
        button=_DELETE,
        intro=message(
            "Its tokens, keys and roles are deleted. This can't be undone.",
            context="service-users",
        ),
        confirms=True,
        is_dangerous=True,
        next_path=PATH,
        confirmation="deleted",
        command="user delete {userId}",
    ),
    *registered_keys.actions(
        PAGE_PATH,
        api.service_users.CREATE_KEY,
        api.service_users.REMOVE_KEY,
        "--user {userId}",
        **_COMMON,
    ),
)
