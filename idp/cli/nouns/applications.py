"""`idp app`: applications, registered with individual settings or with a tool's preset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import click

from idp import api
from idp.cli import fields
from idp.cli.building import group
from idp.cli.command import HIDDEN, Command
from idp.cli.document import Document
from idp.management.projects.oidc_request import NewOidcApp

_EXAMPLE: Final = "--project 8sKq0Lw2"
_NAMES: Final = {"appType": "type", "skipNativeAppSuccessPage": HIDDEN, "loginVersion.": HIDDEN}
_KIND_HELP: Final = {"appType": "The type of the application; api: it only verifies tokens."}


def by_preset(given_values: Document, option_values: Mapping[str, Any]) -> tuple[str, Document]:
    """Returns the name of the operation that registers a new application (`oidc` or `api`), and
    its body, as `Command.adapt` requires.

    `given_values` are the body's fields from the command line; they replace those of the preset
    that the option `preset` in `option_values` names. Raises NotFound for the preset,
    InvalidArgument for the host, click.UsageError.
    """
    kind, name = given_values.get("appType"), option_values.get("preset")
    preset_values: Document = {}
    is_api = kind == "api"
    if name:
        from idp.clients import presets
        from idp.management.projects import read_presets

        preset = presets.find(name)
        if preset.needs_host and not option_values.get("host"):
            raise click.UsageError("with this --preset, --host says where the application is")
        preset_values = presets.expand(name, option_values.get("host") or read_presets.HOST)
        is_api = preset.kind == "api"
        if kind not in (None, "api" if is_api else preset_values.get("appType")):
            raise click.UsageError(f"the preset {name} is for another --type")
    if method := option_values.get("auth_method_type"):
        # The option has the names for OIDC applications; those for APIs differ in the prefix.
        given_values["authMethodType"] = method.replace("OIDC_", "API_", 1) if is_api else method
    if is_api:
        given_values.pop("appType", None)
        return "api", given_values
    return "oidc", preset_values | given_values


_PRESET: Final = (
    click.Option(["--preset"], metavar="NAME", help="The name of a preset."),
    click.Option(
        ["--host"],
        metavar="HOST",
        help="The host of the application, such as grafana.acme.example.",
    ),
)
_METHODS: Final = next(
    each for each in fields.fields_of(NewOidcApp) if each.dotted == "authMethodType"
)
_NEW: Final = {"oidc": api.applications.CREATE_OIDC, "api": api.applications.CREATE_API}

app = group(
    "app",
    "Applications.",
    [
        Command(
            "create",
            _NEW,
            f"idp app create {_EXAMPLE} --name Grafana --preset grafana --host"
            " grafana.acme.example --secret-file secret",
            names={**_NAMES, "authMethodType": HIDDEN},
            help_texts=_KIND_HELP,
            summary="Register an application in a project.",
            extra=(*_PRESET, fields.option(_METHODS, "auth-method-type")),
            adapt=by_preset,
        ),
        Command(
            "check",
            api.applications.CHECK_OIDC,
            f"idp app check {_EXAMPLE} --redirect-uri https://shop.example/cb",
            argument="",
            names=_NAMES,
            help_texts=_KIND_HELP,
        ),
        Command(
            "list",
            api.applications.SEARCH,
            f"idp app list {_EXAMPLE}",
            columns=("id", "name", "state"),
            summary="Search for applications of a project.",
        ),
        Command(
            "show",
            api.applications.READ,
            f"idp app show {_EXAMPLE} 7fQm2Xb1",
            summary="Show an application.",
        ),
        Command(
            "rename",
            api.applications.RENAME,
            f"idp app rename {_EXAMPLE} 7fQm2Xb1 --name Dashboards",
        ),
        Command(
            "deactivate",
            api.applications.DEACTIVATE,
            f"idp app deactivate {_EXAMPLE} 7fQm2Xb1",
            confirm="Deactivate the application? All its tokens are revoked.",
        ),
        Command(
            "reactivate", api.applications.REACTIVATE, f"idp app reactivate {_EXAMPLE} 7fQm2Xb1"
        ),
        Command(
            "delete",
            api.applications.REMOVE,
            f"idp app delete {_EXAMPLE} 7fQm2Xb1",
            confirm="Permanently delete the application?",
        ),
        Command(
            "configure",
            api.applications.CONFIGURE_OIDC,
            f"idp app configure {_EXAMPLE} 7fQm2Xb1 --access-token-type jwt",
            names=_NAMES,
            help_texts=_KIND_HELP,
            base=(api.applications.READ, "app.oidcConfig"),
            summary=(
                "Change the settings of an application; settings without an option stay the same."
            ),
        ),
        Command(
            "set-redirects",
            api.applications.CONFIGURE_OIDC,
            f"idp app set-redirects {_EXAMPLE} 7fQm2Xb1 --redirect-uri https://a.example/cb",
            only=("redirectUris", "postLogoutRedirectUris", "devMode"),
            base=(api.applications.READ, "app.oidcConfig"),
            summary="Change the redirect URIs of an application.",
        ),
        Command(
            "configure-api",
            api.applications.CONFIGURE_API,
            f"idp app configure-api {_EXAMPLE} 7fQm2Xb1 --auth-method-type private-key-jwt",
            base=(api.applications.READ, "app.apiConfig"),
            summary="Change how an API application authenticates.",
        ),
        Command(
            "rotate-secret",
            {
                "": api.applications.GENERATE_OIDC_SECRET,
                "api": api.applications.GENERATE_API_SECRET,
            },
            f"idp app rotate-secret {_EXAMPLE} 7fQm2Xb1 --overlap 24h --secret-file secret",
            switches={"api": "For an API application."},
            summary="Generate a new secret; the old one stays valid for --overlap.",
        ),
        Command("secrets", api.applications.SECRETS, f"idp app secrets {_EXAMPLE} 7fQm2Xb1"),
        Command(
            "end-secret",
            api.applications.END_SECRET,
            f"idp app end-secret {_EXAMPLE} --app 7fQm2Xb1 3Wd9",
            confirm="Delete this secret?",
        ),
        Command(
            "debug", api.applications.DEBUG, f"idp app debug {_EXAMPLE} 7fQm2Xb1 --duration 1h"
        ),
    ],
)
