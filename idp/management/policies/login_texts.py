"""Calls that read and set the texts of the sign-in pages, per language.

A text is identified by its screen (the msgctxt of `locales/`) and by its key, the English
sentence. Text by text, an organization's wording takes precedence over the installation's, and
that over the built-in one. Sentences that contain a number have several plural forms and cannot be
set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Final

from idp.changes import Change
from idp.foundation import i18n
from idp.foundation.errors import FieldProblem, NotFound
from idp.foundation.localization import rewordings
from idp.management.call import Call
from idp.management.policies import policies
from idp.policies import effective
from idp.policies.page_texts import KIND, Texts, built_in, texts_of
from idp.records import LoginText, LoginTextRules, Policy
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Items, Text
from idp.schema.reading import Request
from idp.service import Service

MAX_KEY: Final = 1000
MAX_TEXT: Final = 1000
MAX_TEXTS: Final = 500
_PLACEHOLDER: Final = re.compile(r"%\(\w+\)s")


class LoginTextEntry(Request, frozen=True, kw_only=True):
    """A text of the pages. `screen` and `key` are those of the default texts, and `text` must have
    the same placeholders as the default text.
    """

    screen: Annotated[str, Text(1)]
    key: Annotated[str, Text(1, MAX_KEY)]
    text: Annotated[str, Text(1, MAX_TEXT)]

    def check(self) -> Iterable[FieldProblem]:
        if None in (self.screen, self.key, self.text):  # refused, and reported already
            return
        key = rewordings.current(self.screen, self.key)
        if (self.screen, key) not in built_in(i18n.SOURCE):
            yield FieldProblem("login_text.not_found", "key", "is not a text of this screen")
        elif _placeholders(key) != _placeholders(self.text):
            placeholders = ", ".join(_placeholders(key)) or "none, and no per cent sign"
            yield FieldProblem(
                "login_text.placeholders", "text", f"must hold exactly: {placeholders}"
            )


class LoginTextForm(Request, frozen=True, kw_only=True):
    """All texts that replace the default ones in this language; others are the default ones."""

    texts: Annotated[list[LoginTextEntry], Items(MAX_TEXTS)]

    def check(self) -> Iterable[FieldProblem]:
        entries = [each for each in self.texts or () if each is not None]
        names = [(each.screen, each.key) for each in entries]
        if len(set(names)) < len(names):
            yield FieldProblem("login_text.repeated", "texts", "contain a text more than once")


def _placeholders(text: str) -> list[str]:
    """Returns the placeholders of a text, and each per cent sign that belongs to none."""
    return sorted(_PLACEHOLDER.findall(text)) + ["%"] * _PLACEHOLDER.sub("", text).count("%")


class LoginTextEntryView(Answer, frozen=True, kw_only=True):
    screen: str
    key: str
    text: str


class LoginTextView(Answer, frozen=True, kw_only=True):
    details: Details
    language: str
    texts: list[LoginTextEntryView] = []


class LoginTextFound(Answer, frozen=True, kw_only=True):
    """`isDefault` is true if none of the texts is the organization's own (for the installation: if
    all are built in).
    """

    details: Details
    custom_text: LoginTextView
    is_default: bool = False


class DefaultLoginTexts(Answer, frozen=True, kw_only=True):
    """Every text that can be set, with its default."""

    language: str
    texts: list[LoginTextEntryView]


async def show_default(service: Service, call: Call, language: str) -> LoginTextFound:
    """Returns the installation's texts of a language, as far as they differ from the built-in
    ones.

    Raises NotFound if there is no such language.
    """
    _check(language)
    _, stored = await effective.find(service, None, KIND, language)
    return await _answer(service, language, stored, is_default=stored is None)


async def show(service: Service, call: Call, language: str) -> LoginTextFound:
    """Returns the texts that the pages of the call's organization have in a language, as far as
    they differ from the built-in ones.

    Raises PermissionDenied, NotFound.
    """
    _check(language)
    _, own, default = await policies.find_own_and_default(service, call, KIND, language)
    return await _answer(service, language, own or default, is_default=own is None)


async def show_built_in(service: Service, call: Call, language: str) -> DefaultLoginTexts:
    """Returns the built-in wording of every text that the installation can set in a language.
    Raises NotFound if there is no such language."""
    _check(language)
    return DefaultLoginTexts(language=language, texts=_entries(built_in(language)))


async def show_inherited(service: Service, call: Call, language: str) -> DefaultLoginTexts:
    """Returns, for every text that the call's organization can set in a language, the wording that
    applies unless the organization sets its own.

    Raises PermissionDenied, NotFound.
    """
    _check(language)
    _, _, default = await policies.find_own_and_default(service, call, KIND, language)
    texts = {**built_in(language), **texts_of(default)}
    return DefaultLoginTexts(language=language, texts=_entries(texts))


async def put_default(
    service: Service, call: Call, language: str, request: LoginTextForm
) -> Change[Changed]:
    """Sets texts of the installation in a language. Raises NotFound, PreconditionFailed, Busy."""
    rules = _rules(language, request)
    return await policies.set_default(service, call, rules, KIND, language)


async def put(
    service: Service, call: Call, language: str, request: LoginTextForm
) -> Change[Changed]:
    """Sets texts of the call's organization in a language.

    Raises PermissionDenied, NotFound, PreconditionFailed, Busy.
    """
    return await policies.set_own(service, call, _rules(language, request), KIND, language)


async def reset(service: Service, call: Call, language: str) -> Change[Changed]:
    """Removes the texts that the call's organization has set in a language, so that the
    installation's apply again.

    Raises PermissionDenied, NotFound (it has none).
    """
    _check(language)
    organization, _, _ = await policies.find_own_and_default(service, call, KIND, language)
    return await policies.remove(service, call, organization.id, KIND, language)


def _rules(language: str, request: LoginTextForm) -> LoginTextRules:
    _check(language)
    texts = [LoginText(each.screen, each.key, each.text) for each in request.texts]
    return LoginTextRules(language=language, texts=texts)


def _check(language: str) -> None:
    if language not in i18n.available():
        raise NotFound("pages are not available in that language", error_code="language.not_found")


def _entries(texts: Texts) -> list[LoginTextEntryView]:
    return [
        LoginTextEntryView(screen=screen, key=key, text=text)
        for (screen, key), text in texts.items()
    ]


async def _answer(
    service: Service, language: str, policy: Policy | None, *, is_default: bool
) -> LoginTextFound:
    details = await policies.details_of(service, policy)
    view = LoginTextView(details=details, language=language, texts=_entries(texts_of(policy)))
    return LoginTextFound(details=details, custom_text=view, is_default=is_default)
