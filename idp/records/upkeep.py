"""When credentials were used, and what a change has left to be done."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from storage import Collection, Record

LeftoverKind = Literal[
    "project.deleted",
    "project.state",
    "project_grant.changed",
    "project_grant.deleted",
    "application.deleted",
    "connection.removed",
    "domain.lost",
    "email.superseded",
]


class LastUse(Record):
    """When a credential was last used, to the hour; its id is the credential's.

    It ends with the credential.
    """

    at: datetime
    expires_at: datetime


class Leftover(Record):
    """What hangs on something that was deleted or changed, and is more than one unit can hold.

    `actor` is who made the change, and `org_id` the organization that it was made in. `client_id`
    is the application that lost what a person had let it have. `after` is how far a step has come
    that goes through a list in its order.
    """

    kind: LeftoverKind
    owner_id: str
    actor: str
    created_at: datetime
    org_id: str | None = None
    client_id: str | None = None
    after: tuple[str, str] | None = None


class DeletedOrganization(Record):
    """An organization whose record is gone, and not yet all that was in it; the id is its own.

    It is kept for a while after that, in case that something was being made there at the moment
    of the deletion. Until it is gone no organization may be made with this id.
    """

    actor: str
    deleted_at: datetime


LAST_USES: Final = Collection("last_uses", LastUse, expires=True)
LEFTOVERS: Final = Collection("leftovers", Leftover)
DELETED_ORGANIZATIONS: Final = Collection("deleted_organizations", DeletedOrganization)
