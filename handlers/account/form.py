"""The forms of a person's own account: all that is wrong comes back beside its field, and what was
typed stays."""

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
_ABOUT_THE_FORM: Final = (AlreadyExists, FailedPrecondition, InvalidArgument, PreconditionFailed)


class FormHandler(AccountHandler):
    """A form, or only a question. Subclasses have `act`, which does what was asked for.

    The form tells the state of the account that it was made of: what has changed meanwhile is not
    overwritten unseen. `done_word` says what was done (`texts.DONE`) at the page `then`, or else
    the first of this part; `others` are more buttons, with their decisions. With `is_profile` it
    changes what an organization may keep from its people's hands.
    """

    title: ClassVar[Message]
    button: ClassVar[Message] = SAVE
    intro: ClassVar[Message | None] = None
    fields: ClassVar[Sequence[FormField]] = ()
    done_word: ClassVar[str] = "saved"
    then: str | None = None
    is_profile: ClassVar[bool] = False
    others: ClassVar[Sequence[tuple[str, Message]]] = ()
    is_dangerous: ClassVar[bool] = False

    async def act(self, document: Document, if_match: int | None) -> None:
        """Do it. Raises IdpError, Throttled."""
        raise NotImplementedError

    def inputs(self) -> Sequence[FormField]:
        """What is asked for."""
        return self.fields

    def about(self) -> str | None:
        """What it is about."""
        return None

    async def _enter(self) -> bool:
        if not await super()._enter():
            return False
        if self.is_profile and self.person.live.login.lock_profile:
            raise PermissionDenied("the organization's people don't change their own profile")
        return True

    async def show(self, *ids: str) -> None:
        self.ask(fields.known(self.inputs(), self.account()))

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
            self.done(self.done_word, self.then)

    def account(self) -> Document:
        """The account as the management API answers it."""
        subject = self.person.subject
        document: Document = msgspec.to_builtins(
            user_read.answer(subject.organization, subject.user)
        )
        return document

    def ask(self, values: Values, *, status: int = 200, **more: Any) -> None:
        """The form with these values in it."""
        sequence = str(self.person.user.sequence)
        self.page(
            "account/form",
            status=status,
            title_text=self.title,
            about=self.about(),
            intro=self.intro,
            fields=fields.shown(self.inputs(), values),
            button=self.button,
            others=self.others,
            is_dangerous=self.is_dangerous,
            hidden=self.form_inputs(**{fields.SEQUENCE: sequence}),
            **more,
        )
