"""Verification of e-mail addresses by a code that is sent to the mailbox."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final, Literal
from urllib.parse import quote, urlsplit

from msgspec import structs

from idp import changes
from idp.changes import Change, RecordChange
from idp.config.settings import Config
from idp.config.urls import is_loopback
from idp.foundation.errors import FailedPrecondition, IdpError, NotFound
from idp.foundation.i18n import message
from idp.foundation.opaque_tokens import Confidential
from idp.identity.factors import mail_codes
from idp.identity.factors.mail_codes import MailCodeRefused
from idp.identity.guesses import mailed_codes
from idp.identity.users import (
    login_name_reservations,
    org_domains,
    reset_links,
    superseded_addresses,
)
from idp.identity.users import lookup as user_lookup
from idp.identity.users.lookup import is_held_elsewhere, login_key
from idp.identity.users.subjects import Subject
from idp.mail import messages
from idp.mail import wording as mail_wording
from idp.mail.messages import MailMessage, MessageCode, MessageLink
from idp.mail.templates import invitation as invitation_messages
from idp.records import (
    DOMAINS,
    USERS,
    VERIFICATIONS,
    Email,
    User,
    Verification,
    VerifiedBy,
)
from idp.service import Service
from storage import Delete, Insert, Stale, Update, Write

PAGE: Final = "/ui/verify-email"
HOURS: Final = 24
Purpose = Literal["email", "phone", "password"]
_PLACEHOLDER: Final = re.compile(r"\{\{\s*\.(\w+)\s*\}\}")
_PLACEHOLDER_NAMES: Final = frozenset({"UserID", "OrgID", "Code", "LoginName"})
_UNUSABLE: Final = re.compile(r"[\s\x00-\x1f\x7f\\{}<>\"]")


class UrlTemplateRefused(IdpError):
    """The text is not a template of URLs to which a mail may link."""

    error_code = "url_template.invalid"


class AddressHeld(FailedPrecondition):
    """A user of another organization has verified the address and signs in by it."""

    error_code = "user.email_held"


class VerificationBegun(Confidential, frozen=True):
    """A new code, and the writes that make it valid, which the caller commits in the unit of the
    change that needs the code."""

    code: str
    writes: list[Write]


async def begin_email(
    service: Service,
    user: User,
    *,
    send: bool,
    url_template: str | None = None,
    by: VerifiedBy = "organization",
    may_invite: bool = True,
) -> VerificationBegun:
    """Returns a new code for the user's address; with `send`, its writes include the mail with the
    code. If the user has no password and there is no `url_template`, the mail is an invitation to
    choose one. `may_invite` is False where the address may be of anyone's mailbox: its owner then
    gets a code, which does nothing but verify the address.

    The user need not be stored yet. A code that is not sent verifies no mailbox: the address is
    then verified by the party that `by` names. Raises UrlTemplateRefused; NotFound if the user has
    no address.
    """
    if user.email is None:
        raise NotFound("the user has no email address")
    source: VerifiedBy = "mailbox" if send else by
    code, insertion = new_code(service, user, "email", user.email.address, by=source)
    writes: list[Write] = [insertion]
    if send and may_invite and user.password is None and url_template is None:
        writes = await _invitation(service, user, user.email, code, insertion)
    elif send:
        url = link(service.config, user, code, url_template)
        mail_message = await _mail_message(service, user.email, code, url, user)
        writes.append(
            messages.posting(service, "verify_email", mail_message, user.id, org_id=user.org_id)
        )
    return VerificationBegun(code=code, writes=writes)


async def _invitation(
    service: Service, user: User, email: Email, code: str, insertion: Insert
) -> list[Write]:
    """The mail with the link to choose a first password, and the write that makes link and code
    valid."""
    key, insertion = reset_links.add_key(service, user, insertion)
    bundle = messages.bundle_for(service.config, user.profile.preferred_language)
    mail_message = invitation_messages.with_link(
        bundle,
        email.address,
        urlsplit(service.config.issuer).netloc,
        code,
        reset_links.address(service.config, key),
        hours=HOURS,
        wording=await mail_wording.wording(service, user.org_id, "verifyemail", bundle.tag),
    )
    return [
        insertion,
        messages.posting(service, "invite", mail_message, user.id, org_id=user.org_id),
    ]


def new_code(
    service: Service,
    user: User,
    purpose: Purpose,
    address: str,
    lifetime: timedelta = timedelta(hours=HOURS),
    by: VerifiedBy = "mailbox",
) -> tuple[str, Insert]:
    """Returns a new code that is valid for `lifetime`, and the write that makes it valid, for the
    caller to commit.

    `purpose` is what it is for, and `address` the e-mail address, number or other text that it is
    bound to. `by` is the party that will be recorded as the one that verified the contact.
    """
    now, code = service.clock.now(), mail_codes.new(service)
    verification_id = service.random.id()
    verification = Verification(
        id=verification_id,
        user_id=user.id,
        code_mac=mail_codes.digest(service, verification_id, address, code),
        proves=purpose,
        created_at=now,
        expires_at=now + lifetime,
        verified_by=by,
    )
    return code, Insert(VERIFICATIONS, verification)


async def check_code(
    service: Service,
    user: User,
    purpose: Purpose,
    address: str | None,
    code: str,
    checked_codes: set[tuple[str, str]] | None = None,
) -> Verification:
    """Returns the stored record of `code` if it is the user's newest code for this purpose and
    `address`. The caller deletes the record in the unit of what the code verifies.

    `address` is the text that `new_code` bound it to; with None no code is right. `checked_codes`
    collects codes that were right in this request, so that a repetition after a conflicting write
    is not counted as another attempt. Raises MailCodeRefused.
    """
    page = await service.store.find(
        VERIFICATIONS,
        {"user_id": user.id, "proves": purpose},
        order="created_at",
        descending=True,
        limit=1,
    )
    if not page.records or address is None:
        raise MailCodeRefused("no code is waiting, or it has expired", error_code="code.expired")
    (newest,) = page.records
    if checked_codes is None or (newest.id, address) not in checked_codes:
        await _compare(service, user, newest, address, code)
    if checked_codes is not None:
        checked_codes.add((newest.id, address))
    return newest


async def _compare(
    service: Service, user: User, newest: Verification, address: str, code: str
) -> None:
    """Compares a code within the limits of what it proves: for a new password those of the
    account, else those of the address or number. Raises MailCodeRefused."""
    if newest.proves != "password":
        await mailed_codes.check_contact(service, newest.code_mac, newest.id, address, code)
        return
    await mail_codes.count(service, newest.id)
    is_open = await mailed_codes.is_open_to(service, user, user.user_name, is_known=False)
    expected = newest.code_mac if is_open else None
    mail_codes.compare(service, expected, newest.id, address, code)
    await mailed_codes.accepted(service, user)


async def verify_email(
    service: Service,
    user_id: str,
    code: str,
    checked_codes: set[tuple[str, str]],
    actor: str | None = None,
) -> Change[User]:
    """Marks the user's address as verified by this code, in one unit with its event, and returns
    the changed user. A code is valid once.

    `checked_codes` is an empty set for each request, as in `check_code`. Raises MailCodeRefused:
    `code.wrong`, `code.tries` after too many wrong ones, `code.expired` if there is no valid code,
    `code.closed` after too many wrong ones for this address within a day; NotFound if the user
    does not exist; AddressHeld.
    """
    user = await service.store.get(USERS, user_id)
    if user is None:
        raise NotFound("there is no such user")
    address = user.email.address if user.email else None
    verification = await check_code(service, user, "email", address, code, checked_codes)
    key = login_key(address or "")
    reservations = await login_name_reservations.read(service, [key])
    by, guards = await _source(service, user, verification.verified_by)
    if by != "organization" and await is_held_elsewhere(service, user.org_id, key):
        raise AddressHeld("the address is verified for a user of another organization")
    update = _verified(service, user, actor or user_id, by)
    return Change(
        update.record,
        [
            *update.writes,
            *await _superseding_writes(service, update.record, actor or user_id),
            *reservations.writes(service),
            *guards,
            Delete(VERIFICATIONS, verification.id),
        ],
    )


async def mark_reached(service: Service, subject: Subject) -> Change[Subject]:
    """Marks the user's address as verified, because a mail to it was answered, and returns the
    changed subject.

    An address that a user of another organization has verified is not changed. Raises Stale if the
    user was changed concurrently.
    """
    if subject.user.email is None or subject.user.email.is_verified_everywhere:
        return Change(subject)
    user = await service.store.get(USERS, subject.user.id)
    if user is None or user.stamp != subject.user.stamp or user.email != subject.user.email:
        raise Stale(USERS.name, subject.user.id)
    key = login_key(subject.user.email.address)
    reservations = await login_name_reservations.read(service, [key])
    if await is_held_elsewhere(service, user.org_id, key):
        return Change(structs.replace(subject, user=user))
    update = _verified(service, user, user.id, "mailbox")
    superseding = await _superseding_writes(service, update.record, user.id)
    return Change(
        structs.replace(subject, user=update.record),
        [*update.writes, *superseding, *reservations.writes(service)],
    )


async def _source(service: Service, user: User, by: VerifiedBy) -> tuple[VerifiedBy, list[Update]]:
    """The party that verified the address, with guards that this stays so. If the organization
    itself got the code and has verified the address's domain, that is the domain."""
    if by != "organization" or user.email is None:
        return by, []
    domain = await org_domains.verified(service, user.email.address)
    if domain is None or domain.org_id != user.org_id:
        return by, []
    return "domain", [Update(DOMAINS, domain.id, expect={"verified_key": domain.domain})]


def _verified(service: Service, user: User, actor: str, by: VerifiedBy) -> RecordChange[User]:
    if user.email is None:
        raise NotFound("the user has no email address")
    email = Email(address=user.email.address, is_verified=True, verified_by=by)
    values = {"email": email, "email_key": user_lookup.email_key(email, user.org_id)}
    return changes.updated(
        service,
        changes.by(actor),
        USERS,
        user,
        values,
        "user.email_verified",
        payload={"verifiedBy": by},
    )


async def _superseding_writes(service: Service, user: User, actor: str) -> list[Write]:
    """Returns the writes by which other users lose an address that this user has verified."""
    if user.email is None or not user.email.is_verified_everywhere:
        return []
    key = login_key(user.email.address)
    return await superseded_addresses.deferred_writes(service, key, actor)


def check_url_template(config: Config, template: str) -> None:
    """Raises UrlTemplateRefused unless a mail may link to the URLs that the template produces.

    It is an https URL (or http on the local machine), with `{{.UserID}}`, `{{.OrgID}}`,
    `{{.Code}}` and `{{.LoginName}}` in path, query and fragment only, so that no value can change
    the host.
    """
    sample = _PLACEHOLDER.sub("x", template)
    names = set(_PLACEHOLDER.findall(template))
    try:
        parts, template_parts = urlsplit(sample), urlsplit(template)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        raise UrlTemplateRefused("the address can't be read") from None
    if names - _PLACEHOLDER_NAMES:
        text = "it may name {{.UserID}}, {{.OrgID}}, {{.Code}} and {{.LoginName}} only"
        raise UrlTemplateRefused(text)
    if _UNUSABLE.search(sample) or "{" in template_parts.netloc or "@" in parts.netloc or not host:
        raise UrlTemplateRefused("it must be the whole address of a page, with a plain host")
    is_local = config.is_loopback and is_loopback(host)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_local):
        raise UrlTemplateRefused("it must begin with https://")


def link(config: Config, user: User, code: str, template: str | None) -> str:
    """Returns the URL for the mail with a code: the `template` with its placeholders replaced, or
    the service's own page if it is None. Raises UrlTemplateRefused."""
    values = {
        "UserID": user.id,
        "OrgID": user.org_id,
        "Code": code,
        "LoginName": user.user_name,
    }
    if template is None:
        return f"{config.issuer}{PAGE}?user={quote(user.id, safe='')}&code={code}"
    check_url_template(config, template)
    return _PLACEHOLDER.sub(lambda match: quote(values[match[1]], safe=""), template)


async def _mail_message(
    service: Service, email: Email, code: str, url: str, user: User
) -> MailMessage:
    """The mail contains no name, so that no one can choose a text that a stranger reads."""
    config = service.config
    bundle = messages.bundle_for(config, user.profile.preferred_language)
    return messages.write(
        bundle,
        email.address,
        message("Verify your email", context="mail"),
        [
            message(
                "An account at %(host)s uses this email. To verify it, enter this code"
                " when you're asked for it:",
                context="mail",
                host=urlsplit(config.issuer).netloc,
            ),
            MessageCode(code),
            MessageLink(message("Or open this page:", context="mail"), url),
            message(
                "The code is valid for %(n)s hour.",
                plural="The code is valid for %(n)s hours.",
                context="mail",
                n=HOURS,
            ),
            message(
                "If you didn't request this, ignore this email and don't share the code.",
                context="mail",
            ),
        ],
        await mail_wording.wording(service, user.org_id, "verifyemail", bundle.tag),
    )
