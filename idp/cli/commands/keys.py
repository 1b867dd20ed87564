"""`idp keys`: the keys that sign and encrypt tokens."""

from __future__ import annotations

from idp import api
from idp.cli.building import group
from idp.cli.command import Command
from idp.cli.commands.master import master

keys = group(
    "keys",
    "The keys that sign and encrypt tokens.",
    [
        Command(
            "list",
            api.instance.KEYS,
            "idp keys list",
            columns=("keyId", "algorithm", "state", "since"),
        ),
        Command(
            "rotate",
            api.instance.ROTATE_KEYS,
            "idp keys rotate",
            summary=(
                "Rotate the keys: the next ones sign from now on, and earlier signatures stay"
                " valid. Refused if the next keys are too new."
            ),
        ),
        Command(
            "remove",
            api.instance.REMOVE_KEY,
            "idp keys remove 5xTpVw0mJqk3Yb9cD2eF1g",
            confirm="All tokens that the key {} signed or encrypted become invalid. Remove it?",
            summary=(
                "Remove a key that may be compromised: all tokens that it signed or encrypted"
                " become invalid immediately. Another key replaces it."
            ),
        ),
    ],
)
keys.add_command(master)
