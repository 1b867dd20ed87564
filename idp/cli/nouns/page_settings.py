"""`idp picture` and `idp page-text`: logos, icons and texts of the sign-in pages."""

from __future__ import annotations

from typing import Final

from idp.cli.building import group
from idp.cli.command import command

_INSTANCE: Final = "/admin/v1"
_OWN: Final = "/management/v1"
_PICTURE: Final = "policies/label/{picture}"
_TEXTS: Final = "text/login/{language}"
_DEFAULT_TEXTS: Final = "text/default/login/{language}"


def _both(method: str, path: str) -> dict[str, str]:
    """Returns the operation for an organization, and the one that `--instance` chooses."""
    return {"": f"{method} {_OWN}/{path}", "instance": f"{method} {_INSTANCE}/{path}"}


picture = group(
    "picture",
    "Logos and icons of the sign-in pages.",
    [
        command(
            "show",
            _both("GET", _PICTURE),
            "idp picture show logo",
            summary="Show a picture of an organization, its own or inherited.",
        ),
        command(
            "set",
            _both("PUT", _PICTURE),
            "idp picture set logo --content acme.png",
            summary="Set a picture: logo, logo_dark, icon, icon_dark or background.",
        ),
        command(
            "remove",
            _both("DELETE", _PICTURE),
            "idp picture remove logo",
            confirm="Remove the picture?",
            summary="Remove an organization's own picture.",
        ),
    ],
)

page_text = group(
    "page-text",
    "Texts of the sign-in pages.",
    [
        command(
            "usual",
            _both("GET", _DEFAULT_TEXTS),
            "idp page-text usual de",
            summary="Show all texts that can be set, with their defaults.",
        ),
        command(
            "show",
            _both("GET", _TEXTS),
            "idp page-text show de",
            summary="Show the texts that are set in a language.",
        ),
        command(
            "set",
            _both("PUT", _TEXTS),
            "idp page-text set en"
            ' --text \'{"screen": "login-name", "key": "Sign in", "text": "Welcome to Acme"}\'',
            summary="Replace all texts of the sign-in pages in a language.",
        ),
        command(
            "reset",
            f"DELETE {_OWN}/{_TEXTS}",
            "idp page-text reset de",
            confirm="Reset the organization's own texts?",
            summary="Reset an organization's texts to those of the instance.",
        ),
    ],
)
