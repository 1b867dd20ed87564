"""Texts of an organization: of its pages, and of the messages to its users."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, cast

from msgspec import structs

from idp.foundation import i18n
from idp.management.policies import login_texts, policies
from idp.management.policies.forms import MessageTextForm
from idp.management.policies.login_texts import LoginTextEntry
from idp.records import (
    POLICIES,
    LoginText,
    LoginTextRules,
    MessageTextRules,
    Organization,
    Policy,
)
from idp.records.policies import PolicyRules
from idp.schema.field_rules import Items, Name
from idp.schema.reading import Request
from idp.search import paging
from idp.transfer.kinds import settings
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind
from idp.transfer.kinds.policies import camel
from idp.transfer.kinds.settings import SettingRow
from idp.transfer.package import lossy_import
from idp.transfer.package.rows import PreparedRow, Read, RowProblem

_LETTERS: Final = {
    "passwordResetMessages": ("password_reset_message", "passwordreset"),
    "verifyEmailMessages": ("verify_email_message", "verifyemail"),
}
_WORDS: Final = ("subject", "title", "greeting", "text", "button_text")


class PackagedMessage(MessageTextForm, frozen=True, kw_only=True):
    language: Name


class PackagedLoginText(Request, frozen=True, kw_only=True):
    """Texts of the pages in a language.

    `texts` are this service's own: other systems have other pages with other texts.
    """

    language: Name
    texts: Annotated[list[LoginTextEntry], Items(login_texts.MAX_TEXTS)] | None = None


async def prepare_messages(
    type: str, taking: ImportContext, reads: Sequence[Read]
) -> list[PreparedRow]:
    """Plans the texts of a message in a language."""
    wanted = []
    for read in reads:
        request = cast(PackagedMessage, read.request)
        language = _shipped(request.language)
        words = {name: getattr(request, name) for name in _WORDS}
        rules = MessageTextRules(type=type, language=language, **words) if language else None
        wanted.append(_wanted(taking, read, request.language, rules, "message_text", type))
    return await settings.stored(taking, reads, wanted)


async def prepare_login_texts(taking: ImportContext, reads: Sequence[Read]) -> list[PreparedRow]:
    """Plans the texts of the pages in a language."""
    wanted = []
    for read in reads:
        request = cast(PackagedLoginText, read.request)
        language, rules = _shipped(request.language), None
        if language and request.texts is not None:
            texts = [LoginText(each.screen, each.key, each.text) for each in request.texts]
            rules = LoginTextRules(language=language, texts=texts)
        wanted.append(_wanted(taking, read, request.language, rules, "login_text"))
    return await settings.stored(taking, reads, wanted)


def _shipped(language: str) -> str | None:
    return i18n.lookup(language, i18n.available())


def _wanted(
    taking: ImportContext,
    read: Read,
    said: str,
    rules: MessageTextRules | LoginTextRules | None,
    *kind: str,
) -> SettingRow:
    id = f"{read.row.org_id}_{said}"
    if rules is None:
        problem = _OTHER_PAGES if _shipped(said) else _NO_LANGUAGE
        return SettingRow(id=id, problems=(problem,))
    now = taking.service.clock.now()
    return SettingRow(
        id=id,
        event=policies.event_object(kind[0]),
        collection=POLICIES,
        record=policies.new(read.row.org_id, rules, now, *kind, rules.language),
        sets=("rules",),
        problems=() if rules.language == said else (_elsewhere(rules.language),),
    )


_NO_LANGUAGE: Final = RowProblem(
    error_code="language.not_shipped",
    field="language",
    message="is none that pages and letters are written in here",
    fix="Nothing: nobody can choose that language.",
    is_error=False,
)
_OTHER_PAGES: Final = RowProblem(
    error_code="login_text.not_found",
    field="texts",
    message="is not there, and the texts of another system's pages have no place on these",
    fix="Set the texts of the pages by hand, where they are to be other ones.",
    is_error=False,
)


def _elsewhere(language: str) -> RowProblem:
    return RowProblem(
        error_code="language.not_shipped",
        field="language",
        message=f"is none that there is here: the texts are kept for {language}",
        fix="Look at them after the import.",
        is_error=False,
    )


async def tell_messages(
    type: str, telling: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields the texts of a message, one row per language."""
    for rules in await _rules(telling, organization):
        if isinstance(rules, MessageTextRules) and rules.type == type:
            words = {camel(name): getattr(rules, name) for name in _WORDS}
            yield {"language": rules.language, **words}


async def tell_login_texts(
    telling: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields the texts of the pages, one row per language."""
    for rules in await _rules(telling, organization):
        if isinstance(rules, LoginTextRules):
            texts = [structs.asdict(each) for each in rules.texts]
            yield {"language": rules.language, "texts": texts}


async def _rules(telling: ExportContext, organization: Organization) -> list[PolicyRules]:
    where = {"org_id": organization.id}
    found = [each async for each in paging.walk(telling.view, POLICIES, where)]
    # By language, so that two exports of the same state are equal.
    return [each.rules for each in sorted(found, key=_language)]


def _language(policy: Policy) -> str:
    return getattr(policy.rules, "language", "")


def _name(document: Mapping[str, Any]) -> str:
    return str(document.get("language") or "")


def _letter(member: str, type: str, letter: str) -> RowKind:
    return RowKind(
        member=member,
        type=type,
        request=PackagedMessage,
        name=_name,
        ease=partial(lossy_import.eased, PackagedMessage),
        prepare=partial(prepare_messages, letter),
        tell=partial(tell_messages, letter),
    )


def _no_letter(member: str, type: str) -> RowKind:
    told = "there is no such letter here, or none whose words can be set"
    return RowKind(member=member, type=type, name=_name, unsupported=told)


KINDS: Final = (
    RowKind(
        member="loginTexts",
        type="login_texts",
        request=PackagedLoginText,
        name=_name,
        ease=partial(lossy_import.eased, PackagedLoginText),
        prepare=prepare_login_texts,
        tell=tell_login_texts,
    ),
    *(_letter(member, *kind) for member, kind in _LETTERS.items()),
    _no_letter("initMessages", "init_message"),
    _no_letter("verifyPhoneMessages", "verify_phone_message"),
    _no_letter("verifySmsOtpMessages", "verify_sms_otp_message"),
    _no_letter("verifyEmailOtpMessages", "verify_email_otp_message"),
    _no_letter("domainClaimedMessages", "domain_claimed_message"),
    _no_letter("passwordlessRegistrationMessages", "passwordless_registration_message"),
    _no_letter("passwordChangeMessages", "password_change_message"),
    _no_letter("inviteUserMessages", "invite_user_message"),
)
