"""The records that events name: people read their names in place of ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from idp.records import (
    APPLICATIONS,
    ORGANIZATIONS,
    PROJECTS,
    USERS,
    Application,
    Organization,
    Project,
    User,
)
from idp.records.connections import CONNECTIONS, ProviderConnection
from idp.records.groups import GROUPS, Group
from idp.service import Service
from storage import MAX_ID_CHARACTERS, Collection

NamedRecord = Application | Group | Organization | Project | ProviderConnection | User

# By the kind of an event's object, and by the member of a payload that has the id of one.
_COLLECTIONS: Final[Mapping[str, tuple[Collection[Any], ...]]] = {
    "application": (APPLICATIONS,),
    "client": (APPLICATIONS,),
    "connection": (CONNECTIONS,),
    "connection_id": (CONNECTIONS,),
    "editor": (USERS,),
    "grantedOrganization": (ORGANIZATIONS,),
    "group": (GROUPS,),
    "organization": (ORGANIZATIONS,),
    "owner": (APPLICATIONS, USERS),
    "project": (PROJECTS,),
    "subject": (USERS,),
    "user": (USERS,),
}


async def find(
    service: Service, references: Iterable[tuple[str, str]], org_id: str | None
) -> dict[str, NamedRecord]:
    """Returns the records, by id, that the references name: each a kind and an id. Within an
    organization, only its own records."""
    keys = sorted(set(_keys(references)), key=lambda key: (key[0].name, key[1]))
    found = await service.store.get_many(keys)
    return {
        record.id: record
        for record in found
        if record is not None and org_id in (None, _org_id(record))
    }


def name_of(record: NamedRecord) -> str:
    """Returns the name by which people know the record."""
    if isinstance(record, User):
        return record.profile.display_name or record.user_name
    return record.name


def _keys(references: Iterable[tuple[str, str]]) -> Iterator[tuple[Collection[Any], str]]:
    for kind, record_id in references:
        # The store accepts no other ids.
        if record_id and record_id.isprintable() and len(record_id) <= MAX_ID_CHARACTERS:
            yield from ((collection, record_id) for collection in _COLLECTIONS.get(kind, ()))


def _org_id(record: Any) -> str | None:
    return record.id if isinstance(record, Organization) else record.org_id
