"""The texts of pages: the built-in ones, and those that an organization has set instead."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, TypeAlias

from idp.foundation import i18n
from idp.foundation.i18n import Bundle
from idp.foundation.localization import rewordings
from idp.policies import effective
from idp.records import LoginTextRules, Policy
from idp.service import Service

KIND: Final = "login_text"
# The pages of a sign-in to an application, as the API names them; `page` has the texts that all of
# them share. The texts of other pages cannot be set.
SCREENS: Final = (
    "page",
    "login-name",
    "password",
    "passkey",
    "factor",
    "reset",
    "accounts",
    "organization",
    "register",
    "verify-email",
    "user-name",
    "change-password",
    "consent",
    "device",
    "logout",
    "signed-in",
    "expired",
)

Texts: TypeAlias = Mapping[tuple[str, str], str]


@cache
def built_in(language: str) -> Texts:
    """Returns the built-in wording, in a language, of every text that can be set, by screen and
    key."""
    bundle = i18n.load(language)
    return {
        (context, key): bundle.pgettext(context, key)
        for context, key in i18n.singulars()
        if context in SCREENS
    }


async def bundle(service: Service, org_id: str | None, language: str) -> Bundle:
    """Returns the texts of an organization's pages, or the installation's (None), in a language:
    the built-in ones, with those that the stored policies set in place of them."""
    own, default = await effective.find(service, org_id, KIND, language)
    texts = {**texts_of(default), **texts_of(own)}
    shipped = i18n.load(language)
    return shipped.with_overrides(texts) if texts else shipped


def texts_of(policy: Policy | None) -> dict[tuple[str, str], str]:
    """Returns the texts that a policy sets, by screen and key. A text that it names by a former
    wording has the current one as its key; a text that no page has any longer is omitted."""
    if policy is None or not isinstance(policy.rules, LoginTextRules):
        return {}
    texts_by_name = {
        (each.screen, rewordings.current(each.screen, each.key)): each.text
        for each in policy.rules.texts
    }
    return {key: text for key, text in texts_by_name.items() if key in built_in(i18n.SOURCE)}
