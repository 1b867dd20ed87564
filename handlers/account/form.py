"""The base of the account's forms: problems are displayed at their fields, and entered
values are preserved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import msgspec

from handlers.account.base import AccountHandler
from handlers.forms import fields, refusals
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp.foundation.errors import (
    AlreadyExists,
    FailedPrecondition,
    IdpError,
    InvalidArgument,
    PermissionDenied,
    PreconditionFailed,
)
from idp.foundation.i18n import Message, message
from idp.limits.throttled import Throttled
from idp.management.users import read as user_read
from idp.oauth.params import Params

SAVE: Final = message("Save", context="console")
# Errors that the form displays; others become an error page.
_FORM_ERRORS: Final = (AlreadyExists, FailedPrecondition, InvalidArgument, PreconditionFailed)


class FormHandler(AccountHandler):
    """A form or a confirmation. Subclasses implement `act`, which carries out the change.

    The form contains the record version that it was rendered from, so that a concurrent change is
    not overwritten. After the change, the text `confirmation` (`texts.CONFIRMATIONS`) is displayed
    on the page `next_path`, by default the first page of this section. `other_buttons` are further
    buttons: for each the value of the input `decision` that it sends, and its label. Forms with
    `is_profile_change` are refused where the organization locks its users' profiles."""

    title: Message
    button: ClassVar[Message] = SAVE
    intro: ClassVar[Message | None] = None
    fields: ClassVar[Sequence[FormField]] = ()
    confirmation: ClassVar[str] = "saved"
    next_path: str | None = None
    is_profile_change: ClassVar[bool] = False
    other_buttons: ClassVar[Sequence[tuple[str, Message]]] = ()
    is_dangerous: ClassVar[bool] = False

    async def act(self, document: Document, if_match: int | None) -> None:
        """Carries out the change that the form's document requests. `if_match` is the record
        version that the form was rendered from. Raises IdpError, Throttled."""
        raise NotImplementedError

    def inputs(self) -> Sequence[FormField]:
        """Returns the fields of the form."""
        return self.fields

    def about(self) -> str | None:
        """Returns the name of the record that the form changes, or None to display none."""
        return None

    async def _enter(self) -> None:
        await super()._enter()
        if self.is_profile_change and self.person.live_session.login.lock_profile:
            raise PermissionDenied("the organization's people don't change their own profile")

    async def show(self, *ids: str) -> None:
        self.ask(fields.initial_values(self.inputs(), self.user_document()))

    async def submit(self, form: Params, *ids: str) -> None:
        values = fields.submitted_values(self.inputs(), form)
        try:
            await self.act(fields.document(self.inputs(), values), fields.sequence(form))
        except Throttled as error:
            self.set_header("Retry-After", str(error.retry_after_seconds))
            self.ask(values, status=429, retry_seconds=error.retry_after_seconds)
        except _FORM_ERRORS as error:
            if self.may_be_done(error):
                await self._enter()  # the user as they are now
            if self.is_done(form, values, error):
                self.redirect_with_notice(self.confirmation, self.next_path)
                return
            problems = fields.problems(self.inputs(), error)
            self.ask(values, status=refusals.status_of(error), problems=problems)
        else:
            self.redirect_with_notice(self.confirmation, self.next_path)

    def may_be_done(self, error: IdpError) -> bool:
        """Returns whether a concurrent change may be why the form was refused with `error`: the
        user is then read again before `is_done`."""
        return isinstance(error, PreconditionFailed)

    def is_done(self, form: Params, values: Values, error: IdpError) -> bool:
        """Returns whether what the form asks for is so already, although it was refused with
        `error`: it was sent twice. By default, whether a concurrent change made it so."""
        if not isinstance(error, PreconditionFailed):
            return False
        stored = fields.initial_values(self.inputs(), self.user_document())
        entered = [name for name in values if name in form]
        return bool(entered) and all(values[name] == stored[name] for name in entered)

    def user_document(self) -> Document:
        """Returns the signed-in person's user in the form in which the management API returns
        it."""
        subject = self.person.subject
        document: Document = msgspec.to_builtins(
            user_read.answer(subject.organization, subject.user)
        )
        return document

    def ask(self, values: Values, *, status: int = 200, **page_values: Any) -> None:
        """Displays the form with these values in its inputs; `page_values` are further template
        values."""
        sequence = str(self.person.user.sequence)
        self.page(
            "account/form",
            status=status,
            title_text=self.title,
            about=self.about(),
            intro=self.intro,
            fields=fields.rendered(self.inputs(), values),
            button=self.button,
            other_buttons=self.other_buttons,
            is_dangerous=self.is_dangerous,
            hidden=self.form_inputs(**{fields.SEQUENCE: sequence}),
            **page_values,
        )
