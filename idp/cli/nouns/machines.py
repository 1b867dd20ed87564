"""`idp service-user`, `idp pat` and `idp key`: service users, their tokens and keys."""

from __future__ import annotations

from typing import Final

from idp import api
from idp.cli.building import group
from idp.cli.command import HIDDEN, Command

_ID: Final = "5xTpVw0mJqk3Yb9cD2eF1g"

service_user = group(
    "service-user",
    "Service users: accounts of scripts and other programs.",
    [
        Command(
            "create",
            api.service_users.CREATE,
            "idp service-user create --user-name nightly --name 'Nightly script'",
        ),
        Command(
            "list",
            api.users.SEARCH,
            "idp service-user list --user-name 'ni*'",
            fixed={"queries": [{"typeQuery": {"type": "TYPE_MACHINE"}}]},
            names={"queries.typeQuery.": HIDDEN},
            columns=("userId", "username", "state", "machine.name"),
            summary="Search for service users; without a filter, list all.",
        ),
        Command(
            "change",
            api.service_users.CHANGE,
            f"idp service-user change {_ID} --description 'Makes people.'",
            base=(api.users.READ, "user"),
            summary="Change a service user; fields without an option stay the same.",
        ),
        Command("secrets", api.service_users.SECRETS, f"idp service-user secrets {_ID}"),
        Command(
            "end-secret",
            api.service_users.END_SECRET,
            f"idp service-user end-secret --user {_ID} 3Wd9",
            confirm="Delete this secret?",
        ),
        Command(
            "generate-secret",
            api.service_users.GENERATE_SECRET,
            f"idp service-user generate-secret {_ID} --secret-file secret",
        ),
        Command(
            "remove-secret",
            api.service_users.REMOVE_SECRET,
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
        Command(
            "create",
            api.service_users.CREATE_TOKEN,
            f"idp pat create --user {_ID} --expires 24h --secret-file token",
            names={"expirationDate": "expires"},
        ),
        Command(
            "list",
            api.service_users.SEARCH_TOKENS,
            f"idp pat list --user {_ID}",
            columns=("id", "expirationDate", "lastUsedAt"),
            summary="List the personal access tokens of a service user, without their values.",
        ),
        Command("show", api.service_users.READ_TOKEN, f"idp pat show --user {_ID} 8sKq0Lw2"),
        Command(
            "revoke",
            api.service_users.REMOVE_TOKEN,
            f"idp pat revoke --user {_ID} 8sKq0Lw2",
            confirm="Revoke the token of the user {} with the ID {}?",
        ),
    ],
)

key = group(
    "key",
    "Keys with which service users and applications authenticate.",
    [
        Command(
            "create",
            {"user": api.service_users.CREATE_KEY, "app": api.applications.CREATE_KEY},
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
        Command(
            "list",
            {"user": api.service_users.SEARCH_KEYS, "app": api.applications.SEARCH_KEYS},
            f"idp key list --user {_ID}",
            columns=("id", "type", "expirationDate", "details.creationDate"),
            summary="List the keys of a service user or an application.",
        ),
        Command(
            "show",
            {"user": api.service_users.READ_KEY, "app": api.applications.READ_KEY},
            f"idp key show --user {_ID} 8sKq0Lw2",
            summary="Show a key of a service user or an application.",
        ),
        Command(
            "remove",
            {"user": api.service_users.REMOVE_KEY, "app": api.applications.REMOVE_KEY},
            f"idp key remove --user {_ID} 8sKq0Lw2",
            confirm="Remove the key?",
            summary="Remove a key of a service user or an application.",
        ),
    ],
)
