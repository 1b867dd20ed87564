"""Every error code of the management API, with what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.applications import APPLICATIONS
from idp.error_catalogue.entry import ErrorCodes
from idp.error_catalogue.fields import FIELDS
from idp.error_catalogue.imports import IMPORTS, OBJECT_STORAGE, SOURCE_FILES
from idp.error_catalogue.organizations import CONNECTIONS, GROUPS, ORGANIZATIONS
from idp.error_catalogue.requests import AUDIT_LOG, FIGURES, MAIL, REQUESTS
from idp.error_catalogue.users import USERS

CATALOGUE: Final[Mapping[str, ErrorCodes]] = {
    "Requests and callers": REQUESTS,
    "Fields": FIELDS,
    "Organizations": ORGANIZATIONS,
    "Users and service users": USERS,
    "Groups": GROUPS,
    "Connections": CONNECTIONS,
    "Projects and applications": APPLICATIONS,
    "Audit log": AUDIT_LOG,
    "Figures": FIGURES,
    "Mail": MAIL,
    "Imports": IMPORTS,
    "Files of other systems": SOURCE_FILES,
    "Object storage": OBJECT_STORAGE,
}
ERROR_CODES: Final[ErrorCodes] = {
    name: entry for part in CATALOGUE.values() for name, entry in part.items()
}
