"""`idp picture` and `idp page-text`: logos, icons and texts of the sign-in pages."""

from __future__ import annotations

from typing import Final

from idp.cli.building import group
from idp.cli.command import command

_INSTANCE: Final = "/admin/v1"
_OWN: Final = "/management/v1"
_PICTURE: Final = "policies/label/{picture}"
_TEXTS: Final = "text/login/{language}"
_USUAL: Final = "text/default/login/{language}"


def _both(method: str, path: str) -> dict[str, str]:
    """Returns the operation for an organization, and the one that `--instance` chooses."""
    return {"": f"{method} {_OWN}/{path}", "instance": f"{method} {_INSTANCE}/{path}"}


picture = group(
    "picture",
    "Logos and icons of the login pages.",
    [
        command(
            "show",
            _both("GET", _PICTURE),
            "idp picture show logo",
            summary="Show a picture that an organization has, of its own or not.",
        ),
        command(
            "set",
            _both("PUT", _PICTURE),
            "idp picture set logo --content acme.png",
            summary="Set a picture of an organization: logo, logo_dark, icon or icon_dark.",
        ),
        command(
            "remove",
            _both("DELETE", _PICTURE),
            "idp picture remove logo",
            asks="Take the picture away?",
            summary="Take an organization's own picture away.",
        ),
    ],
)

page_text = group(
    "page-text",
    "Texts of the login pages.",
    [
        command(
            "usual",
            _both("GET", _USUAL),
            "idp page-text usual de",
            summary="Show every text that can be set, as it is otherwise.",
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
            summary="Set the texts of the login pages in a language, all at once.",
        ),
        command(
            "reset",
            f"DELETE {_OWN}/{_TEXTS}",
            "idp page-text reset de",
            asks="Take the organization's own texts away?",
            summary="Let an organization have the texts of the instance again.",
        ),
    ],
)
