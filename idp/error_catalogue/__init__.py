"""Every error code of the management API, with its cause and how to resolve it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue import (
    applications,
    audit,
    connections,
    fields,
    groups,
    imports,
    mail,
    migration,
    object_storage,
    organizations,
    requests,
)
from idp.error_catalogue import users as error_catalogue_users
from idp.error_catalogue.entry import CatalogueEntry

CATALOGUE: Final[Mapping[str, Mapping[str, CatalogueEntry]]] = {
    "Requests and callers": requests.ERROR_CODES,
    "Fields": fields.ERROR_CODES,
    "Organizations": organizations.ERROR_CODES,
    "Users and service users": error_catalogue_users.ERROR_CODES,
    "Groups": groups.ERROR_CODES,
    "Connections": connections.ERROR_CODES,
    "Projects and applications": applications.ERROR_CODES,
    "Audit log": audit.ERROR_CODES,
    "Mail": mail.ERROR_CODES,
    "Imports": imports.ERROR_CODES,
    "Files of other systems": migration.ERROR_CODES,
    "Object storage": object_storage.ERROR_CODES,
}
ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    name: entry for part in CATALOGUE.values() for name, entry in part.items()
}
