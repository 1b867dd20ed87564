"""/management/v1/projects/{projectId}/apps: applications, their secrets, keys and presets."""

from __future__ import annotations

from functools import partial
from typing import Final

from idp.api.operation import operation
from idp.clients import (
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
    operation("POST", f"{_APPS}/oidc", _WRITE, oidc_apps.create),
    operation("POST", f"{_APPS}/oidc/_check", _WRITE, oidc_apps.check),
    operation("POST", f"{_APPS}/api", _WRITE, api_apps.create),
    operation("POST", f"{_APPS}/_search", _READ, search_projects.apps_of),
    operation("GET", _APP, _READ, read_app.show),
    operation("PUT", _APP, _WRITE, apps.rename, conditional=True),
    operation("DELETE", _APP, _WRITE, app_removal.remove, conditional=True),
    operation(
        "POST",
        f"{_APP}/_deactivate",
        _WRITE,
        partial(app_states.change, name="deactivate"),
        conditional=True,
        summary="Shut an application until it is reactivated; all that was issued to it ends.",
    ),
    operation(
        "POST",
        f"{_APP}/_reactivate",
        _WRITE,
        partial(app_states.change, name="reactivate"),
        conditional=True,
        summary="Let a deactivated application work again.",
    ),
    operation("PUT", f"{_APP}/oidc_config", _WRITE, oidc_apps.configure, conditional=True),
    operation("PUT", f"{_APP}/api_config", _WRITE, api_apps.configure, conditional=True),
    operation(
        "POST", f"{_APP}/oidc_config/{_SECRET}", _WRITE, app_secrets.generate, conditional=True
    ),
    operation(
        "POST", f"{_APP}/api_config/{_SECRET}", _WRITE, app_secrets.generate, conditional=True
    ),
    operation("POST", f"{_APP}/_debug", _WRITE, debugging.switch, conditional=True),
    operation("GET", f"{_APP}/secrets", _READ, app_secrets.listed),
    operation("DELETE", f"{_APP}/secrets/{{secretId}}", _WRITE, app_secrets.end, conditional=True),
    operation("GET", f"{_APP}/keys", _READ, app_keys.listed),
    operation("POST", f"{_APP}/keys/_search", _READ, app_keys.search),
    operation("POST", f"{_APP}/keys", _WRITE, app_keys.create),
    operation("GET", f"{_APP}/keys/{{keyId}}", _READ, app_keys.show),
    operation("DELETE", f"{_APP}/keys/{{keyId}}", _WRITE, app_keys.remove, conditional=True),
    operation("GET", _PRESETS, _READ, read_presets.listed),
    operation("GET", f"{_PRESETS}/{{name}}", _READ, read_presets.show),
)
