"""/management/v1/projects/{projectId}/apps: applications, their secrets and their keys."""

from __future__ import annotations

from typing import Final

from idp.api.operation import operation
from idp.clients import api_apps, app_keys, apps, oidc_apps, read_app

_APPS: Final = "/management/v1/projects/{projectId}/apps"
_APP: Final = f"{_APPS}/{{appId}}"
_SECRET: Final = "_generate_client_secret"  # noqa: S105 - an address
_READ: Final = "project.app.read"
_WRITE: Final = "project.app.write"

OPERATIONS = (
    operation("POST", f"{_APPS}/oidc", _WRITE, oidc_apps.create),
    operation("POST", f"{_APPS}/api", _WRITE, api_apps.create),
    operation("GET", _APP, _READ, read_app.show),
    operation("PUT", f"{_APP}/oidc_config", _WRITE, oidc_apps.configure, conditional=True),
    operation("PUT", f"{_APP}/api_config", _WRITE, api_apps.configure, conditional=True),
    operation(
        "POST", f"{_APP}/oidc_config/{_SECRET}", _WRITE, apps.generate_secret, conditional=True
    ),
    operation(
        "POST", f"{_APP}/api_config/{_SECRET}", _WRITE, apps.generate_secret, conditional=True
    ),
    operation("GET", f"{_APP}/keys", _READ, app_keys.listed),
    operation("POST", f"{_APP}/keys", _WRITE, app_keys.create),
    operation("GET", f"{_APP}/keys/{{keyId}}", _READ, app_keys.show),
    operation("DELETE", f"{_APP}/keys/{{keyId}}", _WRITE, app_keys.remove, conditional=True),
)
