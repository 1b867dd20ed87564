"""The console's texts for invalid pictures, page texts and languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.foundation.i18n import Message, message

FIELD_TEXTS: Final[Mapping[str, Message]] = {
    "picture.kind": message("Choose a PNG, JPEG or WebP picture.", context="policies"),
    "picture.svg": message(
        "Save the picture as PNG. SVG files can contain scripts and aren't accepted.",
        context="policies",
    ),
    "picture.animated": message("Choose a picture that isn't animated.", context="policies"),
    "picture.invalid": message(
        "Save the picture again and upload it. This file is damaged.", context="policies"
    ),
    "picture.too_large": message(
        "Choose a smaller picture: at most 512 kB and 2000 pixels.", context="policies"
    ),
    "login_text.placeholders": message(
        "Use each placeholder of the default text once, unchanged, and no others.",
        context="policies",
    ),
    "language.not_allowed": message("Choose one of the allowed languages.", context="policies"),
}
