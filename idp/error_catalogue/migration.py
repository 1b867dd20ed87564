"""Error codes about the files of other systems that `idp migrate` reads. No call answers with
them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "source.address_doubled": CatalogueEntry(
        400,
        "Two records have the same email. Both are written; if both are verified, the"
        " import accepts only one of them.",
        "Join both accounts in the source.",
    ),
    "source.columns": CatalogueEntry(
        400,
        "A line of a table has more or fewer fields than its first line.",
        "Put a field that contains the delimiter into quotation marks.",
    ),
    "source.cut_off": CatalogueEntry(
        400,
        "The file ends in the middle of a record or a list.",
        "Export it again.",
    ),
    "source.encoding": CatalogueEntry(
        400,
        "The record has bytes that aren't valid in the encoding of the file.",
        "Convert the file to UTF-8; for a CSV file, set its encoding.",
    ),
    "source.factor": CatalogueEntry(
        400,
        "A second factor or a passkey can't be migrated.",
        "The user sets it up again.",
    ),
    "source.federated": CatalogueEntry(
        400,
        "Users of another store, such as LDAP, are not in an export of Keycloak.",
        "Export them from that store.",
    ),
    "source.name_doubled": CatalogueEntry(
        400,
        "Two records have the same username.",
        "Join both accounts in the source, or give one of them another name.",
    ),
    "source.password": CatalogueEntry(
        400,
        "The password's hash has an unknown format, or its record is malformed.",
        "The user sets a new password.",
    ),
    "source.password_by_address": CatalogueEntry(
        400,
        "A password was matched by email with an account of another provider.",
        "Check that both accounts belong to the same person.",
    ),
    "source.password_doubled": CatalogueEntry(
        400,
        "Several passwords have the same email; the first one is used.",
        "Leave only the right one in the file.",
    ),
    "source.password_lacking": CatalogueEntry(
        400,
        "A record of the password file has no email or no hash.",
        "Export the file again.",
    ),
    "source.password_unused": CatalogueEntry(
        400,
        "No user in the file of users has the email of this password.",
        "Export both files at the same time.",
    ),
    "source.service_account": CatalogueEntry(
        400,
        "The record is the account of a client, not of a person.",
        "Create a service user.",
    ),
    "source.too_long": CatalogueEntry(
        400,
        "A record, or a line of a CSV file, is too long.",
        "Check whether quotation marks or line breaks are missing.",
    ),
    "source.unreadable": CatalogueEntry(
        400,
        "The record isn't valid JSON, or the line isn't valid CSV.",
        "Fix the file, or export it again.",
    ),
    "source.user_doubled": CatalogueEntry(
        400,
        "Two records have the same ID.",
        "Leave only one of them in the file.",
    ),
}
