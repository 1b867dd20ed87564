"""/ui/account/email and /ui/account/phone: the person's contacts and their verification."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

from handlers.account.form import FormHandler
from handlers.account.sections import ACCOUNT
from handlers.forms import user_fields
from handlers.forms.fields import FormField, at
from handlers.forms.run_operation import Document
from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.foundation.i18n import message
from idp.identity.guesses import mail_limits
from idp.identity.users.lookup import login_key
from idp.management.users import contacts, verify_contact
from idp.management.users.contacts import EmailCode, PhoneCode
from idp.management.users.new_user import NewEmail, NewPhone
from idp.management.users.verify_contact import VerificationCode
from idp.oauth.params import Params
from idp.schema import reading

Kind = Literal["email", "phone"]

_CODE: Final = FormField(
    path="verificationCode",
    label=message("Code", context="verify-email"),
    hint=message("8 digits; spaces do not matter.", context="verify-email"),
    autocomplete="one-time-code",
    direction="ltr",
    is_required=True,
    is_sent_empty=True,
)
_AGAIN: Final = "again"
_SEND_AGAIN: Final = message("Send another code", context="account")


class _ContactHandler(FormHandler):
    """A page about the e-mail address or the phone number."""

    section = "profile"
    kind: ClassVar[Kind]

    def value(self) -> str:
        """Returns the stored address or number."""
        return str(at(self.account(), f"human.{self.kind}.{self.kind}") or "")

    async def count_code(self, to: str) -> None:
        """Counts a code that is sent to this contact. Raises Throttled."""
        await mail_limits.admit(self.service, to, self.origin(self.person.agent))


def _field(kind: Kind, autocomplete: str) -> FormField:
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


class EmailHandler(_ContactHandler):
    """Changes the e-mail address. The new one has to be verified, and the old one is notified."""

    is_sensitive = True
    is_profile = True
    kind: ClassVar[Kind] = "email"
    title = message("Change the e-mail address", context="users")
    intro = message("We send a code there, to confirm that it is yours.", context="account")
    fields = (_field("email", "email"),)
    done_word = "sent"
    then = f"{ACCOUNT}/email/verify"

    async def act(self, document: Document, if_match: int | None) -> None:
        request = reading.read(NewEmail, document)
        self.refuse_same(request.email)
        await self.count_code(request.email)
        user_id = self.person.user.id
        await contacts.set_email(self.service, self.call(if_match), user_id, request)

    def refuse_same(self, value: str) -> None:
        """Raises InvalidArgument for the stored contact, which would lose its verification."""
        if login_key(value) == login_key(self.value()):
            raise InvalidArgument([FieldProblem("contact.same", self.kind, "is known already")])


class PhoneHandler(EmailHandler):
    """Changes the phone number, which has to be verified."""

    kind: ClassVar[Kind] = "phone"
    title = message("Change the phone number", context="users")
    fields = (_field("phone", "tel"),)
    then = f"{ACCOUNT}/phone/verify"

    async def act(self, document: Document, if_match: int | None) -> None:
        request = reading.read(NewPhone, document)
        self.refuse_same(request.phone)
        await self.count_code(request.phone)
        user_id = self.person.user.id
        await contacts.set_phone(self.service, self.call(if_match), user_id, request)


class RemovePhoneHandler(_ContactHandler):
    """Asks for confirmation before the phone number is removed."""

    is_sensitive = True
    is_profile = True
    kind: ClassVar[Kind] = "phone"
    title = message("Remove the phone number", context="users")
    button = message("Remove", context="console")
    is_dangerous = True
    done_word = "removed"

    def about(self) -> str | None:
        return self.value() or None

    async def act(self, document: Document, if_match: int | None) -> None:
        await contacts.remove_phone(self.service, self.call(if_match), self.person.user.id)


class AccountVerifyEmailHandler(_ContactHandler):
    """Asks for the code that was sent to the e-mail address."""

    kind: ClassVar[Kind] = "email"
    title = message("Confirm your e-mail address", context="verify-email")
    button = message("Confirm", context="users")
    fields = (_CODE,)
    done_word = "verified"
    is_again = False
    others = ((_AGAIN, _SEND_AGAIN),)

    def about(self) -> str | None:
        return self.value() or None

    async def submit(self, form: Params, *ids: str) -> None:
        self.is_again = form.get("decision") == _AGAIN
        await super().submit(form, *ids)

    async def act(self, document: Document, if_match: int | None) -> None:
        if self.is_again:
            await self.count_code(self.value())
            await self.resend()
            return
        request, user_id = reading.read(VerificationCode, document), self.person.user.id
        await verify_contact.verify(self.service, self.call(), user_id, request, self.kind)

    async def resend(self) -> None:
        """Sends another code, which invalidates those before."""
        user_id = self.person.user.id
        await contacts.resend_email(self.service, self.call(), user_id, EmailCode())

    def done(self, what: str, path: str | None = None) -> None:
        if self.is_again:
            # Back to this page, which asks for the new code.
            super().done("sent", self.request.path)
        else:
            super().done(what, path)


class VerifyPhoneHandler(AccountVerifyEmailHandler):
    """Asks for the code that was sent to the phone number."""

    kind: ClassVar[Kind] = "phone"
    title = message("Confirm your phone number", context="mail")

    async def resend(self) -> None:
        user_id = self.person.user.id
        await contacts.resend_phone(self.service, self.call(), user_id, PhoneCode())


ROUTES = [
    (f"{ACCOUNT}/email", EmailHandler),
    (f"{ACCOUNT}/email/verify", AccountVerifyEmailHandler),
    (f"{ACCOUNT}/phone", PhoneHandler),
    (f"{ACCOUNT}/phone/verify", VerifyPhoneHandler),
    (f"{ACCOUNT}/phone/remove", RemovePhoneHandler),
]
