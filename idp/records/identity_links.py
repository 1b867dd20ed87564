"""Identity links: the users of identities at other providers."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from idp.foundation import opaque_tokens
from storage import Collection, Record


class IdentityLink(Record):
    """The link of one identity at another provider to one user; its id is the digest of
    connection, authority and external id, so an identity is one user. `user_name` is the name
    of the person at the provider at that time."""

    connection_id: str
    authority: str
    external_id: str
    user_id: str
    org_id: str
    user_name: str
    created_at: datetime
    changed_at: datetime
    sequence: int = 1


IDENTITY_LINKS: Final = Collection(
    "identity_links",
    IdentityLink,
    lists=(("user_id",), ("connection_id", "user_id")),
)


def link_id(connection_id: str, authority: str, external_id: str) -> str:
    """Returns the id of the link of an identity."""
    return opaque_tokens.digest(f"{connection_id}\n{authority}\n{external_id}")
