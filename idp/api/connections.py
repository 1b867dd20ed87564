"""Operations on connections to other identity providers: the installation's at /admin/v1/idps, and
those of organizations at /management/v1/idps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

from idp.api.operation import Operation, operation
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

_TITLES: Final[dict[ConnectionKind, str]] = {
    "generic_oidc": "OpenID Connect",
    "google": "Google",
    "azure": "Microsoft Entra ID",
    "gitlab": "GitLab",
    "gitlab_self_hosted": "a self-hosted GitLab",
}


class _Owner(NamedTuple):
    """The owner of the connections that the operations at a path prefix read and change. `phrase`
    names the owner in the summaries."""

    prefix: str
    read: Permission
    write: Permission
    is_instance: bool
    phrase: str

    @property
    def suffix(self) -> str:
        return "_of_instance" if self.is_instance else ""


_OF_ORGANIZATION: Final = _Owner(
    "/management/v1", "idp.read", "idp.write", False, "of the call's organization"
)
_OF_INSTANCE: Final = _Owner(
    "/admin/v1", "iam.idp.read", "iam.idp.write", True, "of the installation"
)


def _of_kind(owner: _Owner, kind: ConnectionKind) -> Iterator[Operation]:
    path, title = f"{owner.prefix}/idps/{kind}", _TITLES[kind]
    form = create.FORMS[kind]
    yield operation(
        "POST",
        path,
        owner.write,
        partial(create.create, kind=kind, is_instance=owner.is_instance),
        name=f"connections_create_{kind}{owner.suffix}",
        document=form,
        summary=f"Create a connection {owner.phrase} with {title}.",
    )
    yield operation(
        "PUT",
        f"{path}/{{idpId}}",
        owner.write,
        partial(change.change, kind=kind, is_instance=owner.is_instance),
        name=f"connections_change_{kind}{owner.suffix}",
        document=form,
        conditional=True,
        summary=f"Replace the settings of a connection {owner.phrase} with {title}.",
    )


def _templates(owner: _Owner) -> Iterator[Operation]:
    path = f"{owner.prefix}/idps/templates"
    yield operation(
        "POST",
        f"{path}/_search",
        owner.read,
        partial(read.search, is_instance=owner.is_instance),
        name=f"connections_search{owner.suffix}",
        summary=f"Search for connections {owner.phrase}.",
    )
    yield operation(
        "GET",
        f"{path}/{{idpId}}",
        owner.read,
        partial(read.show, is_instance=owner.is_instance),
        name=f"connections_show{owner.suffix}",
        summary=f"Get a connection {owner.phrase}, without its secrets.",
    )
    yield operation(
        "DELETE",
        f"{path}/{{idpId}}",
        owner.write,
        partial(removal.remove, is_instance=owner.is_instance),
        name=f"connections_remove{owner.suffix}",
        conditional=True,
        summary=f"Delete a connection {owner.phrase}; if users are linked to it, only with"
        " `links=delete`.",
    )


def _checks(owner: _Owner) -> Iterator[Operation]:
    yield operation(
        "POST",
        f"{owner.prefix}/idps/{{idpId}}/_check",
        owner.write,
        partial(check.check, is_instance=owner.is_instance),
        name=f"connections_check{owner.suffix}",
        summary=f"Check provider, keys and client secret of a connection {owner.phrase}.",
    )
    yield operation(
        "POST",
        f"{owner.prefix}/idps/{{idpId}}/_test",
        owner.write,
        partial(connection_tests.start, is_instance=owner.is_instance),
        name=f"connections_test{owner.suffix}",
        summary=f"Start the test of a connection {owner.phrase}: a sign-in that changes no user.",
    )
    yield operation(
        "GET",
        f"{owner.prefix}/idps/{{idpId}}/tests/{{testId}}",
        owner.write,
        partial(connection_tests.show, is_instance=owner.is_instance),
        name=f"connections_test_result{owner.suffix}",
        summary=f"The result of the test of a connection {owner.phrase}.",
    )


def _states(owner: _Owner) -> Iterator[Operation]:
    for verb, phrase in (
        ("activate", "Activate a connection"),
        ("deactivate", "Deactivate a connection"),
    ):
        yield operation(
            "POST",
            f"{owner.prefix}/idps/{{idpId}}/_{verb}",
            owner.write,
            partial(states.change, name=verb, is_instance=owner.is_instance),
            name=f"connections_{verb}{owner.suffix}",
            conditional=True,
            summary=f"{phrase} {owner.phrase}.",
        )


def _offers(owner: _Owner) -> Iterator[Operation]:
    path = f"{owner.prefix}/policies/login/idps"
    yield operation(
        "POST",
        path,
        owner.write,
        partial(offers.add, is_instance=owner.is_instance),
        name=f"connections_offer{owner.suffix}",
        summary=f"Offer a connection on the sign-in pages {owner.phrase}.",
    )
    yield operation(
        "POST",
        f"{path}/_search",
        owner.read,
        partial(offers.search, is_instance=owner.is_instance),
        name=f"connections_offered{owner.suffix}",
        summary=f"List the connections that the sign-in pages {owner.phrase} offer.",
    )
    yield operation(
        "DELETE",
        f"{path}/{{idpId}}",
        owner.write,
        partial(offers.remove, is_instance=owner.is_instance),
        name=f"connections_offer_no_more{owner.suffix}",
        summary=f"Stop offering a connection on the sign-in pages {owner.phrase}.",
    )


OPERATIONS: Final[tuple[Operation, ...]] = tuple(
    each
    for owner in (_OF_ORGANIZATION, _OF_INSTANCE)
    for part in (
        *(_of_kind(owner, kind) for kind in create.FORMS),
        _templates(owner),
        _checks(owner),
        _states(owner),
        _offers(owner),
    )
    for each in part
)
