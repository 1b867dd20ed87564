"""The console's texts for invalid pictures, page texts and languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.foundation.i18n import Message, message

OF_FIELDS: Final[Mapping[str, Message]] = {
    "picture.kind": message("This is no PNG, JPEG or WebP picture.", context="policies"),
    "picture.svg": message(
        "SVG can hold scripts and is not taken. Save it as PNG.", context="policies"
    ),
    "picture.animated": message("This moves. Send a single picture.", context="policies"),
    "picture.invalid": message(
        "This picture is damaged. Save it anew, and send that.", context="policies"
    ),
    "picture.too_large": message(
        "This is too large: 512 kB and 2000 pixels at most.", context="policies"
    ),
    "login_text.placeholders": message(
        "Use the parts of the usual text with a per cent sign, each once as it is, and no others.",
        context="policies",
    ),
    "language.not_allowed": message(
        "This is not one of the languages to choose from.", context="policies"
    ),
}
