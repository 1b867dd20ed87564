"""Operations at /management/v1/projects/{projectId}/apps: applications, their secrets, keys and
presets."""

from __future__ import annotations

from functools import partial
from typing import Final

from idp.api.operation import operation
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

OPERATIONS = (
    operation(
        "POST",
        f"{_APPS}/oidc",
        _WRITE,
        oidc_apps.create,
        name="oidc_apps_create",
        summary="Register an application in a project.",
    ),
    operation(
        "POST",
        f"{_APPS}/oidc/_check",
        _WRITE,
        oidc_apps.check,
        name="oidc_apps_check",
        summary="Say what registering an application so would say, and what to look at; make"
        " nothing.",
    ),
    operation(
        "POST",
        f"{_APPS}/api",
        _WRITE,
        api_apps.create,
        name="api_apps_create",
        summary="Register an API application in a project.",
    ),
    operation(
        "POST",
        f"{_APPS}/_search",
        _READ,
        search_projects.apps_of,
        name="search_projects_apps_of",
        summary="Find applications of a project, by their names.",
    ),
    operation(
        "GET", _APP, _READ, read_app.show, name="read_app_show", summary="What is registered."
    ),
    operation(
        "PUT",
        _APP,
        _WRITE,
        apps.rename,
        name="apps_rename",
        summary="Give an application another name.",
        conditional=True,
    ),
    operation(
        "DELETE",
        _APP,
        _WRITE,
        app_removal.remove,
        name="app_removal_remove",
        summary="Delete an application, its keys and what people let it have; all that was issued"
        " to it ends.",
        conditional=True,
    ),
    operation(
        "POST",
        f"{_APP}/_deactivate",
        _WRITE,
        partial(app_states.change, name="deactivate"),
        name="app_states_change_deactivate",
        conditional=True,
        summary="Shut an application until it is reactivated; all that was issued to it ends.",
    ),
    operation(
        "POST",
        f"{_APP}/_reactivate",
        _WRITE,
        partial(app_states.change, name="reactivate"),
        name="app_states_change_reactivate",
        conditional=True,
        summary="Let a deactivated application work again.",
    ),
    operation(
        "PUT",
        f"{_APP}/oidc_config",
        _WRITE,
        oidc_apps.configure,
        name="oidc_apps_configure",
        summary="Replace how an application works; what is not said has its default.",
        conditional=True,
    ),
    operation(
        "PUT",
        f"{_APP}/api_config",
        _WRITE,
        api_apps.configure,
        name="api_apps_configure",
        summary="Replace how it authenticates.",
        conditional=True,
    ),
    operation(
        "POST",
        f"{_APP}/oidc_config/{_SECRET}",
        _WRITE,
        app_secrets.generate,
        name="app_secrets_generate_oidc_config",
        summary="Replace the secret; the old one opens nothing once its overlap is over, tokens"
        " live on.",
        conditional=True,
    ),
    operation(
        "POST",
        f"{_APP}/api_config/{_SECRET}",
        _WRITE,
        app_secrets.generate,
        name="app_secrets_generate_api_config",
        summary="Replace the secret; the old one opens nothing once its overlap is over, tokens"
        " live on.",
        conditional=True,
    ),
    operation(
        "POST",
        f"{_APP}/_debug",
        _WRITE,
        debugging.switch,
        name="debugging_switch",
        summary="Let the explain page show an application's mistakes in detail, for an hour unless"
        " told else.",
        conditional=True,
    ),
    operation(
        "GET",
        f"{_APP}/secrets",
        _READ,
        app_secrets.listed,
        name="app_secrets_listed",
        summary="List an application's secrets that count, and when each was last used.",
    ),
    operation(
        "DELETE",
        f"{_APP}/secrets/{{secretId}}",
        _WRITE,
        app_secrets.end,
        name="app_secrets_end",
        summary="End the secret that counts beside the current one, before its time.",
        conditional=True,
    ),
    operation(
        "GET",
        f"{_APP}/keys",
        _READ,
        app_keys.listed,
        name="app_keys_listed",
        summary="List the keys of an application.",
    ),
    operation(
        "POST",
        f"{_APP}/keys/_search",
        _READ,
        app_keys.search,
        name="app_keys_search",
        summary="Go through the keys of an application, a page at a time.",
    ),
    operation(
        "POST",
        f"{_APP}/keys",
        _WRITE,
        app_keys.create,
        name="app_keys_create",
        summary="Register a public key of an application, or make it a pair of keys.",
    ),
    operation(
        "GET",
        f"{_APP}/keys/{{keyId}}",
        _READ,
        app_keys.show,
        name="app_keys_show",
        summary="Read one key of an application.",
    ),
    operation(
        "DELETE",
        f"{_APP}/keys/{{keyId}}",
        _WRITE,
        app_keys.remove,
        name="app_keys_remove",
        summary="Remove a key of an application: it proves nothing from then on.",
        conditional=True,
    ),
    operation(
        "GET",
        _PRESETS,
        _READ,
        read_presets.listed,
        name="read_presets_listed",
        summary="List the presets: tools whose settings are known.",
    ),
    operation(
        "GET",
        f"{_PRESETS}/{{name}}",
        _READ,
        read_presets.show,
        name="read_presets_show",
        summary="Read with what settings a tool is registered and how it is configured.",
    ),
)
