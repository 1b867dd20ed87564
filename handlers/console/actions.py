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
from handlers.forms import fields, refusals, stale_edits
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp.api.operation import Operation
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
from idp.passwords import policy as password_policy
from idp.policies import effective

# Errors that the form displays; others become an error page.
_FORM_ERRORS: Final = (InvalidArgument, AlreadyExists, FailedPrecondition, PreconditionFailed)
_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_CONFIRM: Final = "confirm"
_DOWNLOAD: Final = "keep"
_BASIS: Final = "basis"
_SAVE_ANYWAY: Final = message("Save anyway", context="console")
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

    `path` is its address; its ids are passed to `operation` by
    their names, and `{orgId}` selects the organization. `loads` is the operation whose answer
    fills the form and has the record's version (`details.sequence`); `name` is the path in that
    answer of the name that the page displays. `fixed` are members that are always sent.

    `next_path` is the page that follows, with ids of the page's address or of the answer;
    `confirmation` is the key of the text that is displayed there (`notices.CONFIRMATIONS`).
    `shows` are members of the answer that are displayed once, on a page of their own before
    `next_path`.

    `preview` is the address of a page that shows, in a frame beside the form, what has been
    entered. With `confirms`, the person has to enter the record's name. `command` is the
    equivalent command line.
    """

    path: str
    section: str
    operation: Operation
    title: Message
    button: Message
    next_path: str
    confirmation: str
    command: str
    fields: Sequence[FormField] = ()
    intro: Message | None = None
    loads: Operation | None = None
    name: str = ""
    fixed: Mapping[str, Any] = {}
    preview: str = ""
    shows: Sequence[DisplayedOnce] = ()
    confirms: bool = False
    is_dangerous: bool = False
    handler: Any = None


class ActionHandler(ConsoleHandler):
    """The page of one `Action`: displays its form, and runs its operation when the form is
    submitted."""

    action: Action
    page_parts: Sequence[Document] = ()  # lists beneath the form; `load` may set them

    def initialize(self, action: Action) -> None:  # type: ignore[override]
        super().initialize()
        self.action = action
        self.section = action.section
        permission = action.operation.permission
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

    def initial_values(self, record: Document) -> Values:
        """Returns the initial values of the inputs, from the record that `load` returned."""
        return fields.initial_values(self.fields(), record)

    def rendered_for(self, record: Document) -> str:
        """Returns what a form was rendered for, if a change between that and the submission makes
        the edit stale though the record's version may be the same; an empty text for all others.
        """
        return ""

    # The page

    async def show(self, *ids: str) -> None:
        self._check_permission()
        record = await self.load(*ids)
        values = self.initial_values(record)
        self._ask(ids, record, values, hidden=self._version_inputs(record))

    async def submit(self, form: Params, *ids: str) -> None:
        self._check_permission()
        # Before the operation is run, because it may depend on the record (`PUT` or `POST`).
        record = await self.load(*ids)
        values = fields.submitted_values(self.fields(), form)
        try:
            self._check_confirmed(form, record)
            self._check_basis(form, record)
            answer = await self.act(form, values, ids)
        except PreconditionFailed as error:
            # Once more: it may have changed after it was loaded.
            self._refuse_stale(error, form, ids, await self.load(*ids), values)
            return
        except _FORM_ERRORS as error:
            self._refuse(error, form, ids, record, values)
            return
        if any(fields.value_at(answer, secret.path) for secret in self.action.shows):
            self._show_secrets(form, answer, ids)
        else:
            self.redirect_303(self._next(ids, answer, done=self.action.confirmation))

    async def act(self, form: Params, values: Values, ids: Sequence[str]) -> Document:
        """Runs the operation with the submitted values and returns its answer. Raises IdpError."""
        operation = self.action.operation
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

    @property
    def named_org_id(self) -> str | None:
        """The id of the organization in the page's path, or else in its query; None if it names
        none."""
        return self._by_name(self.path_args).get("orgId") or super().named_org_id

    def _check_permission(self) -> None:
        """Raises PermissionDenied if the person may not run the operation in the current
        organization."""
        permission = self.action.operation.permission
        if not self.may(permission):
            raise PermissionDenied(f"the permission {permission} is missing")

    def _by_name(self, ids: Sequence[str]) -> dict[str, str]:
        return dict(zip(_PARAMETER.findall(self.action.path), ids, strict=True))

    def _ids_of(self, operation: Operation, ids: Sequence[str]) -> list[str]:
        """Returns the values of an operation's path parameters."""
        values = self._by_name(ids)
        return [values[name] for name in operation.parameters]

    def _check_confirmed(self, form: Params, record: Document) -> None:
        name = self._name_of(record)
        if self.action.confirms and (form.get(_CONFIRM) or "").strip() != name.strip():
            raise InvalidArgument([FieldProblem("confirm", _CONFIRM, "")])

    def _name_of(self, record: Document) -> str:
        return str(fields.value_at(record, self.action.name) or "") if self.action.name else ""

    def _check_basis(self, form: Params, record: Document) -> None:
        if form.get(_BASIS) not in (None, self.rendered_for(record)):
            raise PreconditionFailed("the record has changed since the form was rendered")

    def _version_inputs(self, record: Document) -> dict[str, str]:
        """Returns the hidden inputs with the version of the record that the form changes."""
        stored = self.initial_values(record)
        basis = self.rendered_for(record)
        version = stale_edits.version_inputs(self.fields(), record, stored)
        return version | ({_BASIS: basis} if basis else {})

    def _refuse(
        self, error: IdpError, form: Params, ids: Sequence[str], record: Document, values: Values
    ) -> None:
        problems = fields.problems(self.fields(), error)
        if any(problem.error_code == "confirm" for problem in error.details):
            problems = [{"field": _CONFIRM, "text": _NOT_CONFIRMED}]
        # The version that the person has seen: a change that was made since then is still refused.
        basis = form.get(_BASIS)
        hidden = stale_edits.version_of(form) | ({_BASIS: basis} if basis else {})
        status = refusals.status_of(error)
        self._ask(ids, record, values, hidden=hidden, status=status, problems=problems)

    def _refuse_stale(
        self,
        error: PreconditionFailed,
        form: Params,
        ids: Sequence[str],
        record: Document,
        values: Values,
    ) -> None:
        """Shows the form with the entered values and with what another person has changed. Sent
        again, it replaces that change."""
        form_fields, stored = self.fields(), self.initial_values(record)
        self._ask(
            ids,
            record,
            values,
            hidden=self._version_inputs(record),
            status=refusals.status_of(error),
            problems=fields.problems(form_fields, error),
            changes=stale_edits.other_changes(form_fields, form, values, stored),
            button=_SAVE_ANYWAY if form_fields else self.action.button,
        )

    def _ask(
        self,
        ids: Sequence[str],
        record: Document,
        values: Values,
        hidden: Mapping[str, str],
        **more: Any,
    ) -> None:
        action = self.action
        if action.preview:
            self.allow_frames(self.service.config.issuer)
        page_values: dict[str, Any] = {"changes": [], "button": action.button, **more}
        self.page(
            "console/action",
            title_text=action.title,
            about=self._name_of(record) or None,
            names=[],
            intro=action.intro,
            fields=fields.rendered(self.fields(), values),
            confirm=self._name_of(record) if action.confirms else None,
            is_dangerous=action.is_dangerous,
            preview_url=self.url_of(CONSOLE + action.preview) if action.preview else None,
            page_parts=self.page_parts,
            back_url=self._next(ids, record),
            commands=self.commands(ids, values),
            hidden=self.form_inputs(**hidden),
            **page_values,
        )

    def commands(self, ids: Sequence[str], values: Values) -> list[dict[str, object]]:
        """Returns the shell commands that run the same operation without the console."""
        operation = self.action.operation
        example = None
        if operation.request is not None:
            example = commands.example(self.fields(), self.request_body(values))
        return self.shell(operation, self._ids_of(operation, ids), self.command(), example)

    def command(self) -> str:
        """Returns the subcommand of `idp` for the same operation, whose parameters are those of
        the operation's path."""
        return self.action.command

    def _next(self, ids: Sequence[str], answer: Document, **query: str) -> str:
        """Returns the address of the page that follows (`next_path`), cut off before the first id
        that neither the page's address nor the answer has."""
        values = self._by_name(ids)
        path = self.action.next_path
        path_ids: list[str] = []
        for name in _PARAMETER.findall(path):
            value = values.get(name) or fields.value_at(answer, name)
            if not value:
                return self.url_of(path.partition("/{")[0], *path_ids, **query)
            path_ids.append(str(value))
            if name == "orgId":
                query = {"org": str(value), **query}
        return self.url_of(path, *path_ids, **query)

    def _show_secrets(self, form: Params, answer: Document, ids: Sequence[str]) -> None:
        """Shows the answer's secrets, or sends the file. A repeated form gets the same answer."""
        secrets = [
            (secret, str(value))
            for secret in self.action.shows
            if (value := fields.value_at(answer, secret.path))
        ]
        file = next(((secret.file, value) for secret, value in secrets if secret.file), None)
        if file is not None and form.get(_DOWNLOAD) == "file":
            self._send_file(*file)
            return
        self.page(
            "console/made",
            title_text=notices.CONFIRMATIONS[self.action.confirmation],
            secrets=[
                {"label": secret.label, "value": _text(value) if secret.file else value}
                for secret, value in secrets
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


class FirstPasswordHandler(ActionHandler):
    """A form that sets the password of another user, and says how long it has to be."""

    async def load(self, *ids: str) -> Document:
        # The organization that the form creates has no policy yet.
        org_id = None if self.action.operation.permission.startswith("iam.") else self.org_id
        rules = await effective.initial_complexity(self.service, org_id)
        self._hint = password_policy.too_short(rules.min_length).text
        return await super().load(*ids)

    def fields(self) -> Sequence[FormField]:
        return [
            structs.replace(each, hint=self._hint) if each.kind == "password" else each
            for each in super().fields()
        ]


def _text(value: str) -> str:
    """Returns the text of a file that an answer contains."""
    return base64.b64decode(value).decode()


def routes(actions: Iterable[Action]) -> list[tuple[str, Any, dict[str, Any]]]:
    """Returns the routes of the pages that these actions describe."""
    return [
        (
            CONSOLE + _PARAMETER.sub("([^/]+)", action.path),
            action.handler or ActionHandler,
            {"action": structs.replace(action, next_path=CONSOLE + action.next_path)},
        )
        for action in actions
    ]
