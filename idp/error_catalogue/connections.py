"""Error codes about connections to other identity providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "connection.not_found": CatalogueEntry(
        404,
        "There is no such connection, or the caller may not know that it exists.",
        "See the list of connections; the installation's and those of organizations have"
        " different paths.",
    ),
    "connection.name_taken": CatalogueEntry(
        409,
        "Another connection of the same owner has this name.",
        "Choose another name; case is ignored.",
    ),
    "connection.id_taken": CatalogueEntry(
        409,
        "Another connection has this ID.",
        "Choose another ID, or leave it out.",
    ),
    "connection.id": CatalogueEntry(
        400,
        "The ID can't be part of a path.",
        "Use letters, digits, '-', '.' and '_', or leave it out.",
    ),
    "connection.id_chosen": CatalogueEntry(
        403,
        "Only an administrator of the installation can choose an ID: users may already be"
        " linked to it.",
        "Leave the ID out, or ask an administrator of the installation.",
    ),
    "connection.id_fixed": CatalogueEntry(
        400,
        "The ID of a connection can't be changed.",
        "Leave it out.",
    ),
    "connection.address": CatalogueEntry(
        400,
        "The service can't call this address: it is not encrypted, has user information or an"
        " unusual port, or leads to a private network.",
        "Use an https address that the service can reach. The setting outgoing_networks allows"
        " private networks.",
    ),
    "connection.tenant": CatalogueEntry(
        400,
        "This is not the ID of a tenant.",
        "Use the tenant's ID (a UUID) from the overview of Microsoft Entra ID.",
    ),
    "connection.options_contradict": CatalogueEntry(
        400,
        "Two options exclude each other, or an option is not for this kind of connection.",
        "Leave one of them out; the message says which.",
    ),
    "connection.no_secret": CatalogueEntry(
        400,
        "An imported connection has no client secret, so it is not active.",
        "Set the client secret of the connection, then activate it.",
    ),
    "connection.auto_update": CatalogueEntry(
        400,
        "Users are not updated from the provider at a sign-in yet.",
        "Leave isAutoUpdate out, or send false.",
    ),
    "connection.domain_not_verified": CatalogueEntry(
        400,
        "An organization's connection names a domain that the organization has not verified.",
        "Verify the domain first.",
    ),
    "connection.owner_needed": CatalogueEntry(
        403,
        "Users are linked to the connection, so only some administrators can change whom it"
        " trusts.",
        "Let an owner of the organization do it within ten minutes of a sign-in, or an"
        " administrator of the installation.",
    ),
    "connection.has_links": CatalogueEntry(
        400,
        "Users are linked to the connection.",
        "Deactivate it, or send links=delete to delete the links with it.",
    ),
    "connection.state": CatalogueEntry(
        400,
        "The connection is already in that state.",
        "There is nothing left to do.",
    ),
    "connection.too_many": CatalogueEntry(
        400,
        "The organization, or the installation, has as many connections as it can have.",
        "Delete one that no user needs.",
    ),
    "connection.test_not_found": CatalogueEntry(
        404,
        "There is no such test of the connection; results are stored for a day.",
        "Start another test.",
    ),
    "link.not_found": CatalogueEntry(
        404,
        "The user is not linked to this identity.",
        "See the user's links; there may be nothing left to do.",
    ),
    "connection.not_offered": CatalogueEntry(
        404,
        "The sign-in pages do not offer this connection.",
        "There is nothing left to do.",
    ),
}
