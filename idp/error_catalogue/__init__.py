"""Every error code of the management API, with its cause and how to resolve it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue import (
    applications,
    fields,
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
    "Requests and callers": requests.SLUGS,
    "Fields": fields.SLUGS,
    "Organizations": organizations.SLUGS,
    "People and service users": error_catalogue_users.SLUGS,
    "Projects and applications": applications.SLUGS,
    "Mail": mail.SLUGS,
    "Imports": imports.SLUGS,
    "Files of other systems": migration.SLUGS,
    "Object storage": object_storage.SLUGS,
}
SLUGS: Final[Mapping[str, CatalogueEntry]] = {
    name: slug for part in CATALOGUE.values() for name, slug in part.items()
}
