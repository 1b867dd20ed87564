"""Calls that read and set the wording of messages, per type of message
(`idp.mail.wording_rules.TYPES`) and language."""

from __future__ import annotations

from idp.changes import Change
from idp.foundation import i18n
from idp.foundation.errors import NotFound
from idp.mail import wording_rules
from idp.management.call import Call
from idp.management.policies import policies, views
from idp.management.policies.forms import MessageTextForm
from idp.management.policies.views import MessageTextFound, MessageTextView
from idp.policies import effective
from idp.records import MessageTextRules, Policy
from idp.schema.answers import Changed
from idp.service import Service

_KIND = "message_text"


async def show_default(
    service: Service, call: Call, message_type: str, language: str
) -> MessageTextFound:
    """Returns the installation's wording of a message, as far as it differs from the built-in one.

    Raises NotFound if there is no such message or language.
    """
    _check(message_type, language)
    _, stored = await effective.find(service, None, _KIND, message_type, language)
    return await _answer(service, message_type, language, stored, is_default=stored is None)


async def show(service: Service, call: Call, message_type: str, language: str) -> MessageTextFound:
    """Returns the wording that a message has for the call's organization, as far as it differs
    from the built-in one.

    Raises PermissionDenied, NotFound.
    """
    _check(message_type, language)
    _, own, default = await policies.find_own_and_default(
        service, call, _KIND, message_type, language
    )
    return await _answer(service, message_type, language, own or default, is_default=own is None)


async def put_default(
    service: Service, call: Call, message_type: str, language: str, request: MessageTextForm
) -> Change[Changed]:
    """Sets the installation's wording of a message in one language.

    Raises NotFound, PreconditionFailed, Busy.
    """
    rules = _rules(message_type, language, request)
    return await policies.set_default(service, call, rules, _KIND, message_type, language)


async def put(
    service: Service, call: Call, message_type: str, language: str, request: MessageTextForm
) -> Change[Changed]:
    """Sets the wording of a message in one language for the call's organization.

    Raises PermissionDenied, NotFound, PreconditionFailed, Busy.
    """
    rules = _rules(message_type, language, request)
    return await policies.set_own(service, call, rules, _KIND, message_type, language)


async def reset(service: Service, call: Call, message_type: str, language: str) -> Change[Changed]:
    """Removes the wording of a message that the call's organization has set, so that the
    installation's applies again.

    Raises PermissionDenied, NotFound (it has none).
    """
    _check(message_type, language)
    organization, _, _ = await policies.find_own_and_default(
        service, call, _KIND, message_type, language
    )
    return await policies.remove(service, call, organization.id, _KIND, message_type, language)


def _rules(message_type: str, language: str, request: MessageTextForm) -> MessageTextRules:
    _check(message_type, language)
    return MessageTextRules(
        type=message_type,
        language=language,
        subject=request.subject,
        title=request.title,
        greeting=request.greeting,
        text=request.text,
        button_text=request.button_text,
    )


def _check(message_type: str, language: str) -> None:
    if message_type not in wording_rules.TYPES:
        message_types = ", ".join(wording_rules.TYPES)
        raise NotFound(
            f"there is no such message; the messages are: {message_types}",
            error_code="letter.not_found",
        )
    if language not in i18n.available():
        raise NotFound(
            "messages are not available in that language", error_code="language.not_found"
        )


async def _answer(
    service: Service, message_type: str, language: str, policy: Policy | None, *, is_default: bool
) -> MessageTextFound:
    rules = MessageTextRules(type=message_type, language=language)
    if policy is not None and isinstance(policy.rules, MessageTextRules):
        rules = policy.rules
    details = await policies.details_of(service, policy)
    view = MessageTextView(details=details, **views.as_stored(rules))
    return MessageTextFound(details=details, custom_text=view, is_default=is_default)
