"""Error codes about the files of other systems that `idp migrate` reads. No call answers with
them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "source.address_doubled": CatalogueEntry(
        400,
        "Two records have one e-mail address. Both go along; if both are verified, the import "
        "takes one of them.",
        "Join both accounts in the source.",
    ),
    "source.columns": CatalogueEntry(
        400,
        "A line of a table has more or fewer fields than its first line.",
        "Put a field that holds the delimiter into quotation marks.",
    ),
    "source.cut_off": CatalogueEntry(
        400,
        "The file ends in the middle of a record or a list.",
        "Have it written anew.",
    ),
    "source.encoding": CatalogueEntry(
        400,
        "The record holds octets that are no text in the encoding of the file.",
        "Convert the file to UTF-8; of a table, name the encoding.",
    ),
    "source.factor": CatalogueEntry(
        400,
        "A second factor or a passkey can't be carried over.",
        "The person sets it up again.",
    ),
    "source.federated": CatalogueEntry(
        400,
        "The people of another store, such as LDAP, are not in an export of Keycloak.",
        "Take them from that store.",
    ),
    "source.name_doubled": CatalogueEntry(
        400,
        "Two records have one user name.",
        "Join both accounts in the source, or give one of them another name.",
    ),
    "source.password": CatalogueEntry(
        400,
        "The password is hashed in a way that is not known here, or the record of it is broken.",
        "The person sets a new password.",
    ),
    "source.password_by_address": CatalogueEntry(
        400,
        "A password was found by its e-mail address, for an account of another provider.",
        "Look whether both accounts are the same person's.",
    ),
    "source.password_doubled": CatalogueEntry(
        400,
        "Several passwords have one e-mail address; the first one counts.",
        "Leave only the one that counts in the file.",
    ),
    "source.password_lacking": CatalogueEntry(
        400,
        "A record of the password file has no e-mail address or no hash.",
        "Have the file written anew.",
    ),
    "source.password_unused": CatalogueEntry(
        400,
        "Nobody in the users' file has the e-mail address of this password.",
        "Have both files written at the same time.",
    ),
    "source.service_account": CatalogueEntry(
        400,
        "The record is the account of a client, and no person.",
        "Make a service user.",
    ),
    "source.too_long": CatalogueEntry(
        400,
        "A record, or a line of a table, is longer than any person's can be.",
        "Look whether quotation marks or line breaks are missing.",
    ),
    "source.unreadable": CatalogueEntry(
        400,
        "The record is not JSON, or no line of a table.",
        "Mend the file, or have it written anew.",
    ),
    "source.user_doubled": CatalogueEntry(
        400,
        "Two records have one id.",
        "Leave only one of them in the file.",
    ),
}
