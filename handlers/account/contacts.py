"""/ui/account/email and /ui/account/phone: the person's contacts and their verification."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import ClassVar, Final, Literal

from handlers.account.form import FormHandler
from handlers.account.sections import ACCOUNT
from handlers.forms import fields, user_fields
from handlers.forms.fields import FormField, Values, value_at
from handlers.forms.run_operation import Document
from idp import changes
from idp.changes import Change
from idp.foundation.errors import (
    FailedPrecondition,
    FieldProblem,
    IdpError,
    InvalidArgument,
    PreconditionFailed,
)
from idp.foundation.i18n import Message, message
from idp.identity.guesses import mail_limits
from idp.identity.users.lookup import login_key
from idp.management.call import Call
from idp.management.users import contacts, verify_contact
from idp.management.users.contacts import ContactChanged, EmailCode, PhoneCode
from idp.management.users.new_user import NewEmail, NewPhone
from idp.management.users.verify_contact import VerificationCode
from idp.oauth.params import Params
from idp.schema import reading
from idp.service import Service

ContactKind = Literal["email", "phone"]
_StoreContact = Callable[[Service, Call, str], Awaitable[Change[ContactChanged]]]

_CODE: Final = FormField(
    path="verificationCode",
    label=message("Code", context="verify-email"),
    hint=message("8 digits. Spaces are ignored.", context="verify-email"),
    autocomplete="one-time-code",
    direction="ltr",
    is_required=True,
    is_sent_empty=True,
)
_RESEND: Final = "again"
_RESEND_LABEL: Final = message("Send another code", context="account")


def _field(kind: ContactKind, autocomplete: str) -> FormField:
    label = user_fields.CONTACTS[kind]
    return FormField(
        path=kind,
        source=f"human.{kind}.{kind}",
        label=label,
        kind="email" if kind == "email" else "tel",
        autocomplete=autocomplete,
        direction="ltr",
        is_required=True,
        is_sent_empty=True,
    )


class AccountContact(ABC):
    """A kind of contact: its texts, and the functions of the API that change it."""

    kind: ClassVar[ContactKind]
    title: ClassVar[Message]
    fields: ClassVar[Sequence[FormField]]
    verify_title: ClassVar[Message]

    @abstractmethod
    def read(self, document: Document) -> tuple[str, _StoreContact]:
        """Returns the new address or number of a form's document, and the function that stores it,
        to be called with the service, the call and the user's id. Raises InvalidArgument for a
        malformed one."""

    @abstractmethod
    async def resend(self, service: Service, call: Call, user_id: str) -> None:
        """Sends another verification code; earlier ones become invalid. Raises IdpError."""

    def stored(self, handler: FormHandler) -> str:
        """Returns the person's stored address or number, or an empty text."""
        return str(value_at(handler.user_document(), f"human.{self.kind}.{self.kind}") or "")

    def is_verified(self, handler: FormHandler) -> bool:
        """Returns whether the person has verified the stored address or number."""
        return bool(value_at(handler.user_document(), f"human.{self.kind}.isVerified"))


class EmailContact(AccountContact):
    """The contact for the person's e-mail address."""

    kind = "email"
    title = message("Change the email", context="users")
    fields = (_field("email", "email"),)
    verify_title = message("Verify your email", context="verify-email")

    def read(self, document: Document) -> tuple[str, _StoreContact]:
        request = reading.read(NewEmail, document)
        return request.email, partial(contacts.set_email, request=request)

    async def resend(self, service: Service, call: Call, user_id: str) -> None:
        await changes.run(service, contacts.resend_email, call, user_id, EmailCode())


class PhoneContact(AccountContact):
    """The contact for the person's phone number."""

    kind = "phone"
    title = message("Change the phone number", context="users")
    fields = (_field("phone", "tel"),)
    verify_title = message("Verify your phone number", context="mail")

    def read(self, document: Document) -> tuple[str, _StoreContact]:
        request = reading.read(NewPhone, document)
        return request.phone, partial(contacts.set_phone, request=request)

    async def resend(self, service: Service, call: Call, user_id: str) -> None:
        await changes.run(service, contacts.resend_phone, call, user_id, PhoneCode())


_EMAIL: Final = EmailContact()
_PHONE: Final = PhoneContact()


async def _count_code(handler: FormHandler, address: str) -> None:
    """Counts a code that is sent to this contact. Raises Throttled."""
    await mail_limits.admit(handler.service, address, handler.origin(handler.person.browser))


class ContactHandler(FormHandler):
    """Changes a contact. The new one has to be verified; when an e-mail address changes, the old
    address is notified."""

    section = "profile"
    is_sensitive = True
    is_profile_change = True
    intro = message("We'll send a code there to verify it.", context="account")
    confirmation = "sent"
    contact: AccountContact

    def initialize(self, contact: AccountContact) -> None:  # type: ignore[override]
        super().initialize()
        self.contact = contact
        self.title = contact.title
        self.next_path = f"{ACCOUNT}/{contact.kind}/verify"

    def inputs(self) -> Sequence[FormField]:
        return self.contact.fields

    async def act(self, document: Document, if_match: int | None) -> None:
        value, store = self.contact.read(document)
        self.refuse_same(value)
        await _count_code(self, value)
        await changes.run(self.service, store, self.call(if_match), self.person.user.id)

    def is_done(self, form: Params, values: Values, error: IdpError) -> bool:
        is_stored = login_key(values[self.contact.kind]) == login_key(self.contact.stored(self))
        return is_stored and fields.sequence(form) != self.person.user.sequence

    def refuse_same(self, value: str) -> None:
        """Raises InvalidArgument if the entered contact is the stored one, because storing it
        again would undo its verification."""
        if login_key(value) == login_key(self.contact.stored(self)):
            field = self.contact.kind
            raise InvalidArgument([FieldProblem("contact.same", field, "is known already")])


class RemovePhoneHandler(FormHandler):
    """Removes the phone number, after a confirmation."""

    section = "profile"
    is_sensitive = True
    is_profile_change = True
    title = message("Remove the phone number", context="users")
    button = message("Remove", context="console")
    is_dangerous = True
    confirmation = "removed"

    def about(self) -> str | None:
        return _PHONE.stored(self) or None

    def may_be_done(self, error: IdpError) -> bool:
        return isinstance(error, FailedPrecondition | PreconditionFailed)

    def is_done(self, form: Params, values: Values, error: IdpError) -> bool:
        return not _PHONE.stored(self)

    async def act(self, document: Document, if_match: int | None) -> None:
        await changes.run(
            self.service, contacts.remove_phone, self.call(if_match), self.person.user.id
        )


class VerifyContactHandler(FormHandler):
    """Asks for the code that was sent to the contact, and sends another one on request."""

    section = "profile"
    button = message("Verify", context="users")
    fields = (_CODE,)
    confirmation = "verified"
    is_resend = False
    other_buttons = ((_RESEND, _RESEND_LABEL),)
    contact: AccountContact

    def initialize(self, contact: AccountContact) -> None:  # type: ignore[override]
        super().initialize()
        self.contact = contact
        self.title = contact.verify_title

    def about(self) -> str | None:
        return self.contact.stored(self) or None

    def may_be_done(self, error: IdpError) -> bool:
        return not self.is_resend

    def is_done(self, form: Params, values: Values, error: IdpError) -> bool:
        return not self.is_resend and self.contact.is_verified(self)

    async def submit(self, form: Params, *ids: str) -> None:
        self.is_resend = form.get("decision") == _RESEND
        await super().submit(form, *ids)

    async def act(self, document: Document, if_match: int | None) -> None:
        user_id = self.person.user.id
        if self.is_resend:
            await _count_code(self, self.contact.stored(self))
            await self.contact.resend(self.service, self.call(), user_id)
            return
        request = reading.read(VerificationCode, document)
        await changes.run(
            self.service, verify_contact.verify, self.call(), user_id, request, self.contact.kind
        )

    def redirect_with_notice(self, confirmation: str, path: str | None = None) -> None:
        if self.is_resend:
            # Back to this page, which asks for the new code.
            super().redirect_with_notice("sent", self.request.path)
        else:
            super().redirect_with_notice(confirmation, path)


ROUTES = [
    (f"{ACCOUNT}/email", ContactHandler, {"contact": _EMAIL}),
    (f"{ACCOUNT}/email/verify", VerifyContactHandler, {"contact": _EMAIL}),
    (f"{ACCOUNT}/phone", ContactHandler, {"contact": _PHONE}),
    (f"{ACCOUNT}/phone/verify", VerifyContactHandler, {"contact": _PHONE}),
    (f"{ACCOUNT}/phone/remove", RemovePhoneHandler),
]
