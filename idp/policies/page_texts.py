"""The texts of pages: those that are built in, and those that an organization has instead."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, TypeAlias

from idp.foundation import i18n
from idp.foundation.i18n import Bundle
from idp.policies import effective
from idp.records import LoginTextRules, Policy
from idp.service import Service

KIND: Final = "login_text"
# Those that somebody meets on the way to an application; of all other pages the words stay.
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
    """Every text that can be set, as the service has it in a language."""
    bundle = i18n.load(language)
    return {
        (context, key): bundle.pgettext(context, key)
        for context, key in i18n.singulars()
        if context in SCREENS
    }


async def bundle(service: Service, org_id: str | None, language: str) -> Bundle:
    """The texts of an organization's pages, or the installation's, in a language."""
    own, default = await effective.find(service, org_id, KIND, language)
    texts = {**texts_of(default), **texts_of(own)}
    known = i18n.load(language)
    return known.overlaid(texts) if texts else known


def texts_of(policy: Policy | None) -> dict[tuple[str, str], str]:
    """The texts that a policy sets, by screen and key."""
    if policy is None or not isinstance(policy.rules, LoginTextRules):
        return {}
    return {(each.screen, each.key): each.text for each in policy.rules.texts}
