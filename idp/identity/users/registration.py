"""Self-registration: the form, and the account that waits for the verification of its address.

Nothing of an account is stored as a user before the code from the mail was entered. No page
reveals which addresses or names are taken: only a mail to the address says that it has an account,
and a taken name is reported only after the mailbox was verified.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

import msgspec
from msgspec import Struct, structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.config.settings import Config
from idp.foundation import i18n, user_names
from idp.foundation.i18n import Message, message
from idp.foundation.opaque_tokens import Confidential
from idp.foundation.texts import typed_texts
from idp.foundation.user_names import NameRefused
from idp.identity.factors import second_factors
from idp.identity.users import creation as user_creation
from idp.identity.users import login_name_availability, password_acceptance
from idp.identity.users import lookup as user_lookup
from idp.identity.users.creation import NewHuman, PreparedUser
from idp.identity.users.login_name_availability import Candidate
from idp.mail import messages
from idp.passwords import policy as password_policy
from idp.policies import effective
from idp.records import USERS, Email, LoginRules, Organization, Password, Profile, sealed_fields
from idp.schema import field_rules
from idp.schema.field_rules import FieldRefused, Rule, Text
from idp.service import Service
from storage import Insert, Write

ClosedReason = Literal["disabled", "no_mail"]

_PURPOSE: Final = sealed_fields.REGISTRATION.purpose
_MISSING: Final = {
    "givenName": message("Enter your given name.", context="register"),
    "familyName": message("Enter your family name.", context="register"),
    "email": message("Enter your email.", context="register"),
}
_TOO_LONG: Final = message("Enter at most 200 characters.", context="register")
_CHARACTERS: Final = message("Remove the characters that can't be used.", context="register")
_NO_ADDRESS: Final = message("Enter an email such as name@example.com.", context="register")


class RegistrationProblem(Struct, frozen=True):
    """A problem with one field of the form, or with the whole form if `field` is None, as the text
    that the page displays."""

    field: str | None
    text: Message


class FormValues(Confidential, frozen=True):
    """The values of the registration form as they were sent."""

    given_name: str = ""
    family_name: str = ""
    email: str = ""
    user_name: str = ""
    password: str = ""


NOTHING: Final = FormValues()


class NewAccount(Confidential, frozen=True):
    """The validated values of an account that waits for verification; its password is hashed."""

    given_name: str
    family_name: str
    email: str
    user_name: str
    password_hash: str
    password_changed_at: datetime
    language: str | None
    password_is_long: bool | None = None


async def closed_reason(service: Service, org_id: str) -> ClosedReason | None:
    """Returns the reason why no user can register in the organization: `disabled` by the policy,
    or `no_mail` can be sent; None if registration is open."""
    return closed_reason_by_rules(service.config, await effective.login(service, org_id))


def closed_reason_by_rules(config: Config, rules: LoginRules) -> ClosedReason | None:
    """Returns what `closed_reason` returns in an organization with these rules."""
    if not rules.allow_register:
        return "disabled"
    return None if messages.is_readable(config) else "no_mail"


async def read(
    service: Service, organization: Organization, sent: FormValues, application: str = ""
) -> tuple[FormValues, list[RegistrationProblem]]:
    """Returns the normalised values of the form and all problems with them. `application` is the
    name of the application that the person is about to sign in to. Raises HashingBusy."""
    problems: list[RegistrationProblem] = []
    email = _read(problems, "email", field_rules.EmailRule(), typed_texts.name(sent.email))
    typed = FormValues(
        given_name=_read(problems, "givenName", Text(1), sent.given_name),
        family_name=_read(problems, "familyName", Text(1), sent.family_name),
        email=email,
        user_name=typed_texts.name(sent.user_name) or email,
        password=sent.password,
    )
    problems.sort(key=lambda problem: [*_MISSING].index(problem.field or ""))
    if sent.user_name.strip() or not problems:
        problems += name_problems(typed.user_name, typed.email)
    password_problems = await _password_problems(
        service, organization, typed, sent.password, application
    )
    return typed, problems + [
        RegistrationProblem("newPassword", each.text) for each in password_problems
    ]


async def _password_problems(
    service: Service,
    organization: Organization,
    typed: FormValues,
    password: str,
    application: str,
) -> list[password_policy.PasswordProblem]:
    words = await user_creation.password_words(service, organization, _human(typed))
    has_factor = await second_factors.is_forced(service, organization.id)
    required = await password_acceptance.chosen_requirements(
        service, organization.id, [*words, application], has_factor=has_factor
    )
    return await password_acceptance.problems(service, password, required)


def _read(problems: list[RegistrationProblem], name: str, rule: Rule, sent: str) -> str:
    sent = sent.strip()
    try:
        value: str = rule.read(sent)
    except FieldRefused as refused:
        texts = {"field.empty": _MISSING[name], "field.too_long": _TOO_LONG}
        other_text = _NO_ADDRESS if name == "email" else _CHARACTERS
        problems.append(RegistrationProblem(name, texts.get(refused.error_code, other_text)))
        return sent[: field_rules.MAX_TEXT]
    return value


def name_problems(user_name: str, own_address: str) -> list[RegistrationProblem]:
    """Returns why the owner of `own_address` can't have this user name.

    Another user's address is refused: its owner could no longer sign in by it.
    """
    if not user_name:
        missing = message("Choose a username.", context="register")
        return [RegistrationProblem("userName", missing)]
    if len(user_name) > user_names.MAX_NAME_CHARACTERS:
        return [RegistrationProblem("userName", _TOO_LONG)]
    try:
        user_names.check_name(user_name)
    except NameRefused as refused:
        text = _TOO_LONG if refused.error_code == "user.name_length" else _CHARACTERS
        return [RegistrationProblem("userName", text)]
    key = user_lookup.login_key(user_name)
    if "@" in key and key != user_lookup.login_key(own_address):
        foreign = message("Enter a username without @, or your own email.", context="register")
        return [RegistrationProblem("userName", foreign)]
    return []


def _human(typed: FormValues) -> NewHuman:
    """The person that the form describes, with the values that the password rules use."""
    return NewHuman(
        user_name=typed.user_name,
        profile=_profile(typed.given_name, typed.family_name, None),
        email=Email(address=typed.email) if typed.email else None,
    )


def _profile(given_name: str, family_name: str, language: str | None) -> Profile:
    profile = Profile(
        display_name="",
        given_name=given_name,
        family_name=family_name,
        preferred_language=language,
    )
    return user_creation.with_display_name(profile)


async def draft(service: Service, org_id: str, typed: FormValues, language: str) -> NewAccount:
    """Returns the account to be created once its address is verified, with the password hashed.
    Raises HashingBusy."""
    password = await password_acceptance.hashed(service, org_id, typed.password)
    return NewAccount(
        given_name=typed.given_name,
        family_name=typed.family_name,
        email=typed.email,
        user_name=typed.user_name,
        password_hash=password.hash,
        password_changed_at=password.changed_at,
        password_is_long=password.is_long,
        language=language if language in i18n.available() else None,
    )


def seal(service: Service, account: NewAccount) -> str:
    """Returns the account that waits for its code, with its hashed password, encrypted under the
    master key for `Registration.sealed`; `unseal` decrypts it."""
    return service.master_key.seal(msgspec.json.encode(account), _PURPOSE)


def unseal(service: Service, sealed: str) -> NewAccount:
    """Returns the account that `seal` has encrypted."""
    return msgspec.json.decode(service.master_key.open(sealed, _PURPOSE), type=NewAccount)


def form_values(service: Service, sealed: str) -> FormValues:
    """Returns the values of the form, without the password, from an account that `seal` has
    encrypted."""
    account = unseal(service, sealed)
    return FormValues(
        given_name=account.given_name,
        family_name=account.family_name,
        email=account.email,
        user_name="" if account.user_name == account.email else account.user_name,
    )


async def is_known(service: Service, organization: Organization, address: str) -> bool:
    """Returns whether a user signs in by this e-mail address already, or has verified it.

    `organization` is the one to register in.
    """
    verified_email = Email(address=address, is_verified=True)
    taken_names = await login_name_availability.taken(
        service, Candidate(organization, address, verified_email)
    )
    return not taken_names.isdisjoint({"user_name", "email"})


async def prepare(
    service: Service, organization: Organization, account: NewAccount
) -> PreparedUser:
    """Returns the new user, whose mailbox is verified, with the writes that store it and its two
    events (the creation and the verification), for the caller to commit."""
    registration_id = service.random.id()
    new = NewHuman(
        id=registration_id,
        user_name=account.user_name,
        profile=_profile(account.given_name, account.family_name, account.language),
        email=Email(address=account.email, is_verified=True),
        password=Password(
            hash=account.password_hash,
            changed_at=account.password_changed_at,
            is_long=account.password_is_long,
        ),
    )
    prepared = await user_creation.prepare(service, organization, new, actor=registration_id)
    verified = structs.replace(prepared.user, sequence=prepared.user.sequence + 1)
    writes: list[Write] = [
        Insert(USERS, verified) if write.collection is USERS else write
        for write in prepared.writes
    ]
    entry = AuditEntry("user.email_verified", registration_id, service.clock.now())
    writes.append(events.changed(service.random, USERS, prepared.user, entry))
    return PreparedUser(user=verified, writes=writes, problems=prepared.problems)
