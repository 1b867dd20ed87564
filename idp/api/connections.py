"""Operations on connections to other identity providers: the installation's at /admin/v1/idps, and
those of organizations at /management/v1/idps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from idp.api.operation import Operation, Run, operation
from idp.identity.users.permissions import Permission
from idp.management.connections import (
    change,
    check,
    connection_tests,
    create,
    offers,
    read,
    removal,
    states,
)
from idp.records.connections import ConnectionKind

TITLES: Final[Mapping[ConnectionKind, str]] = {
    "generic_oidc": "OpenID Connect",
    "google": "Google",
    "azure": "Microsoft Entra ID",
    "gitlab": "GitLab",
    "gitlab_self_hosted": "a self-hosted GitLab",
}
_TEMPLATES: Final = "idps/templates"
_OFFERS: Final = "policies/login/idps"


class ConnectionOperations(NamedTuple):
    """The operations on the connections of one owner: of the installation, or of the call's
    organization. `offer` and `withdraw` decide whether the sign-in pages show one."""

    create: Mapping[ConnectionKind, Operation]
    change: Mapping[ConnectionKind, Operation]
    search: Operation
    read: Operation
    remove: Operation
    check: Operation
    test: Operation
    test_result: Operation
    activate: Operation
    deactivate: Operation
    offer: Operation
    offered: Operation
    withdraw: Operation

    def listed(self) -> tuple[Operation, ...]:
        """Returns all of them, in the order of their documentation."""
        kinds = (part[kind] for kind in self.create for part in (self.create, self.change))
        return (*kinds, *self[2:])


class _Owner(NamedTuple):
    """The owner of the connections that the operations at a path prefix read and change. `phrase`
    names the owner in the summaries."""

    prefix: str
    read: Permission
    write: Permission
    is_instance: bool
    phrase: str

    def call(self, address: str, run: Run, name: str, summary: str, **more: Any) -> Operation:
        """Returns an operation that changes connections. Its address is written without the
        owner's prefix, and the owner's phrase replaces the braces of its summary."""
        return operation(
            address.replace(" ", f" {self.prefix}/"),
            more.pop("permission", self.write),
            partial(run, is_instance=self.is_instance),
            name=f"connections_{name}{'_of_instance' if self.is_instance else ''}",
            summary=summary.format(self.phrase),
            **more,
        )

    def reading(self, address: str, run: Run, name: str, summary: str) -> Operation:
        """Returns an operation that reads connections."""
        return self.call(address, run, name, summary, permission=self.read)

    def create(self, kind: ConnectionKind) -> Operation:
        return self.call(
            f"POST idps/{kind}",
            partial(create.create, kind=kind),
            f"create_{kind}",
            f"Create a connection {{}} with {TITLES[kind]}.",
            document=create.FORMS[kind],
        )

    def change(self, kind: ConnectionKind) -> Operation:
        return self.call(
            f"PUT idps/{kind}/{{idpId}}",
            partial(change.change, kind=kind),
            f"change_{kind}",
            f"Replace the settings of a connection {{}} with {TITLES[kind]}.",
            document=create.FORMS[kind],
            conditional=True,
        )

    def switch(self, verb: str) -> Operation:
        return self.call(
            f"POST idps/{{idpId}}/_{verb}",
            partial(states.change, name=verb),
            verb,
            f"{verb.capitalize()} a connection {{}}.",
            conditional=True,
        )


def _of(owner: _Owner) -> ConnectionOperations:
    return ConnectionOperations(
        create={kind: owner.create(kind) for kind in create.FORMS},
        change={kind: owner.change(kind) for kind in create.FORMS},
        search=owner.reading(
            f"POST {_TEMPLATES}/_search", read.search, "search", "Search for connections {}."
        ),
        read=owner.reading(
            f"GET {_TEMPLATES}/{{idpId}}",
            read.show,
            "show",
            "Get a connection {}, without its secrets.",
        ),
        remove=owner.call(
            f"DELETE {_TEMPLATES}/{{idpId}}",
            removal.remove,
            "remove",
            "Delete a connection {}; if users are linked to it, only with `links=delete`.",
            conditional=True,
        ),
        **_trials(owner),
        activate=owner.switch("activate"),
        deactivate=owner.switch("deactivate"),
        **_offers(owner),
    )


def _trials(owner: _Owner) -> dict[str, Operation]:
    return {
        "check": owner.call(
            "POST idps/{idpId}/_check",
            check.check,
            "check",
            "Check provider, keys and client secret of a connection {}.",
        ),
        "test": owner.call(
            "POST idps/{idpId}/_test",
            connection_tests.start,
            "test",
            "Start the test of a connection {}: a sign-in that changes no user.",
        ),
        "test_result": owner.call(
            "GET idps/{idpId}/tests/{testId}",
            connection_tests.show,
            "test_result",
            "The result of the test of a connection {}.",
        ),
    }


def _offers(owner: _Owner) -> dict[str, Operation]:
    return {
        "offer": owner.call(
            f"POST {_OFFERS}", offers.add, "offer", "Offer a connection on the sign-in pages {}."
        ),
        "offered": owner.reading(
            f"POST {_OFFERS}/_search",
            offers.search,
            "offered",
            "List the connections that the sign-in pages {} offer.",
        ),
        "withdraw": owner.call(
            f"DELETE {_OFFERS}/{{idpId}}",
            offers.remove,
            "offer_no_more",
            "Stop offering a connection on the sign-in pages {}.",
        ),
    }


OF_ORGANIZATION: Final = _of(
    _Owner("/management/v1", "idp.read", "idp.write", False, "of the call's organization")
)
OF_INSTANCE: Final = _of(
    _Owner("/admin/v1", "iam.idp.read", "iam.idp.write", True, "of the installation")
)
OPERATIONS: Final = (*OF_ORGANIZATION.listed(), *OF_INSTANCE.listed())
