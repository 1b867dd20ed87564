"""`idp service-user`, `idp pat` and `idp key`: service users, their tokens and keys."""

from __future__ import annotations

from typing import Final

from idp.cli.building import group
from idp.cli.command import HIDDEN, command

_USERS: Final = "/management/v1/users"
_USER: Final = f"{_USERS}/{{userId}}"
_APP: Final = "/management/v1/projects/{projectId}/apps/{appId}"
_ID: Final = "5xTpVw0mJqk3Yb9cD2eF1g"

service_user = group(
    "service-user",
    "Service users: accounts of scripts and other programs.",
    [
        command(
            "create",
            f"POST {_USERS}/machine",
            "idp service-user create --user-name nightly --name 'Nightly script'",
        ),
        command(
            "list",
            "POST /v2/users",
            "idp service-user list --user-name 'ni*'",
            fixed={"queries": [{"typeQuery": {"type": "TYPE_MACHINE"}}]},
            names={"queries.typeQuery.": HIDDEN},
            columns=("userId", "username", "state", "machine.name"),
            summary="Search for service users; without a filter, list all.",
        ),
        command(
            "change",
            f"PUT {_USER}/machine",
            f"idp service-user change {_ID} --description 'Makes people.'",
            base=("GET /v2/users/{userId}", "user"),
            summary="Change a service user; fields without an option stay the same.",
        ),
        command(
            "secrets",
            f"GET {_USER}/secrets",
            f"idp service-user secrets {_ID}",
        ),
        command(
            "end-secret",
            f"DELETE {_USER}/secrets/{{secretId}}",
            f"idp service-user end-secret --user {_ID} 3Wd9",
            confirm="Delete this secret?",
        ),
        command(
            "generate-secret",
            f"PUT {_USER}/secret",
            f"idp service-user generate-secret {_ID} --secret-file secret",
        ),
        command(
            "remove-secret",
            f"DELETE {_USER}/secret",
            f"idp service-user remove-secret {_ID}",
            confirm="Remove the secret of the service user {}?",
            summary="Remove the secret of a service user.",
        ),
    ],
)

pat = group(
    "pat",
    "Personal access tokens of service users.",
    [
        command(
            "create",
            f"POST {_USER}/pats",
            f"idp pat create --user {_ID} --expires 24h --secret-file token",
            names={"expirationDate": "expires"},
        ),
        command(
            "list",
            f"POST {_USER}/pats/_search",
            f"idp pat list --user {_ID}",
            columns=("id", "expirationDate", "lastUsedAt"),
            summary="List the personal access tokens of a service user, without their values.",
        ),
        command("show", f"GET {_USER}/pats/{{tokenId}}", f"idp pat show --user {_ID} 8sKq0Lw2"),
        command(
            "revoke",
            f"DELETE {_USER}/pats/{{tokenId}}",
            f"idp pat revoke --user {_ID} 8sKq0Lw2",
            confirm="Revoke the token of the user {} with the ID {}?",
        ),
    ],
)

key = group(
    "key",
    "Keys with which service users and applications authenticate.",
    [
        command(
            "create",
            {"user": f"POST {_USER}/keys", "app": f"POST {_APP}/keys"},
            f"idp key create --user {_ID} --expires 90d --secret-file key.json",
            names={"expirationDate": "expires"},
            help_texts={
                "publicKey": (
                    "The PEM file of an existing public key; without it, a key pair is generated."
                )
            },
            fixed={"type": "KEY_TYPE_JSON"},
            summary=(
                "Register a public key of a service user or an application, or generate a key"
                " pair."
            ),
        ),
        command(
            "list",
            {"user": f"POST {_USER}/keys/_search", "app": f"POST {_APP}/keys/_search"},
            f"idp key list --user {_ID}",
            columns=("id", "type", "expirationDate", "details.creationDate"),
            summary="List the keys of a service user or an application.",
        ),
        command(
            "show",
            {"user": f"GET {_USER}/keys/{{keyId}}", "app": f"GET {_APP}/keys/{{keyId}}"},
            f"idp key show --user {_ID} 8sKq0Lw2",
            summary="Show a key of a service user or an application.",
        ),
        command(
            "remove",
            {"user": f"DELETE {_USER}/keys/{{keyId}}", "app": f"DELETE {_APP}/keys/{{keyId}}"},
            f"idp key remove --user {_ID} 8sKq0Lw2",
            confirm="Remove the key?",
            summary="Remove a key of a service user or an application.",
        ),
    ],
)
