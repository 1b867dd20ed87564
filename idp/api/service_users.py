"""/management/v1/users: service users, and what they prove themselves by."""

from __future__ import annotations

from typing import Final

from idp.api.operation import operation
from idp.clients import user_keys
from idp.identity import service_users, user_pats

_USERS: Final = "/management/v1/users"
_USER: Final = f"{_USERS}/{{userId}}"

OPERATIONS = (
    operation("POST", f"{_USERS}/machine", "user.write", service_users.create),
    operation("PUT", f"{_USER}/machine", "user.write", service_users.change, conditional=True),
    operation(
        "PUT", f"{_USER}/secret", "user.write", service_users.generate_secret, conditional=True
    ),
    operation(
        "DELETE", f"{_USER}/secret", "user.write", service_users.remove_secret, conditional=True
    ),
    operation("GET", f"{_USER}/secrets", "user.read", service_users.secrets),
    operation(
        "DELETE",
        f"{_USER}/secrets/{{secretId}}",
        "user.write",
        service_users.end_secret,
        conditional=True,
    ),
    operation("GET", f"{_USER}/pats", "user.read", user_pats.listed),
    operation("POST", f"{_USER}/pats/_search", "user.read", user_pats.search),
    operation("POST", f"{_USER}/pats", "user.write", user_pats.create),
    operation("GET", f"{_USER}/pats/{{tokenId}}", "user.read", user_pats.show),
    operation(
        "DELETE", f"{_USER}/pats/{{tokenId}}", "user.write", user_pats.remove, conditional=True
    ),
    operation("GET", f"{_USER}/keys", "user.read", user_keys.listed),
    operation("POST", f"{_USER}/keys/_search", "user.read", user_keys.search),
    operation("POST", f"{_USER}/keys", "user.write", user_keys.create),
    operation("GET", f"{_USER}/keys/{{keyId}}", "user.read", user_keys.show),
    operation(
        "DELETE", f"{_USER}/keys/{{keyId}}", "user.write", user_keys.remove, conditional=True
    ),
)
