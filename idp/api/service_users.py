"""Operations at /management/v1/users: service users, their secrets, keys and tokens."""

from __future__ import annotations

from typing import Final

from idp.api.operation import named_in, operation
from idp.management.users import keys as user_keys
from idp.management.users import personal_access_tokens as user_personal_access_tokens
from idp.management.users import service_users

_USERS: Final = "/management/v1/users"
_USER: Final = f"{_USERS}/{{userId}}"

CREATE: Final = operation(
    f"POST {_USERS}/machine",
    "user.write",
    service_users.create,
    name="service_users_create",
    summary="Create a service user in the call's organization.",
)
CHANGE: Final = operation(
    f"PUT {_USER}/machine",
    "user.write",
    service_users.change,
    name="service_users_change",
    summary="Change the names of a service user and the kind of its tokens.",
    conditional=True,
)
GENERATE_SECRET: Final = operation(
    f"PUT {_USER}/secret",
    "user.write",
    service_users.generate_secret,
    name="service_users_generate_secret",
    summary="Generate a secret for a service user, for the client credentials grant, in place"
    " of any earlier one.",
    conditional=True,
)
REMOVE_SECRET: Final = operation(
    f"DELETE {_USER}/secret",
    "user.write",
    service_users.remove_secret,
    name="service_users_remove_secret",
    summary="Remove the secret of a service user, and a previous one that is still valid.",
    conditional=True,
)
SECRETS: Final = operation(
    f"GET {_USER}/secrets",
    "user.read",
    service_users.secrets,
    name="service_users_secrets",
    summary="List a service user's valid secrets, and when each was last used.",
)
END_SECRET: Final = operation(
    f"DELETE {_USER}/secrets/{{secretId}}",
    "user.write",
    service_users.end_secret,
    name="service_users_end_secret",
    summary="Revoke the previous secret before its overlap has passed.",
    conditional=True,
)
TOKENS: Final = operation(
    f"GET {_USER}/pats",
    "user.read",
    user_personal_access_tokens.find_all,
    name="user_pats_listed",
    summary="List a service user's personal access tokens without their values, the first"
    " thousand.",
)
SEARCH_TOKENS: Final = operation(
    f"POST {_USER}/pats/_search",
    "user.read",
    user_personal_access_tokens.search,
    name="user_pats_search",
    summary="Search for personal access tokens of a service user.",
)
CREATE_TOKEN: Final = operation(
    f"POST {_USER}/pats",
    "user.write",
    user_personal_access_tokens.create,
    name="user_pats_create",
    summary="Create a personal access token for a service user.",
)
READ_TOKEN: Final = operation(
    f"GET {_USER}/pats/{{tokenId}}",
    "user.read",
    user_personal_access_tokens.show,
    name="user_pats_show",
    summary="Get a personal access token without its value.",
)
REMOVE_TOKEN: Final = operation(
    f"DELETE {_USER}/pats/{{tokenId}}",
    "user.write",
    user_personal_access_tokens.remove,
    name="user_pats_remove",
    summary="Revoke a personal access token.",
    conditional=True,
)
KEYS: Final = operation(
    f"GET {_USER}/keys",
    "user.read",
    user_keys.find_all,
    name="user_keys_listed",
    summary="List the keys of a service user.",
)
SEARCH_KEYS: Final = operation(
    f"POST {_USER}/keys/_search",
    "user.read",
    user_keys.search,
    name="user_keys_search",
    summary="Search for keys of a service user.",
)
CREATE_KEY: Final = operation(
    f"POST {_USER}/keys",
    "user.write",
    user_keys.create,
    name="user_keys_create",
    summary="Register a public key of a service user, or generate a key pair for it.",
)
READ_KEY: Final = operation(
    f"GET {_USER}/keys/{{keyId}}",
    "user.read",
    user_keys.show,
    name="user_keys_show",
    summary="Get a key of a service user.",
)
REMOVE_KEY: Final = operation(
    f"DELETE {_USER}/keys/{{keyId}}",
    "user.write",
    user_keys.remove,
    name="user_keys_remove",
    summary="Remove a key of a service user: it stops working.",
    conditional=True,
)
OPERATIONS: Final = named_in(globals())
