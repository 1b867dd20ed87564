"""The last use of tokens, keys and secrets, the last sign-in of users, and deferred work."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from storage import Collection, Record

DeferredWorkKind = Literal[
    "project.deleted",
    "project.state",
    "project_grant.changed",
    "project_grant.deleted",
    "application.deleted",
    "connection.removed",
    "domain.lost",
    "email.superseded",
    "group.deleted",
    "connection.deactivated",
    "connection.deleted",
]


class LastUse(Record):
    """When a token, key or secret was last used, to the hour; its id is that of the token, key or
    secret. With the id `user:ID`, it is when this user last signed in.

    It expires with the token, key or secret; that of a user after 400 days. `previous_at` is when
    the user signed in before that, as it was stored.
    """

    at: datetime
    expires_at: datetime
    previous_at: datetime | None = None


class DeferredWork(Record):
    """Work that a deletion or change has deferred, because it is more than one unit can hold.

    `kind` is the change, `owner_id` the record that was changed, `actor` the user who made the
    change, and `org_id` the organization in which it was made. `client_id` is the application
    whose authorization a user has removed. `after` is the cursor of a step that processes a list
    page by page.
    """

    kind: DeferredWorkKind
    owner_id: str
    actor: str
    created_at: datetime
    org_id: str | None = None
    client_id: str | None = None
    after: tuple[str, str] | None = None


class DeletedOrganization(Record):
    """An organization that was deleted while records in it remain; the id is that of the
    organization.

    The record stays for a while after they are gone, in case another one was created there at the
    time of the deletion. As long as it exists, no organization can be created with this id.
    """

    actor: str
    deleted_at: datetime


LAST_USES: Final = Collection("last_uses", LastUse, expires=True)
DEFERRED_WORK: Final = Collection("leftovers", DeferredWork)
DELETED_ORGANIZATIONS: Final = Collection("deleted_organizations", DeletedOrganization)
