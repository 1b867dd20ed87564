"""The template values that come from page settings: colours, pictures, links, languages."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from idp.foundation import i18n
from idp.foundation.i18n import Message, message
from idp.policies.page_settings import PageSettings
from idp.records import PrivacyRules
from idp.records.policies import Layout

_LANGUAGE: Final = re.compile(r"\{\{\s*\.Lang\s*\}\}")


def template_values(settings: PageSettings, tag: str) -> dict[str, object]:
    """Returns the template values that `templates/page.mako` takes from the page settings; `tag`
    is the page's language."""
    logo, is_named = settings.logo, settings.label.disable_watermark
    return {
        "brand_url": brand_url(settings),
        "links": links_of(settings.privacy, tag),
        "languages": languages(settings.languages),
        "logo": logo,
        "brand_layout": _layout(settings),
        "backdrop": settings.background if _layout(settings) == "split" else None,
        "logo_name": settings.name if logo and logo.is_own else None,
        "site_icon": settings.icon,
        "service_name": settings.name if is_named else None,
    }


def _layout(settings: PageSettings) -> Layout:
    """Returns the layout of the sign-in pages: one with a picture needs a picture."""
    layout = settings.label.layout
    return "card" if layout == "split" and settings.background is None else layout


def languages(tags: tuple[str, ...]) -> list[tuple[str, str]]:
    """Returns the entries of the language switcher: each language tag with the language's own
    name."""
    return [(tag, i18n.endonym(tag)) for tag in tags]


def brand_url(settings: PageSettings) -> str | None:
    """Returns the address of the organization's stylesheet; None if it has no colours of its
    own."""
    return "/ui/brand/{}/{}.css".format(*settings.brand) if settings.brand else None


def links_of(privacy: PrivacyRules, tag: str) -> list[tuple[Message, str]]:
    """Returns the labels and addresses of the links at the foot of every page. `tag`, the page's
    language, is inserted into addresses that have a placeholder for it."""
    links = [
        (message("Privacy policy", context="page"), privacy.privacy_link),
        (message("Terms of service", context="page"), privacy.tos_link),
        (message("Help", context="page"), privacy.help_link),
        (message("Documentation", context="page"), privacy.docs_link),
        (message("Contact support", context="page"), support_url(privacy)),
    ]
    return [(label, _LANGUAGE.sub(tag, url)) for label, url in links if url]


def support_url(privacy: PrivacyRules) -> str | None:
    """Returns the address that writes an email to support; None without one."""
    email = quote(privacy.support_email, safe="@")
    return f"mailto:{email}" if email else None
