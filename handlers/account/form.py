"""The base of the account's forms: problems are shown at their fields, and entered values stay."""

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
    InvalidArgument,
    PermissionDenied,
    PreconditionFailed,
)
from idp.foundation.i18n import Message, message
from idp.identity.guesses.throttle import Throttled
from idp.management.users import read as user_read
from idp.oauth.params import Params

SAVE: Final = message("Save", context="console")
# Errors that the form shows; others become an error page.
_ABOUT_THE_FORM: Final = (AlreadyExists, FailedPrecondition, InvalidArgument, PreconditionFailed)


class FormHandler(AccountHandler):
    """A form or a confirmation. Subclasses implement `act`, which carries out the change.

    The form contains the record version that it was rendered from, so that a concurrent change is
    not overwritten. After the change, the text `confirmation` (`texts.DONE`) is displayed on the
    page `then`, by default the first page of this section. `others` are further buttons: for each
    the value of the input `decision` that it sends, and its label. Forms with `is_profile` are
    refused where the organization locks its users' profiles.
    """

    title: Message
    button: ClassVar[Message] = SAVE
    intro: ClassVar[Message | None] = None
    fields: ClassVar[Sequence[FormField]] = ()
    confirmation: ClassVar[str] = "saved"
    then: str | None = None
    is_profile: ClassVar[bool] = False
    others: ClassVar[Sequence[tuple[str, Message]]] = ()
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
        if self.is_profile and self.person.live.login.lock_profile:
            raise PermissionDenied("the organization's people don't change their own profile")

    async def show(self, *ids: str) -> None:
        self.ask(fields.initial_values(self.inputs(), self.account()))

    async def submit(self, form: Params, *ids: str) -> None:
        values = fields.typed(self.inputs(), form)
        try:
            await self.act(fields.document(self.inputs(), values), fields.sequence(form))
        except Throttled as error:
            self.set_header("Retry-After", str(error.retry_after_seconds))
            self.ask(values, status=429, retry_seconds=error.retry_after_seconds)
        except _ABOUT_THE_FORM as error:
            problems = fields.problems(self.inputs(), error)
            self.ask(values, status=refusals.status_of(error), problems=problems)
        else:
            self.done(self.confirmation, self.then)

    def account(self) -> Document:
        """Returns the signed-in person's user in the form in which the management API returns
        it."""
        subject = self.person.subject
        document: Document = msgspec.to_builtins(
            user_read.answer(subject.organization, subject.user)
        )
        return document

    def ask(self, values: Values, *, status: int = 200, **more: Any) -> None:
        """Displays the form with these values in its inputs; `more` are further template
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
            others=self.others,
            is_dangerous=self.is_dangerous,
            hidden=self.form_inputs(**{fields.SEQUENCE: sequence}),
            **more,
        )
