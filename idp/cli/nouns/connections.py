"""`idp connection`: connections to other identity providers."""

from __future__ import annotations

from typing import Final

import click

from idp.cli.building import build, group
from idp.cli.command import HIDDEN, Command, command

_OWN: Final = "/management/v1"
_INSTANCE: Final = "/admin/v1"
_KINDS: Final = {
    "generic_oidc": "OpenID Connect",
    "google": "Google",
    "azure": "Microsoft Entra ID",
    "gitlab": "GitLab",
    "gitlab_self_hosted": "a self-hosted GitLab",
}
_NAMES: Final = {
    "providerOptions.domains": "home-domain",
    "providerOptions.trustedDomains": "trusted-domain",
    "providerOptions.mapping.": "map",
}


def _both(method: str, path: str) -> dict[str, str]:
    """Returns the operation on an organization's connections, and that on the installation's."""
    return {"": f"{method} {_OWN}/{path}", "instance": f"{method} {_INSTANCE}/{path}"}


def _create(kind: str, title: str) -> Command:
    verb = kind.replace("_", "-")
    return command(
        verb,
        _both("POST", f"idps/{kind}"),
        f"idp connection create {verb} --name Corp",
        names=_NAMES,
        summary=f"Create a connection of an organization with {title}.",
    )


def _change(kind: str, title: str) -> Command:
    verb, template = kind.replace("_", "-"), "idps/templates/{idpId}"
    return command(
        verb,
        _both("PUT", f"idps/{kind}/{{idpId}}"),
        f"idp connection change {verb} 7mWq2Zx4 --name Corp",
        names={**_NAMES, "id": HIDDEN},
        base={name: (address, "idp.settings") for name, address in _both("GET", template).items()},
        summary=f"Change a connection with {title}; the rest stays the same.",
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
        [_create(*each) for each in _KINDS.items()],
    )
)
connection.add_command(
    group(
        "change",
        "Change a connection of an organization, or with --instance of the installation.",
        [_change(*each) for each in _KINDS.items()],
    )
)
for _command in (
    command(
        "list",
        _both("POST", "idps/templates/_search"),
        "idp connection list --instance",
        columns=("id", "name", "type", "state", "isLinked"),
        summary="Search for connections; without a filter, list all.",
    ),
    command(
        "get",
        _both("GET", "idps/templates/{idpId}"),
        "idp connection get 7mWq2Zx4",
        summary="Show a connection, without its secrets.",
    ),
    command(
        "check",
        _both("POST", "idps/{idpId}/_check"),
        "idp connection check 7mWq2Zx4",
    ),
    command(
        "test",
        _both("POST", "idps/{idpId}/_test"),
        "idp connection test 7mWq2Zx4",
    ),
    command(
        "test-result",
        _both("GET", "idps/{idpId}/tests/{testId}"),
        "idp connection test-result --idp 7mWq2Zx4 3kRt8Vn1",
    ),
    command(
        "activate", _both("POST", "idps/{idpId}/_activate"), "idp connection activate 7mWq2Zx4"
    ),
    command(
        "deactivate",
        _both("POST", "idps/{idpId}/_deactivate"),
        "idp connection deactivate 7mWq2Zx4",
        confirm="Deactivate the connection {}? Users can't sign in with it then.",
    ),
    command(
        "delete",
        _both("DELETE", "idps/templates/{idpId}"),
        "idp connection delete 7mWq2Zx4",
        confirm="Permanently delete the connection {}?",
    ),
    command(
        "offer",
        _both("POST", "policies/login/idps"),
        "idp connection offer --idp-id 7mWq2Zx4",
    ),
    command(
        "offered",
        _both("POST", "policies/login/idps/_search"),
        "idp connection offered",
        columns=("id", "name", "type", "owner", "state"),
    ),
    command(
        "withdraw",
        _both("DELETE", "policies/login/idps/{idpId}"),
        "idp connection withdraw 7mWq2Zx4",
    ),
):
    connection.add_command(build(_command))
