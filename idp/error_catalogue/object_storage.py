"""Error codes about the object storage that packages are read from and written to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "object_storage.account": CatalogueEntry(
        400,
        "The document is not that of a service account of Google Cloud.",
        "Send the JSON key file as Google Cloud made it, in base64.",
    ),
    "object_storage.bucket": CatalogueEntry(
        400,
        "Buckets don't have such names.",
        "Send the bucket's name alone, without gs:// and without a path.",
    ),
    "object_storage.changed": CatalogueEntry(
        400,
        "The object was changed while it was read.",
        "Send the call again when nobody writes it any more.",
    ),
    "object_storage.checksum": CatalogueEntry(
        400,
        "What arrived is not what was sent, by its size or its checksum.",
        "Send the call again; if that is no help, look at the object.",
    ),
    "object_storage.exists": CatalogueEntry(
        400,
        "There is an object of that name already, and nothing is overwritten.",
        "Choose another path, or remove the object.",
    ),
    "object_storage.forbidden": CatalogueEntry(
        400,
        "The service account is not known, or may not do this in that bucket.",
        "Give it the role Storage Object Viewer for reading, Storage Object Creator for writing.",
    ),
    "object_storage.not_found": CatalogueEntry(
        400,
        "There is no such bucket, or no such object in it.",
        "Compare bucket and path with what the storage shows.",
    ),
    "object_storage.not_installed": CatalogueEntry(
        400,
        "The library for Google Cloud Storage is not installed.",
        "Those who run the service install it with the extra gcs: pip install 'idp[gcs]'.",
    ),
    "object_storage.path": CatalogueEntry(
        400,
        "The path is not made of names with one slash between them.",
        "Leave out slashes at both ends, double ones, backslashes, and names made of dots.",
    ),
    "object_storage.timeout": CatalogueEntry(
        400,
        "Object storage took longer than the call may take.",
        "Send it again with a longer timeout.",
    ),
    "object_storage.too_large": CatalogueEntry(
        400,
        "The object has more octets than a package may have.",
        "Send it in parts, or have those who run the service raise max_import_bytes.",
    ),
    "object_storage.unreachable": CatalogueEntry(
        400,
        "Object storage could not be reached, or answered what it should not.",
        "Send the call again; those who run the service find the cause in the log.",
    ),
}
