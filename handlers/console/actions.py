"""Declarative action pages of the console: a form, and the operation that it runs.

An `Action` describes one page: a GET shows its form or confirmation, a POST runs the operation of
`idp.api` with the entered values and redirects. What cannot be declared is implemented in a
subclass of `ActionHandler`, which the action names as `handler`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, structs

from handlers.console import commands, notices
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.forms import fields, refusals
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import BY_NAME, Document
from idp.foundation.errors import (
    AlreadyExists,
    FailedPrecondition,
    FieldProblem,
    IdpError,
    InvalidArgument,
    PermissionDenied,
    PreconditionFailed,
)
from idp.foundation.i18n import Message, message
from idp.oauth.params import Params

# Errors that the form shows; others become an error page.
_ABOUT_THE_FORM: Final = (
    InvalidArgument,
    AlreadyExists,
    FailedPrecondition,
    PreconditionFailed,
)
_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_CONFIRM: Final = "confirm"
_DOWNLOAD: Final = "keep"
_NOT_CONFIRMED: Final = message("Enter it exactly as it is shown.", context="console")


class DisplayedOnce(Struct, frozen=True):
    """A member of an operation's answer that the page displays only once: a secret, a code, or
    what is used with it, such as the client id.

    `path` is its path in the answer. With `file`, its value is a file in base64, which can be
    downloaded by that name.
    """

    path: str
    label: Message
    file: str | None = None


class Action(Struct, frozen=True, kw_only=True):
    """The description of a page with a form or a confirmation.

    `path` is its address; its ids are passed to `operation` (`POST /v2/users/{userId}/lock`) by
    their names, and `{orgId}` selects the organization. `loads` is the operation whose answer
    fills the form and has the record's version (`details.sequence`); `name` is the path in that
    answer of the name that the page displays. `fixed` are members that are always sent.

    `then` is the page that follows, with ids of the page's address or of the answer; `done` is the
    key of the confirmation that is displayed there (`notices.DONE`). `shows` are members of the
    answer that are displayed once, on a page of their own before `then`.

    `other_buttons` are labels and addresses of further buttons, which send the form elsewhere.
    With `confirms`, the person has to type the record's name. `command` is the equivalent command
    line.
    """

    path: str
    section: str
    operation: str
    title: Message
    button: Message
    then: str
    done: str
    command: str
    fields: Sequence[FormField] = ()
    intro: Message | None = None
    loads: str | None = None
    name: str = ""
    fixed: Mapping[str, Any] = {}
    other_buttons: Sequence[tuple[Message, str]] = ()
    shows: Sequence[DisplayedOnce] = ()
    confirms: bool = False
    is_dangerous: bool = False
    handler: Any = None


class ActionHandler(ConsoleHandler):
    """The page of one `Action`: displays its form, and runs its operation when the form is
    submitted."""

    action: Action

    def initialize(self, action: Action) -> None:  # type: ignore[override]
        super().initialize()
        self.action = action
        self.section = action.section
        permission = BY_NAME[action.operation].permission
        # Changes of the installation require a recent authentication.
        self.requires_recent_authentication = permission.startswith(
            "iam."
        ) and permission.endswith("write")

    # Hooks for subclasses

    def fields(self) -> Sequence[FormField]:
        """Returns the fields of the form. Called after `load`."""
        return self.action.fields

    async def load(self, *ids: str) -> Document:
        """Returns the current record that the form changes, as the operation `loads` answers; an
        empty document without that operation."""
        if self.action.loads is None:
            return {}
        return await self.run(self.action.loads, *self._ids_of(self.action.loads, ids))

    async def resolved(self, values: Values) -> Values:
        """Returns the values that are sent for the entered ones. Subclasses replace an entered
        name by the record's id; they raise InvalidArgument for an unknown name."""
        return values

    def request_body(self, values: Values) -> Document:
        """Returns the body of the operation's request for these values."""
        return {**self.action.fixed, **fields.document(self.fields(), values)}

    def initial_values(self, loaded: Document) -> Values:
        """Returns the initial values of the inputs, from the record that `load` returned."""
        return fields.initial_values(self.fields(), loaded)

    # The page

    async def show(self, *ids: str) -> None:
        await self._enter_named(ids)
        loaded = await self.load(*ids)
        self._ask(ids, loaded, self.initial_values(loaded))

    async def submit(self, form: Params, *ids: str) -> None:
        await self._enter_named(ids)
        loaded = await self.load(*ids)
        values = fields.typed(self.fields(), form)
        try:
            self._check_confirmed(form, loaded)
            answer = await self.act(form, values, ids)
        except _ABOUT_THE_FORM as error:
            self._refuse(error, ids, loaded, values)
            return
        if any(fields.at(answer, secret.path) for secret in self.action.shows):
            self._show_secrets(form, answer, ids)
        else:
            self.redirect_303(self._next(ids, answer, done=self.action.done))

    async def act(self, form: Params, values: Values, ids: Sequence[str]) -> Document:
        """Runs the operation with the submitted values and returns its answer. Raises IdpError."""
        operation = BY_NAME[self.action.operation]
        values = await self.resolved(values)
        return await self.run(
            self.action.operation,
            *self._ids_of(self.action.operation, ids),
            document=self.request_body(values) if operation.request else None,
            if_match=fields.sequence(form) if operation.is_conditional else None,
            # The form's idempotency key: a form that is sent twice, such as by a double click,
            # runs the operation once.
            idempotency_key=form.get("once"),
        )

    async def _enter_named(self, ids: Sequence[str]) -> None:
        """Selects the organization and checks the permission. Raises NotFound,
        PermissionDenied."""
        if org_id := self._by_name(ids).get("orgId"):
            await self.enter_organization(org_id)
        permission = BY_NAME[self.action.operation].permission
        if not self.may(permission):
            raise PermissionDenied(f"the permission {permission} is missing")

    def _by_name(self, ids: Sequence[str]) -> dict[str, str]:
        return dict(zip(_PARAMETER.findall(self.action.path), ids, strict=True))

    def _ids_of(self, operation: str, ids: Sequence[str]) -> list[str]:
        """Returns the values of an operation's path parameters."""
        values = self._by_name(ids)
        return [values[name] for name in BY_NAME[operation].parameters]

    def _check_confirmed(self, form: Params, loaded: Document) -> None:
        name = self._name_of(loaded)
        if self.action.confirms and (form.get(_CONFIRM) or "").strip() != name.strip():
            raise InvalidArgument([FieldProblem("confirm", _CONFIRM, "")])

    def _name_of(self, loaded: Document) -> str:
        return str(fields.at(loaded, self.action.name) or "") if self.action.name else ""

    def _refuse(
        self, error: IdpError, ids: Sequence[str], loaded: Document, values: Values
    ) -> None:
        problems = fields.problems(self.fields(), error)
        if any(one.error_code == "confirm" for one in error.details):
            problems = [{"field": _CONFIRM, "text": _NOT_CONFIRMED}]
        status = refusals.status_of(error)
        self._ask(ids, loaded, values, status=status, problems=problems)

    def _ask(self, ids: Sequence[str], loaded: Document, values: Values, **more: Any) -> None:
        action = self.action
        sequence = fields.at(loaded, "details.sequence")
        self.page(
            "console/action",
            title_text=action.title,
            about=self._name_of(loaded) or None,
            intro=action.intro,
            fields=fields.rendered(self.fields(), values),
            confirm=self._name_of(loaded) if action.confirms else None,
            button=action.button,
            is_dangerous=action.is_dangerous,
            other_buttons=[
                (label, self.at(CONSOLE + path)) for label, path in action.other_buttons
            ],
            back_url=self._next(ids, loaded),
            commands=self.commands(ids, values),
            hidden=self.form_inputs(**({"sequence": sequence} if sequence else {})),
            **more,
        )

    def commands(self, ids: Sequence[str], values: Values) -> list[dict[str, object]]:
        """Returns the shell commands that run the same operation without the console."""
        operation = BY_NAME[self.action.operation]
        sent = None
        if operation.request is not None:
            sent = commands.example(self.fields(), self.request_body(values))
        return commands.rendered(
            self.service.config,
            operation,
            self._ids_of(self.action.operation, ids),
            sent,
            # An operation on the installation takes no organization.
            None if operation.permission.startswith("iam.") else self.org_id,
            self.action.command,
        )

    def _next(self, ids: Sequence[str], answer: Document, **query: str) -> str:
        """Returns the address of the page that follows (`then`), cut off before the first id that
        neither the page's address nor the answer has."""
        values = self._by_name(ids)
        path = self.action.then
        used: list[str] = []
        for name in _PARAMETER.findall(path):
            id = values.get(name) or fields.at(answer, name)
            if not id:
                return self.at(path.partition("/{")[0], *used, **query)
            used.append(str(id))
            if name == "orgId":
                query = {"org": str(id), **query}
        return self.at(path, *used, **query)

    def _show_secrets(self, form: Params, answer: Document, ids: Sequence[str]) -> None:
        """Shows the answer's secrets, or sends the file. A repeated form gets the same answer."""
        secrets = [
            (secret, str(value))
            for secret in self.action.shows
            if (value := fields.at(answer, secret.path))
        ]
        file = next(((secret.file, value) for secret, value in secrets if secret.file), None)
        if file is not None and form.get(_DOWNLOAD) == "file":
            self._send_file(*file)
            return
        self.page(
            "console/made",
            title_text=notices.DONE[self.action.done],
            secrets=[
                {"label": one.label, "value": _text(value) if one.file else value}
                for one, value in secrets
            ],
            has_file=file is not None,
            # The file is downloaded by sending the same form again, with its idempotency key.
            hidden=[pair for pair in form.pairs() if pair[0] != _DOWNLOAD],
            next_url=self._next(ids, answer),
        )

    def _send_file(self, name: str, value: str) -> None:
        self.set_header("Content-Type", "application/json")
        self.set_header("Content-Disposition", f'attachment; filename="{name}"')
        self.finish(_text(value))


def _text(value: str) -> str:
    """Returns the text of a file that an answer contains."""
    return base64.b64decode(value).decode()


def routes(actions: Iterable[Action]) -> list[tuple[str, Any, dict[str, Any]]]:
    """Returns the routes of the pages that these actions describe."""
    return [
        (
            CONSOLE + _PARAMETER.sub("([^/]+)", action.path),
            action.handler or ActionHandler,
            {"action": structs.replace(action, then=CONSOLE + action.then)},
        )
        for action in actions
    ]
