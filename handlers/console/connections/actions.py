"""The actions of the console on connections, those of an organization and those of the
installation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from handlers.console.actions import Action, ActionHandler
from handlers.console.connections import trials
from handlers.console.connections.checks import list_of_checks
from handlers.console.connections.fields import TITLES, fields_of_kind
from handlers.console.connections.owners import BACK, OWNERS, ConnectionOwner
from handlers.forms import cells
from handlers.forms.fields import FormField, Values, value_at
from handlers.forms.run_operation import Document
from idp.foundation.i18n import message
from idp.oauth.params import Params
from idp.records.connections import ConnectionKind

CHECK_TITLE: Final = message("Check the connection", context="connections")
_CHECKS: Final = {
    "provider": message("Provider", context="connections"),
    "keys": message("Keys", context="console"),
    "client_authentication": message("Client secret", context="connections"),
}


class ChangeHandler(ActionHandler):
    """Changes a connection. Settings without a field in the form are unchanged."""

    _record: Document

    async def load(self, *ids: str) -> Document:
        self._record = await super().load(*ids)
        return self._record

    def request_body(self, values: Values) -> Document:
        stored = value_at(self._record, "idp.settings") or {}
        body = _without_empty_tenant(super().request_body(values))
        # The API derives the issuer of a preset again.
        if stored.get("preset") and body.get("issuer") == stored.get("issuer"):
            stored = {name: value for name, value in stored.items() if name != "issuer"}
            body.pop("issuer", None)
        if value_at(body, "tenant.tenantId"):
            stored = {name: value for name, value in stored.items() if name != "tenant"}
        return _merged(stored, body)


class NewHandler(ActionHandler):
    """Creates a connection."""

    def request_body(self, values: Values) -> Document:
        return _without_empty_tenant(super().request_body(values))


def _without_empty_tenant(body: Document) -> Document:
    """Removes an empty tenant from the body of a request, because the API refuses it."""
    if "tenant" in body and not body["tenant"].get("tenantId"):
        body.pop("tenant")
    return body


def _merged(stored: Mapping[str, Any], changes: Mapping[str, Any]) -> Document:
    merged = {**stored, **changes}
    for name, value in changes.items():
        if isinstance(value, dict) and isinstance(stored.get(name), dict):
            merged[name] = _merged(stored[name], value)
    return merged


def _of_kind(owner: ConnectionOwner, kind: ConnectionKind) -> tuple[Action, ...]:
    fields: tuple[FormField, ...] = fields_of_kind(kind)
    verb = kind.replace("_", "-")
    common: dict[str, Any] = {"section": owner.section, "fields": fields, "name": "idp.name"}
    return (
        Action(
            path=f"{owner.path}/new/{kind}",
            operation=owner.operations.create[kind],
            title=message("New connection", context="connections"),
            intro=TITLES[kind],
            button=message("Create the connection", context="connections"),
            handler=NewHandler,
            next_path=f"{owner.path}/{{id}}",
            confirmation="created",
            command=f"connection create {verb}{owner.option} --name NAME",
            **common,
        ),
        Action(
            path=f"{owner.page_path}/edit/{kind}",
            operation=owner.operations.change[kind],
            loads=owner.operations.read,
            title=message("Change the connection", context="connections"),
            button=message("Save", context="console"),
            handler=ChangeHandler,
            next_path=owner.page_path,
            confirmation="saved",
            command=f"connection change {verb}{owner.option} {{idpId}} --name NAME",
            **common,
        ),
    )


def _common(owner: ConnectionOwner) -> dict[str, Any]:
    """Returns the fields that all actions on an existing connection have in common."""
    return {
        "section": owner.section,
        "loads": owner.operations.read,
        "name": "idp.name",
    }


def _of_owner(owner: ConnectionOwner) -> tuple[Action, ...]:
    return (_check(owner), _test(owner), *_states(owner), _deletion(owner), *_offers(owner))


def _check(owner: ConnectionOwner) -> Action:
    return Action(
        path=f"{owner.page_path}/check",
        operation=owner.operations.check,
        title=CHECK_TITLE,
        intro=message(
            "Calls the provider with these settings. No user signs in.", context="connections"
        ),
        button=message("Check", context="connections"),
        handler=CheckHandler,
        next_path=owner.page_path,
        confirmation="saved",
        command=f"connection check{owner.option} {{idpId}}",
        **_common(owner),
    )


def _test(owner: ConnectionOwner) -> Action:
    return Action(
        path=f"{owner.page_path}/test",
        operation=owner.operations.test,
        title=trials.TITLE,
        intro=trials.INTRO,
        button=trials.BUTTON,
        handler=trials.TestStartHandler,
        next_path=owner.page_path,
        confirmation="saved",
        command=f"connection test{owner.option} {{idpId}}",
        **_common(owner),
    )


def _states(owner: ConnectionOwner) -> tuple[Action, ...]:
    common = _common(owner)
    return (
        Action(
            path=f"{owner.page_path}/activate",
            operation=owner.operations.activate,
            title=message("Activate the connection", context="connections"),
            button=message("Activate", context="connections"),
            next_path=owner.page_path,
            confirmation="reactivated",
            command=f"connection activate{owner.option} {{idpId}}",
            **common,
        ),
        Action(
            path=f"{owner.page_path}/deactivate",
            operation=owner.operations.deactivate,
            title=message("Deactivate the connection", context="connections"),
            intro=message(
                "Users who signed in with it are signed out. No one can sign in with it until it"
                " is active again.",
                context="connections",
            ),
            button=message("Deactivate", context="console"),
            is_dangerous=True,
            next_path=owner.page_path,
            confirmation="deactivated",
            command=f"connection deactivate{owner.option} {{idpId}}",
            **common,
        ),
    )


def _deletion(owner: ConnectionOwner) -> Action:
    return Action(
        path=f"{owner.page_path}/delete",
        operation=owner.operations.remove,
        title=message("Delete the connection", context="connections"),
        intro=message(
            "A connection with linked users can only be deactivated.",
            context="connections",
        ),
        button=message("Delete", context="console"),
        is_dangerous=True,
        next_path=owner.path,
        confirmation="deleted",
        command=f"connection delete{owner.option} {{idpId}}",
        **_common(owner),
    )


def _offers(owner: ConnectionOwner) -> tuple[Action, ...]:
    common = _common(owner)
    return (
        Action(
            path=f"{owner.page_path}/offer",
            operation=owner.operations.offer,
            title=message("Offer the connection", context="connections"),
            intro=message("The sign-in pages show a button for it.", context="connections"),
            button=message("Offer", context="connections"),
            handler=OfferConnectionHandler,
            next_path=owner.page_path,
            confirmation="saved",
            command=f"connection offer{owner.option} --idp-id {{idpId}}",
            **common,
        ),
        Action(
            path=f"{owner.page_path}/withdraw",
            operation=owner.operations.withdraw,
            title=message("Withdraw the connection", context="connections"),
            button=message("Withdraw", context="connections"),
            next_path=owner.page_path,
            confirmation="saved",
            command=f"connection withdraw{owner.option} {{idpId}}",
            **common,
        ),
    )


class OfferConnectionHandler(ActionHandler):
    """Lets the sign-in pages offer the connection that the address names."""

    _record: Document

    async def load(self, *ids: str) -> Document:
        self._record = await super().load(*ids)
        return self._record

    def request_body(self, values: Values) -> Document:
        connection = self._record["idp"]
        return {"idpId": connection["id"], "ownerType": connection["owner"]}

    def command(self) -> str:
        # The operation's body names the connection, not its path.
        return super().command().replace("{idpId}", str(self._record["idp"]["id"]))


class CheckHandler(ActionHandler):
    """Checks a connection, and displays the result of each check."""

    async def submit(self, form: Params, *ids: str) -> None:
        self._check_permission()
        record = await self.load(*ids)
        # Without an idempotency key: a form that is sent again checks the provider as it is now.
        operation = self.action.operation
        answer = await self.run(operation, *self._ids_of(operation, ids))
        self.object_page(
            CHECK_TITLE,
            intro=self._name_of(record),
            actions=[cells.action_link(BACK, self._next(ids, record))],
            page_parts=[
                list_of_checks(
                    (_CHECKS.get(each["name"]) or each["name"], each) for each in answer["checks"]
                )
            ],
            commands=self.commands(ids, {}),
        )


ACTIONS: Final = tuple(
    action
    for owner in OWNERS
    for part in (*(_of_kind(owner, kind) for kind in TITLES), _of_owner(owner))
    for action in part
)
