"""The template values that come from page settings: colours, pictures, links, languages."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from idp.foundation import i18n
from idp.foundation.i18n import Message, message
from idp.policies.page_settings import PageSettings
from idp.records import PrivacyRules

_LANGUAGE: Final = re.compile(r"\{\{\s*\.Lang\s*\}\}")


def about(look: PageSettings, tag: str) -> dict[str, object]:
    """Returns the template values that `templates/page.mako` takes from the page settings; `tag`
    is the page's language."""
    logo, is_named = look.logo, look.label.disable_watermark
    return {
        "brand_url": brand_url(look),
        "links": links_of(look.privacy, tag),
        "languages": languages(look.languages),
        "logo": logo,
        "logo_name": look.name if logo and logo.is_own else None,
        "icon": look.icon,
        "service_name": look.name if is_named else None,
    }


def languages(tags: tuple[str, ...]) -> list[tuple[str, str]]:
    """Returns the entries of the language switcher: each language tag with the language's own
    name."""
    return [(tag, i18n.endonym(tag)) for tag in tags]


def brand_url(look: PageSettings) -> str | None:
    """Returns the address of the organization's stylesheet; None if it has no colours of its
    own."""
    return "/ui/brand/{}/{}.css".format(*look.brand) if look.brand else None


def links_of(privacy: PrivacyRules, tag: str) -> list[tuple[Message, str]]:
    """Returns the labels and addresses of the links at the foot of every page. `tag`, the page's
    language, is inserted into addresses that have a placeholder for it."""
    email = quote(privacy.support_email, safe="@")
    links = [
        (message("Terms of service", context="page"), privacy.tos_link),
        (message("Privacy policy", context="page"), privacy.privacy_link),
        (message("Help", context="page"), privacy.help_link),
        (message("Documentation", context="page"), privacy.docs_link),
        (
            message("Ask for support", context="page"),
            email and f"mailto:{email}",
        ),
    ]
    return [(label, _LANGUAGE.sub(tag, url)) for label, url in links if url]
