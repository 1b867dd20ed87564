"""Error codes about groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry
from idp.foundation.i18n import message

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "group.not_found": CatalogueEntry(
        404,
        "There is no such group, or the caller may not know that it exists.",
        "See the list of groups; a group belongs to one organization.",
    ),
    "group.name_taken": CatalogueEntry(
        409,
        "Another group of the organization has this name.",
        "Choose another name; case is ignored.",
        field_text=message("Choose another name. Another group has this one.", context="console"),
    ),
    "group.too_many": CatalogueEntry(
        400,
        "The organization has as many groups as it can have.",
        "Delete groups that you don't need.",
    ),
    "group.too_many_members": CatalogueEntry(
        400,
        "The group has as many members as it can have.",
        "Remove users, or split the group.",
    ),
    "group.too_many_of_user": CatalogueEntry(
        400,
        "A user is in as many groups as a user can be in.",
        "Remove the user from other groups.",
    ),
    "group.too_many_grants": CatalogueEntry(
        400,
        "The group has roles in as many projects as it can have.",
        "Remove its roles in other projects.",
    ),
    "group.member_not_found": CatalogueEntry(
        404,
        "The user is not a member of the group.",
        "There is nothing left to do.",
    ),
    "group.member_managed": CatalogueEntry(
        400,
        "The membership comes from a directory or a connection.",
        "Remove the user from the group there.",
        request_text=message(
            "A directory or a connection manages this membership. Remove it there.",
            context="console",
        ),
    ),
    "group.grant_not_found": CatalogueEntry(
        404,
        "The group has no roles in this project.",
        "See the roles of the group.",
    ),
}
