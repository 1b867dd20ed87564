"""The kinds of rows of an organization's texts: those of its pages, and of messages to its
users.
"""

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
from idp.transfer.kinds import settings
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind
from idp.transfer.kinds.policies import camel
from idp.transfer.kinds.settings import SettingRow
from idp.transfer.package import lossy_import
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem

_MESSAGES: Final = {
    "passwordResetMessages": ("password_reset_message", "passwordreset"),
    "verifyEmailMessages": ("verify_email_message", "verifyemail"),
}
_WORDS: Final = ("subject", "title", "greeting", "text", "button_text")


class PackagedMessage(MessageTextForm, frozen=True, kw_only=True):
    language: Name


class PackagedLoginText(Request, frozen=True, kw_only=True):
    """A row of the texts of the pages in one language.

    `texts` is a member of this service's own: other systems have other pages with other texts.
    """

    language: Name
    texts: Annotated[list[LoginTextEntry], Items(login_texts.MAX_TEXTS)] | None = None


async def plan_messages(
    message_type: str, context: ImportContext, parsed_rows: Sequence[ParsedRow]
) -> list[RowPlan]:
    """Plans rows of texts of the message `message_type` (`RowKind.plan`); each row has one
    language."""
    rows = []
    for parsed in parsed_rows:
        request = cast(PackagedMessage, parsed.request)
        language = _shipped(request.language)
        texts = {name: getattr(request, name) for name in _WORDS}
        rules = (
            MessageTextRules(type=message_type, language=language, **texts) if language else None
        )
        rows.append(
            _setting_row(context, parsed, request.language, rules, "message_text", message_type)
        )
    return await settings.plan_settings(context, parsed_rows, rows)


async def plan_login_texts(
    context: ImportContext, parsed_rows: Sequence[ParsedRow]
) -> list[RowPlan]:
    """Plans rows of texts of the pages (`RowKind.plan`); each row has one language."""
    rows = []
    for parsed in parsed_rows:
        request = cast(PackagedLoginText, parsed.request)
        language, rules = _shipped(request.language), None
        if language and request.texts is not None:
            texts = [LoginText(each.screen, each.key, each.text) for each in request.texts]
            rules = LoginTextRules(language=language, texts=texts)
        rows.append(_setting_row(context, parsed, request.language, rules, "login_text"))
    return await settings.plan_settings(context, parsed_rows, rows)


def _shipped(language: str) -> str | None:
    return i18n.lookup(language, i18n.available())


def _setting_row(
    context: ImportContext,
    parsed: ParsedRow,
    requested_language: str,
    rules: MessageTextRules | LoginTextRules | None,
    *kind: str,
) -> SettingRow:
    row_id = f"{parsed.row.org_id}_{requested_language}"
    if rules is None:
        problem = _OTHER_PAGES if _shipped(requested_language) else _NO_LANGUAGE
        return SettingRow(id=row_id, problems=(problem,))
    now = context.service.clock.now()
    return SettingRow(
        id=row_id,
        event=policies.event_object(kind[0]),
        collection=POLICIES,
        record=policies.new(parsed.row.org_id, rules, now, *kind, rules.language),
        sets=("rules",),
        problems=()
        if rules.language == requested_language
        else (_other_language(rules.language),),
    )


_NO_LANGUAGE: Final = RowProblem(
    error_code="language.not_shipped",
    field="language",
    message="is not a language of the pages and messages of this service",
    fix="Nothing to do: users can't choose that language.",
    is_error=False,
)
_OTHER_PAGES: Final = RowProblem(
    error_code="login_text.not_found",
    field="texts",
    message="is missing, and the texts of another system's pages don't match these pages",
    fix="Set the texts of the pages by hand where they should differ.",
    is_error=False,
)


def _other_language(language: str) -> RowProblem:
    return RowProblem(
        error_code="language.not_shipped",
        field="language",
        message=f"is not a language of this service: the texts are stored for {language}",
        fix="Check them after the import.",
        is_error=False,
    )


async def export_messages(
    message_type: str, context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields the organization's texts of the message `message_type`, one row per language."""
    for rules in _rules(context):
        if isinstance(rules, MessageTextRules) and rules.type == message_type:
            texts = {camel(name): getattr(rules, name) for name in _WORDS}
            yield {"language": rules.language, **texts}


async def export_login_texts(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields the organization's texts of the pages, one row per language."""
    for rules in _rules(context):
        if isinstance(rules, LoginTextRules):
            texts = [structs.asdict(each) for each in rules.texts]
            yield {"language": rules.language, "texts": texts}


def _rules(context: ExportContext) -> list[PolicyRules]:
    # By language, so that two exports of the same state are equal.
    return [each.rules for each in sorted(context.policies, key=_language)]


def _language(policy: Policy) -> str:
    return getattr(policy.rules, "language", "")


def _name(document: Mapping[str, Any]) -> str:
    return str(document.get("language") or "")


def _message_kind(member: str, row_type: str, message_type: str) -> RowKind:
    return RowKind(
        member=member,
        type=row_type,
        request=PackagedMessage,
        name=_name,
        adapt=partial(lossy_import.adapted, PackagedMessage),
        plan=partial(plan_messages, message_type),
        export=partial(export_messages, message_type),
    )


def _unsupported_message(member: str, row_type: str) -> RowKind:
    reason = "this service has no such message, or its texts can't be set"
    return RowKind(member=member, type=row_type, name=_name, unsupported=reason)


KINDS: Final = (
    RowKind(
        member="loginTexts",
        type="login_texts",
        request=PackagedLoginText,
        name=_name,
        adapt=partial(lossy_import.adapted, PackagedLoginText),
        plan=plan_login_texts,
        export=export_login_texts,
    ),
    *(_message_kind(member, *kind) for member, kind in _MESSAGES.items()),
    _unsupported_message("initMessages", "init_message"),
    _unsupported_message("verifyPhoneMessages", "verify_phone_message"),
    _unsupported_message("verifySmsOtpMessages", "verify_sms_otp_message"),
    _unsupported_message("verifyEmailOtpMessages", "verify_email_otp_message"),
    _unsupported_message("domainClaimedMessages", "domain_claimed_message"),
    _unsupported_message("passwordlessRegistrationMessages", "passwordless_registration_message"),
    _unsupported_message("passwordChangeMessages", "password_change_message"),
    _unsupported_message("inviteUserMessages", "invite_user_message"),
)
