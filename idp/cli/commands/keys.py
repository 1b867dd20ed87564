"""`idp keys`: the keys that sign and encrypt tokens."""

from __future__ import annotations

from idp.cli.building import group
from idp.cli.command import command

keys = group(
    "keys",
    "The keys that sign and seal tokens.",
    [
        command(
            "list",
            "GET /admin/v1/keys",
            "idp keys list",
            columns=("keyId", "algorithm", "state", "since"),
        ),
        command(
            "rotate",
            "POST /admin/v1/keys/_rotate",
            "idp keys rotate",
            summary="Let the waiting keys sign from now on; what the old ones signed goes on to"
            " count. Too early, it is refused.",
        ),
        command(
            "remove",
            "POST /admin/v1/keys/{keyId}/_remove",
            "idp keys remove 5xTpVw0mJqk3Yb9cD2eF1g",
            asks="All that the key {} signed or sealed will be void. Remove it?",
            summary="End all trust in a key that others may know: every token that it signed or"
            " sealed is void at once. Another takes over.",
        ),
    ],
)
