"""Operations at /management/v1/projects/{projectId}/apps: applications, their secrets, keys and
presets."""

from __future__ import annotations

from functools import partial
from typing import Final

from idp.api.operation import named_in, operation
from idp.management.projects import (
    api_apps,
    app_keys,
    app_removal,
    app_secrets,
    app_states,
    apps,
    debugging,
    oidc_apps,
    read_app,
    read_presets,
    search_projects,
)

_APPS: Final = "/management/v1/projects/{projectId}/apps"
_APP: Final = f"{_APPS}/{{appId}}"
_PRESETS: Final = "/management/v1/presets"
_SECRET: Final = "_generate_client_secret"  # noqa: S105 - an address
_READ: Final = "project.app.read"
_WRITE: Final = "project.app.write"

CREATE_OIDC: Final = operation(
    f"POST {_APPS}/oidc",
    _WRITE,
    oidc_apps.create,
    name="oidc_apps_create",
    summary="Register an application in a project.",
)
CHECK_OIDC: Final = operation(
    f"POST {_APPS}/oidc/_check",
    _WRITE,
    oidc_apps.check,
    name="oidc_apps_check",
    summary="Check the settings of an application without registering it, and list warnings"
    " about them.",
)
CREATE_API: Final = operation(
    f"POST {_APPS}/api",
    _WRITE,
    api_apps.create,
    name="api_apps_create",
    summary="Register an API application in a project.",
)
SEARCH: Final = operation(
    f"POST {_APPS}/_search",
    _READ,
    search_projects.apps_of,
    name="search_projects_apps_of",
    summary="Search for applications of a project.",
)
READ: Final = operation(
    f"GET {_APP}", _READ, read_app.show, name="read_app_show", summary="Get an application."
)
RENAME: Final = operation(
    f"PUT {_APP}",
    _WRITE,
    apps.rename,
    name="apps_rename",
    summary="Rename an application.",
    conditional=True,
)
REMOVE: Final = operation(
    f"DELETE {_APP}",
    _WRITE,
    app_removal.remove,
    name="app_removal_remove",
    summary="Delete an application with its keys and its users' consents; all its tokens are"
    " revoked.",
    conditional=True,
)
DEACTIVATE: Final = operation(
    f"POST {_APP}/_deactivate",
    _WRITE,
    partial(app_states.change, name="deactivate"),
    name="app_states_change_deactivate",
    conditional=True,
    summary="Deactivate an application until it is reactivated; all its tokens are revoked.",
)
REACTIVATE: Final = operation(
    f"POST {_APP}/_reactivate",
    _WRITE,
    partial(app_states.change, name="reactivate"),
    name="app_states_change_reactivate",
    conditional=True,
    summary="Reactivate an application.",
)
CONFIGURE_OIDC: Final = operation(
    f"PUT {_APP}/oidc_config",
    _WRITE,
    oidc_apps.configure,
    name="oidc_apps_configure",
    summary=(
        "Replace the settings of an application; a setting that is left out gets its default."
    ),
    conditional=True,
)
CONFIGURE_API: Final = operation(
    f"PUT {_APP}/api_config",
    _WRITE,
    api_apps.configure,
    name="api_apps_configure",
    summary="Replace the authentication method of an API application.",
    conditional=True,
)
GENERATE_OIDC_SECRET: Final = operation(
    f"POST {_APP}/oidc_config/{_SECRET}",
    _WRITE,
    app_secrets.generate,
    name="app_secrets_generate_oidc_config",
    summary="Generate a new client secret; the old one works until the overlap has passed, and"
    " tokens stay valid.",
    conditional=True,
)
GENERATE_API_SECRET: Final = operation(
    f"POST {_APP}/api_config/{_SECRET}",
    _WRITE,
    app_secrets.generate,
    name="app_secrets_generate_api_config",
    summary="Generate a new client secret; the old one works until the overlap has passed, and"
    " tokens stay valid.",
    conditional=True,
)
DEBUG: Final = operation(
    f"POST {_APP}/_debug",
    _WRITE,
    debugging.switch,
    name="debugging_switch",
    summary="Let the explain page show an application's refused requests in detail, for an"
    " hour by default.",
    conditional=True,
)
SECRETS: Final = operation(
    f"GET {_APP}/secrets",
    _READ,
    app_secrets.find_all,
    name="app_secrets_listed",
    summary="List an application's valid secrets, and when each was last used.",
)
END_SECRET: Final = operation(
    f"DELETE {_APP}/secrets/{{secretId}}",
    _WRITE,
    app_secrets.end,
    name="app_secrets_end",
    summary="Revoke the previous secret before its overlap has passed.",
    conditional=True,
)
KEYS: Final = operation(
    f"GET {_APP}/keys",
    _READ,
    app_keys.find_all,
    name="app_keys_listed",
    summary="List the keys of an application.",
)
SEARCH_KEYS: Final = operation(
    f"POST {_APP}/keys/_search",
    _READ,
    app_keys.search,
    name="app_keys_search",
    summary="Search for keys of an application.",
)
CREATE_KEY: Final = operation(
    f"POST {_APP}/keys",
    _WRITE,
    app_keys.create,
    name="app_keys_create",
    summary="Register a public key of an application, or generate a key pair for it.",
)
READ_KEY: Final = operation(
    f"GET {_APP}/keys/{{keyId}}",
    _READ,
    app_keys.show,
    name="app_keys_show",
    summary="Get a key of an application.",
)
REMOVE_KEY: Final = operation(
    f"DELETE {_APP}/keys/{{keyId}}",
    _WRITE,
    app_keys.remove,
    name="app_keys_remove",
    summary="Remove a key of an application: it stops working.",
    conditional=True,
)
PRESETS: Final = operation(
    f"GET {_PRESETS}",
    _READ,
    read_presets.find_all,
    name="read_presets_listed",
    summary="List the presets, each with the settings of a well-known application.",
)
READ_PRESET: Final = operation(
    f"GET {_PRESETS}/{{name}}",
    _READ,
    read_presets.show,
    name="read_presets_show",
    summary="Get the settings of a preset, and how the application is configured.",
)
OPERATIONS: Final = named_in(globals())
