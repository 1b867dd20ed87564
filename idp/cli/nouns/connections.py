"""`idp connection`: connections to other identity providers."""

from __future__ import annotations

from typing import Final

import click

from idp import api
from idp.cli.building import build, group
from idp.cli.command import HIDDEN, Command, with_instance
from idp.records.connections import ConnectionKind

_OWN: Final = api.connections.OF_ORGANIZATION
_INSTANCE: Final = api.connections.OF_INSTANCE
_NAMES: Final = {
    "providerOptions.domains": "home-domain",
    "providerOptions.trustedDomains": "trusted-domain",
    "providerOptions.mapping.": "map",
}


def _create(kind: ConnectionKind) -> Command:
    verb = kind.replace("_", "-")
    return Command(
        verb,
        with_instance(_OWN.create[kind], _INSTANCE.create[kind]),
        f"idp connection create {verb} --name Corp",
        names=_NAMES,
        summary=f"Create a connection of an organization with {api.connections.TITLES[kind]}.",
    )


def _change(kind: ConnectionKind) -> Command:
    verb = kind.replace("_", "-")
    return Command(
        verb,
        with_instance(_OWN.change[kind], _INSTANCE.change[kind]),
        f"idp connection change {verb} 7mWq2Zx4 --name Corp",
        names={**_NAMES, "id": HIDDEN},
        base={"": (_OWN.read, "idp.settings"), "instance": (_INSTANCE.read, "idp.settings")},
        summary=f"Change a connection with {api.connections.TITLES[kind]}; the rest stays the"
        " same.",
    )


connection = click.Group(
    "connection",
    help="Connections to other identity providers.",
    short_help="Connections to other identity providers.",
)
connection.add_command(
    group(
        "create",
        "Create a connection of an organization, or with --instance of the installation.",
        [_create(kind) for kind in api.connections.TITLES],
    )
)
connection.add_command(
    group(
        "change",
        "Change a connection of an organization, or with --instance of the installation.",
        [_change(kind) for kind in api.connections.TITLES],
    )
)
for _command in (
    Command(
        "list",
        with_instance(_OWN.search, _INSTANCE.search),
        "idp connection list --instance",
        columns=("id", "name", "type", "state", "isLinked"),
        summary="Search for connections; without a filter, list all.",
    ),
    Command(
        "get",
        with_instance(_OWN.read, _INSTANCE.read),
        "idp connection get 7mWq2Zx4",
        summary="Show a connection, without its secrets.",
    ),
    Command("check", with_instance(_OWN.check, _INSTANCE.check), "idp connection check 7mWq2Zx4"),
    Command("test", with_instance(_OWN.test, _INSTANCE.test), "idp connection test 7mWq2Zx4"),
    Command(
        "test-result",
        with_instance(_OWN.test_result, _INSTANCE.test_result),
        "idp connection test-result --idp 7mWq2Zx4 3kRt8Vn1",
    ),
    Command(
        "activate",
        with_instance(_OWN.activate, _INSTANCE.activate),
        "idp connection activate 7mWq2Zx4",
    ),
    Command(
        "deactivate",
        with_instance(_OWN.deactivate, _INSTANCE.deactivate),
        "idp connection deactivate 7mWq2Zx4",
        confirm="Deactivate the connection {}? Users can't sign in with it then.",
    ),
    Command(
        "delete",
        with_instance(_OWN.remove, _INSTANCE.remove),
        "idp connection delete 7mWq2Zx4",
        confirm="Permanently delete the connection {}?",
    ),
    Command(
        "offer",
        with_instance(_OWN.offer, _INSTANCE.offer),
        "idp connection offer --idp-id 7mWq2Zx4",
    ),
    Command(
        "offered",
        with_instance(_OWN.offered, _INSTANCE.offered),
        "idp connection offered",
        columns=("id", "name", "type", "owner", "state"),
    ),
    Command(
        "withdraw",
        with_instance(_OWN.withdraw, _INSTANCE.withdraw),
        "idp connection withdraw 7mWq2Zx4",
    ),
):
    connection.add_command(build(_command))
