"""Operations at /management/v1/users: service users, their secrets, keys and tokens."""

from __future__ import annotations

from typing import Final

from idp.api.operation import operation
from idp.management.users import keys as user_keys
from idp.management.users import personal_access_tokens as user_personal_access_tokens
from idp.management.users import service_users

_USERS: Final = "/management/v1/users"
_USER: Final = f"{_USERS}/{{userId}}"

OPERATIONS = (
    operation(
        "POST",
        f"{_USERS}/machine",
        "user.write",
        service_users.create,
        name="service_users_create",
        summary="Make a service user in the call's organization.",
    ),
    operation(
        "PUT",
        f"{_USER}/machine",
        "user.write",
        service_users.change,
        name="service_users_change",
        summary="Change what a service user is called and which tokens it gets.",
        conditional=True,
    ),
    operation(
        "PUT",
        f"{_USER}/secret",
        "user.write",
        service_users.generate_secret,
        name="service_users_generate_secret",
        summary="Give a service user a secret, for the grant client credentials, in place of any"
        " other.",
        conditional=True,
    ),
    operation(
        "DELETE",
        f"{_USER}/secret",
        "user.write",
        service_users.remove_secret,
        name="service_users_remove_secret",
        summary="Take the secret away, and one that counts beside it.",
        conditional=True,
    ),
    operation(
        "GET",
        f"{_USER}/secrets",
        "user.read",
        service_users.secrets,
        name="service_users_secrets",
        summary="List a service user's secrets that count, and when each was last used.",
    ),
    operation(
        "DELETE",
        f"{_USER}/secrets/{{secretId}}",
        "user.write",
        service_users.end_secret,
        name="service_users_end_secret",
        summary="End the secret that counts beside the current one, before its time.",
        conditional=True,
    ),
    operation(
        "GET",
        f"{_USER}/pats",
        "user.read",
        user_personal_access_tokens.listed,
        name="user_pats_listed",
        summary="The user's tokens, the first thousand of them; nothing that opens anything.",
    ),
    operation(
        "POST",
        f"{_USER}/pats/_search",
        "user.read",
        user_personal_access_tokens.search,
        name="user_pats_search",
        summary="Go through the tokens of a service user, a page at a time.",
    ),
    operation(
        "POST",
        f"{_USER}/pats",
        "user.write",
        user_personal_access_tokens.create,
        name="user_pats_create",
        summary="Make a personal access token of a service user.",
    ),
    operation(
        "GET",
        f"{_USER}/pats/{{tokenId}}",
        "user.read",
        user_personal_access_tokens.show,
        name="user_pats_show",
        summary="What is known of a token.",
    ),
    operation(
        "DELETE",
        f"{_USER}/pats/{{tokenId}}",
        "user.write",
        user_personal_access_tokens.remove,
        name="user_pats_remove",
        summary="Let a token open nothing any more.",
        conditional=True,
    ),
    operation(
        "GET",
        f"{_USER}/keys",
        "user.read",
        user_keys.listed,
        name="user_keys_listed",
        summary="List the keys of a service user.",
    ),
    operation(
        "POST",
        f"{_USER}/keys/_search",
        "user.read",
        user_keys.search,
        name="user_keys_search",
        summary="Go through the keys of a service user, a page at a time.",
    ),
    operation(
        "POST",
        f"{_USER}/keys",
        "user.write",
        user_keys.create,
        name="user_keys_create",
        summary="Register a public key of a service user, or make it a pair of keys.",
    ),
    operation(
        "GET",
        f"{_USER}/keys/{{keyId}}",
        "user.read",
        user_keys.show,
        name="user_keys_show",
        summary="Read one key of a service user.",
    ),
    operation(
        "DELETE",
        f"{_USER}/keys/{{keyId}}",
        "user.write",
        user_keys.remove,
        name="user_keys_remove",
        summary="Remove a key of a service user: it proves nothing from then on.",
        conditional=True,
    ),
)
