"""The identities at other providers that signed-in persons have linked to their accounts: list,
and removal.

An identity is linked during a sign-in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from idp import changes
from idp.foundation.errors import FailedPrecondition, NotFound
from idp.identity.factors import passkeys
from idp.identity.users.subjects import Subject
from idp.mail.templates import connections as connection_messages
from idp.records import User
from idp.records.connections import CONNECTIONS, ProviderConnection
from idp.records.identity_links import IDENTITY_LINKS, IdentityLink
from idp.service import Service
from idp.upstream import links, offers
from storage import Update, Write


class OwnLink(NamedTuple):
    """A link of a person's account, and its connection."""

    link: IdentityLink
    connection: ProviderConnection

    @property
    def is_current(self) -> bool:
        """Whether the connection trusts the provider at which the identity is."""
        return self.link.authority == self.connection.authority


async def find_all(service: Service, user: User) -> Sequence[OwnLink]:
    """Returns the links of a user, the oldest first, except those of deleted connections."""
    page = await service.store.find(IDENTITY_LINKS, {"user_id": user.id}, limit=links.MAX_LISTED)
    identity_links = sorted(page.records, key=lambda link: (link.created_at, link.id))
    keys = [(CONNECTIONS, link.connection_id) for link in identity_links]
    connections = await service.store.get_many(keys) if keys else []
    return [
        OwnLink(link, connection)
        for link, connection in zip(identity_links, connections, strict=True)
        if connection is not None
    ]


async def find(service: Service, user: User, link_id: str) -> OwnLink:
    """Returns one of a user's links. Raises NotFound."""
    for each in await find_all(service, user):
        if each.link.id == link_id:
            return each
    raise NotFound("the user has no such link", error_code="link.not_found")


async def remove(service: Service, subject: Subject, link_id: str) -> None:
    """Removes one of a person's own links. The sessions that the person has opened by its
    connection end, and the person is informed by mail.

    Raises NotFound; FailedPrecondition if the person could not sign in without it; Stale if the
    link was removed meanwhile.
    """
    user = subject.user
    link = (await find(service, user, link_id)).link
    guards = await _other_method_guards(service, user, link)
    removal = links.removals(service, [link], user.id)
    messages = connection_messages.unlinked(service, user)
    await changes.store(service, *removal, *guards, *messages)
    while not await links.end_sessions(service, link.connection_id, user.id):
        pass


async def _other_method_guards(service: Service, user: User, link: IdentityLink) -> list[Write]:
    """Returns guards of another authentication method of the user: of two links that are removed
    concurrently, one remains. Raises FailedPrecondition if there is none."""
    if user.password is not None or await passkeys.of_user(service, user.id):
        return []
    offered = {each.id for each in await offers.usable(service, user.org_id)}
    for each in await find_all(service, user):
        if each.link.id != link.id and each.is_current and each.connection.id in offered:
            return [Update(IDENTITY_LINKS, each.link.id, expect={"user_id": user.id})]
    raise FailedPrecondition(
        "it is the user's last authentication method", error_code="user.last_way"
    )
