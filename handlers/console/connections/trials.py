"""The console's test of a connection: its start, and the page of its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from handlers.console.actions import ActionHandler
from handlers.console.base import ConsoleHandler
from handlers.console.connections.checks import list_of_checks
from handlers.console.connections.owners import BACK, OF_INSTANCE, OF_ORGANIZATION, ConnectionOwner
from handlers.console.sections import CONSOLE
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, labelled_cell, sub_list
from handlers.forms.run_operation import Document
from idp.foundation.i18n import Message, message
from idp.oauth.params import Params

TITLE: Final = message("Test the connection", context="connections")
INTRO: Final = message(
    "You sign in with the provider, and then see what a sign-in would do. No user is changed.",
    context="connections",
)
BUTTON: Final = message("Test", context="connections")
_RESULT_TITLE: Final = message("Result of the test", context="connections")
_AGAIN: Final = message("Test again", context="test-sign-in")
_RELOAD: Final = message("Reload", context="connections")
_CLAIM: Final = message("Claim", context="connections")
_SOURCE: Final = message("Source", context="connections")
_FIELD: Final = message("Field", context="connections")
_VALUE: Final = message("Value", context="policies")
_STATES: Final[Mapping[str, tuple[Message, str | None]]] = {
    "waiting": (message("Waiting for the sign-in", context="connections"), None),
    "running": (message("In progress", context="connections"), None),
    "finished": (message("Finished", context="connections"), "good"),
    "expired": (message("Expired", context="connections"), "warning"),
}
_DECISIONS: Final[Mapping[str, Message]] = {
    "sign_in": message("Sign in the linked user", context="connections"),
    "create": message("Create a user", context="connections"),
    "ask": message("Ask the user to create or link an account", context="connections"),
    "refuse": message("Refuse the sign-in", context="connections"),
}
_EMAIL_TRUST: Final[Mapping[str, Message]] = {
    "trusted": message("Verified", context="connections"),
    "none": message("None", context="connections"),
    "other_claim": message(
        "Not verified: it does not come from the claim email", context="connections"
    ),
    "not_verified": message("Not verified by the provider", context="connections"),
    "domain_not_trusted": message(
        "Not verified: its domain is not trusted", context="connections"
    ),
    "hosted_domain": message(
        "Not verified: its domain is not the hosted domain", context="connections"
    ),
}


class TestStartHandler(ActionHandler):
    """Starts a test, and opens the page from which this browser begins it."""

    async def submit(self, form: Params, *ids: str) -> None:
        self._check_permission()
        operation = self.action.operation
        # Without an idempotency key: a form that is sent again starts another test.
        answer = await self.run(operation, *self._ids_of(operation, ids))
        self.redirect_303(answer["url"])


class TestResultHandler(ConsoleHandler):
    """Shows the state of a test and, once it is finished, its result."""

    owner: ConnectionOwner = OF_ORGANIZATION
    section = OF_ORGANIZATION.section

    async def show(self, *ids: str) -> None:
        connection_id, _ = ids
        operation = self.owner.operations.test_result
        test = await self.run(operation, *ids)
        self.object_page(
            _RESULT_TITLE,
            state=cells.chip(_STATES, test["state"]),
            properties=_properties(test),
            actions=self._links(connection_id, ids, test),
            page_parts=[
                list_of_checks((each["says"], each) for each in test["checks"]),
                _claims(test),
                _fields(test),
            ]
            if test["state"] == "finished"
            else [],
            commands=self.shell(
                operation,
                ids,
                f"connection test-result{self.owner.option} --idp {{idpId}} {{testId}}",
            ),
        )

    def _links(self, connection_id: str, ids: tuple[str, ...], test: Document) -> list[Cell]:
        page = CONSOLE + self.owner.page_path
        links = [
            action_link(_AGAIN, self.url_of(f"{page}/test", connection_id)),
            action_link(BACK, self.url_of(page, connection_id)),
        ]
        if test["state"] in ("waiting", "running"):
            links.insert(0, action_link(_RELOAD, self.url_of(f"{page}/tests/{{testId}}", *ids)))
        return links


class InstallationTestResultHandler(TestResultHandler):
    """Shows the test of a connection of the installation."""

    owner = OF_INSTANCE
    section = OF_INSTANCE.section


def _properties(test: Document) -> list[dict[str, Any]]:
    decision = test.get("decision")
    if decision is None:
        return []
    properties = [
        labelled_cell(
            message("What a sign-in would do", context="connections"),
            cells.text(_DECISIONS[decision["outcome"]]),
        )
    ]
    reasons = [each["reason"] for each in decision.get("problems", [])]
    if reasons:
        label = message("Why no user is created automatically", context="connections")
        properties.append(labelled_cell(label, cells.texts(reasons)))
    for label, value in (
        (message("User", context="users"), decision.get("userId")),
        (message("Issuer", context="connections"), test.get("authority")),
        (message("ID at the provider", context="connections"), test.get("externalId")),
    ):
        if value:
            properties.append(labelled_cell(label, cells.code(value)))
    if test.get("emailTrust"):
        label = message("Email address", context="connections")
        properties.append(labelled_cell(label, cells.text(_EMAIL_TRUST[test["emailTrust"]])))
    return properties


def _claims(test: Document) -> dict[str, Any]:
    rows = [
        [cells.code(claim["name"]), cells.code(claim["value"]), cells.code(claim["source"])]
        for claim in test.get("claims", [])
    ]
    title = message("Claims of the provider", context="connections")
    empty = message("Nothing received from the provider.", context="connections")
    return sub_list(title, [_CLAIM, _VALUE, _SOURCE], rows, empty)


def _fields(test: Document) -> dict[str, Any]:
    rows = [
        [cells.code(each["field"]), cells.text(each["value"]), cells.code(each["claim"])]
        for each in test.get("fields", [])
    ]
    title = message("Values for the user", context="connections")
    empty = message("Nothing received from the provider.", context="connections")
    return sub_list(title, [_FIELD, _VALUE, _CLAIM], rows, empty)
