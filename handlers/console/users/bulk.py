"""/ui/console/users/bulk: one action on many users, each changed by an operation of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.console.users import project_roles
from handlers.console.users.actions import PAGE_PATH, SECTION
from handlers.console.users.page import name_of
from handlers.forms import cells, fields, refusals
from handlers.forms.cells import action_link, sub_list
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp import api
from idp.api.operation import Operation
from idp.foundation.errors import (
    Busy,
    FieldProblem,
    IdpError,
    InvalidArgument,
    PermissionDenied,
)
from idp.foundation.i18n import Message, message
from idp.oauth.params import Params
from storage import StorageError, Unknown

PATH: Final = "/users/bulk"  # relative to the console
MAX_USERS: Final = 100
_MAX_FIELDS: Final = 2 * MAX_USERS
_LIST: Final = f"{CONSOLE}/users"
_CONFIRM: Final = "confirm"
_USER: Final = message("User", context="users")
_NOT_DONE: Final = message("Not done", context="users")
_INTERRUPTED: Final = message(
    "The action was interrupted. Reload this page to continue; nothing is done twice.",
    context="users",
)
_NOT_RUN: Final = message("Not done yet.", context="users")
_NOT_KNOWN: Final = message("We don't know whether this was done.", context="users")
_OTHER_STATE: Final = message("The user's current state doesn't allow this.", context="users")


class BulkAction(Struct, frozen=True, kw_only=True):
    """What can be done with many users. `operation` is run for each of them, and `command` is the
    command line for one. `label` names the action in the list and on the button of the page that
    asks for confirmation; with `confirms`, the person types the number of users there. With
    `gives_roles`, that page has the fields of a role assignment."""

    operation: Operation
    title: Message
    label: Message
    command: str
    intro: Message | None = None
    confirms: bool = False
    is_dangerous: bool = False
    gives_roles: bool = False


BULK_ACTIONS: Final[Mapping[str, BulkAction]] = {
    "deactivate": BulkAction(
        operation=api.users.DEACTIVATE,
        title=message("Deactivate users", context="users"),
        label=message("Deactivate", context="console"),
        intro=message("These users are signed out and their tokens revoked.", context="users"),
        is_dangerous=True,
        command="user deactivate {userId}",
    ),
    "reactivate": BulkAction(
        operation=api.users.REACTIVATE,
        title=message("Reactivate users", context="users"),
        label=message("Reactivate", context="console"),
        command="user reactivate {userId}",
    ),
    "unlock": BulkAction(
        operation=api.users.UNLOCK,
        title=message("Unlock users", context="users"),
        label=message("Unlock", context="users"),
        command="user unlock {userId}",
    ),
    "sign-out": BulkAction(
        operation=api.users.END_SESSIONS,
        title=message("Sign users out", context="users"),
        label=message("Sign out", context="logout"),
        intro=message("These users are signed out and their tokens revoked.", context="users"),
        is_dangerous=True,
        command="user end-sessions {userId}",
    ),
    "invite": BulkAction(
        operation=api.users.RESEND_INVITATION,
        title=message("Resend invitations", context="users"),
        label=message("Resend invitations", context="users"),
        intro=message(
            "Each user without a password gets an email. Earlier codes stop working.",
            context="users",
        ),
        command="user resend-invite {userId}",
    ),
    "assign-roles": BulkAction(
        operation=api.users.CREATE_GRANT,
        title=message("Assign roles", context="users"),
        label=message("Assign roles", context="users"),
        gives_roles=True,
        command="grant create --user {userId} --project ID --role-key KEY",
    ),
    "delete": BulkAction(
        operation=api.users.REMOVE,
        title=message("Delete users", context="users"),
        label=message("Delete", context="console"),
        intro=message(
            "The users' data is deleted and all tokens are revoked. This can't be undone.",
            context="users",
        ),
        confirms=True,
        is_dangerous=True,
        command="user delete {userId}",
    ),
}


class _BulkOutcome(Struct, frozen=True):
    """What a bulk action has not done: the reasons of refusals by the id of the user, and why an
    interruption left out a user, in the same way."""

    refused: dict[str, Sequence[Message]]
    interrupted: dict[str, Sequence[Message]]


def choices(page: ConsoleHandler) -> list[tuple[str, Message]]:
    """Returns the names and labels of the actions that the person may carry out in the current
    organization."""
    return [
        (name, action.label)
        for name, action in BULK_ACTIONS.items()
        if page.may(action.operation.permission)
    ]


class BulkHandler(ConsoleHandler):
    """Asks for confirmation of an action on the users that were chosen in the list, then carries
    it out for one after the other and shows what was done and what was refused.

    The form of the confirmation has an idempotency key. With the user's id it is that of each
    operation, so that a repeated form does nothing twice and shows the same result.
    """

    section = SECTION
    max_form_fields = _MAX_FIELDS

    async def show(self, *ids: str) -> None:
        # The address of the page that a form was sent to, such as with another language.
        self.redirect_303(self.url_of(_LIST))

    async def submit(self, form: Params, *ids: str) -> None:
        action = BULK_ACTIONS.get(form.get("do") or "")
        if action is None:
            raise InvalidArgument([FieldProblem("field.unknown_name", "do", "is no action")])
        if not self.may(action.operation.permission):
            raise PermissionDenied("the person may not run the operation")
        user_ids = list(dict.fromkeys(form.all("user")))
        if not 0 < len(user_ids) <= MAX_USERS:
            self._refuse_number(len(user_ids))
            return
        names, form_fields = await self._names(user_ids), await self._fields(action)
        values = fields.submitted_values(form_fields, form)
        if form.get("confirmed") is None:
            self._ask(form, action, names, form_fields, fields.initial_values(form_fields, {}))
        elif problems := _problems(form, action, user_ids, form_fields, values):
            self._ask(form, action, names, form_fields, values, status=400, problems=problems)
        else:
            outcome = await self._run_each(form, action, user_ids, values, form_fields)
            self._show_result(action, names, outcome)

    def _refuse_number(self, number: int) -> None:
        self.page(
            "console/message",
            status=400,
            title_text=message("Nothing was changed", context="users"),
            sentence=message("Select the users in the list first.", context="users")
            if not number
            else message("Select at most %(n)s users.", context="users", n=MAX_USERS),
            detail=None,
            buttons=[(message("Back to the users", context="users"), self.url_of(_LIST))],
        )

    async def _names(self, user_ids: Sequence[str]) -> dict[str, str]:
        """Returns the names of these users by their ids, in the order of the names. A user who is
        not there any more has the id as the name."""
        document = {
            "query": {"limit": MAX_USERS},
            "queries": [{"inUserIdsQuery": {"userIds": list(user_ids)}}],
        }
        found = (await self.run(api.users.SEARCH, document=document)).get("result", [])
        names = {user["userId"]: name_of(user) for user in found}
        every = {user_id: names.get(user_id) or user_id for user_id in user_ids}
        return dict(sorted(every.items(), key=lambda pair: (pair[1].casefold(), pair[0])))

    async def _fields(self, action: BulkAction) -> Sequence[FormField]:
        if not action.gives_roles:
            return ()
        return project_roles.fields_of(await project_roles.readable_projects(self))

    async def _run_each(
        self,
        form: Params,
        action: BulkAction,
        user_ids: Sequence[str],
        values: Values,
        form_fields: Sequence[FormField],
    ) -> _BulkOutcome:
        """Runs the operation for each user, up to a failure of the store. Returns who was refused,
        and for whom it was not run."""
        once = form.required("once")
        outcome = _BulkOutcome({}, {})
        for n, user_id in enumerate(user_ids):
            try:
                await self.run(
                    action.operation,
                    user_id,
                    document=fields.document(form_fields, values),
                    idempotency_key=f"{once} {user_id}",
                )
            except (StorageError, Busy) as error:
                self.log_exception(type(error), error, None)
                outcome.interrupted.update(dict.fromkeys(user_ids[n:], [_NOT_RUN]))
                if isinstance(error, Unknown):
                    outcome.interrupted[user_id] = [_NOT_KNOWN]
                break
            except IdpError as error:
                outcome.refused[user_id] = _reasons(error)
        return outcome

    def _ask(
        self,
        form: Params,
        action: BulkAction,
        names: Mapping[str, str],
        form_fields: Sequence[FormField],
        values: Values,
        **more: Any,
    ) -> None:
        chosen = [("user", user_id) for user_id in names]
        done = [("do", form.get("do") or ""), ("confirmed", "yes")]
        self.page(
            "console/action",
            title_text=action.title,
            about=None,
            names=list(names.values()),
            changes=[],
            intro=action.intro,
            fields=fields.rendered(form_fields, values),
            confirm=str(len(names)) if action.confirms else None,
            button=action.label,
            is_dangerous=action.is_dangerous,
            preview_url=None,
            page_parts=(),
            back_url=self.url_of(_LIST),
            commands=self._commands(action, names, fields.document(form_fields, values)),
            hidden=[*self.form_inputs(), *done, *chosen],
            **more,
        )

    def _show_result(
        self, action: BulkAction, names: Mapping[str, str], outcome: _BulkOutcome
    ) -> None:
        refused, interrupted = outcome.refused, outcome.interrupted
        done = [user_id for user_id in names if user_id not in refused | interrupted]
        self.object_page(
            _result_title(len(done), len(refused), len(interrupted)),
            status=503 if interrupted else 200,
            intro=_INTERRUPTED if interrupted else action.title,
            actions=[
                action_link(message("Back to the users", context="users"), self.url_of(_LIST)),
            ],
            page_parts=[
                *([self._with_reasons(_NOT_DONE, names, interrupted)] if interrupted else []),
                self._with_reasons(message("Refused", context="users"), names, refused),
                sub_list(
                    message("Done", context="users"),
                    [_USER],
                    [[self._link(user_id, names)] for user_id in done],
                    message("Nothing was done.", context="users"),
                ),
            ],
            commands=self._commands(action, names, {}),
        )

    def _with_reasons(
        self,
        title: Message,
        names: Mapping[str, str],
        reasons: Mapping[str, Sequence[Message]],
    ) -> dict[str, Any]:
        """Returns the template value of a list of users, each with the reasons."""
        return sub_list(
            title,
            [_USER, message("Reason", context="users")],
            [
                [self._link(user_id, names), cells.lines(reasons[user_id])]
                for user_id in names
                if user_id in reasons
            ],
            message("Nothing was refused.", context="users"),
        )

    def _link(self, user_id: str, names: Mapping[str, str]) -> cells.Cell:
        return cells.link(names[user_id], self.url_of(CONSOLE + PAGE_PATH, user_id))

    def _commands(
        self, action: BulkAction, names: Mapping[str, str], document: Document
    ) -> list[dict[str, object]]:
        """Returns the shell commands for the first of the users."""
        sent = document if action.operation.request else None
        return self.shell(action.operation, list(names)[:1], action.command, sent)


def _result_title(done: int, refused: int, interrupted: int) -> Message:
    if interrupted:
        return message(
            "%(done)s done, %(refused)s refused, %(rest)s not done",
            context="users",
            done=done,
            refused=refused,
            rest=interrupted,
        )
    return message(
        "%(done)s done, %(refused)s refused", context="users", done=done, refused=refused
    )


def _problems(
    form: Params,
    action: BulkAction,
    user_ids: Sequence[str],
    form_fields: Sequence[FormField],
    values: Values,
) -> list[dict[str, object]]:
    """Returns the problems of a confirmation: a missing value, or a number that is not that of the
    users."""
    missing = [
        FieldProblem("field.required", field.path, "is required")
        for field in form_fields
        if not values[field.path]
    ]
    if missing:
        return fields.problems(form_fields, InvalidArgument(missing))
    if action.confirms and (form.get(_CONFIRM) or "").strip() != str(len(user_ids)):
        text = message("Enter the number of users: %(n)s.", context="users", n=len(user_ids))
        return [{"field": _CONFIRM, "text": text}]
    return []


def _reasons(error: IdpError) -> list[Message]:
    """Returns why an operation was refused. Raises the error if the service, not the request, is
    the cause."""
    refusal = refusals.of(error)
    if refusal is None:
        raise error
    if error.error_code == "user.state":
        return [_OTHER_STATE]
    if refusal.detail is None:  # no permission, or not there
        return [refusal.sentence]
    texts = [problem["text"] for problem in fields.problems((), error)]
    return [text for text in texts if isinstance(text, Message)] or [refusal.sentence]


ROUTES: Final = [(CONSOLE + PATH, BulkHandler)]
