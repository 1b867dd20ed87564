"""`idp picture` and `idp page-text`: logos, icons and texts of the sign-in pages."""

from __future__ import annotations

from idp import api
from idp.cli.building import group
from idp.cli.command import Command, with_instance

picture = group(
    "picture",
    "Logos and icons of the sign-in pages.",
    [
        Command(
            "show",
            with_instance(api.policies.READ_PICTURE, api.policies.READ_DEFAULT_PICTURE),
            "idp picture show logo",
            summary="Show a picture of an organization, its own or inherited.",
        ),
        Command(
            "set",
            with_instance(api.policies.SET_PICTURE, api.policies.SET_DEFAULT_PICTURE),
            "idp picture set logo --content acme.png",
            summary="Set a picture: logo, logo_dark, icon, icon_dark or background.",
        ),
        Command(
            "remove",
            with_instance(api.policies.REMOVE_PICTURE, api.policies.REMOVE_DEFAULT_PICTURE),
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
        Command(
            "usual",
            with_instance(
                api.policies.READ_INHERITED_PAGE_TEXTS, api.policies.READ_BUILT_IN_PAGE_TEXTS
            ),
            "idp page-text usual de",
            summary="Show all texts that can be set, with their defaults.",
        ),
        Command(
            "show",
            with_instance(api.policies.READ_PAGE_TEXTS, api.policies.READ_DEFAULT_PAGE_TEXTS),
            "idp page-text show de",
            summary="Show the texts that are set in a language.",
        ),
        Command(
            "set",
            with_instance(api.policies.SET_PAGE_TEXTS, api.policies.SET_DEFAULT_PAGE_TEXTS),
            "idp page-text set en"
            ' --text \'{"screen": "login-name", "key": "Sign in", "text": "Welcome to Acme"}\'',
            summary="Replace all texts of the sign-in pages in a language.",
        ),
        Command(
            "reset",
            api.policies.RESET_PAGE_TEXTS,
            "idp page-text reset de",
            confirm="Reset the organization's own texts?",
            summary="Reset an organization's texts to those of the instance.",
        ),
    ],
)
