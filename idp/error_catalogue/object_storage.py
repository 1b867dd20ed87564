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
        "Send the bucket's name alone, without gs:// or s3:// and without a path.",
    ),
    "object_storage.endpoint": CatalogueEntry(
        400,
        "The endpoint is not a server of the vendor, or its address is in a closed network.",
        "Leave it out, or ask the service's operators to list it in object_storage_servers.",
    ),
    "object_storage.exists": CatalogueEntry(
        400,
        "There is an object of that name already, and nothing is overwritten.",
        "Choose another path, or remove the object.",
    ),
    "object_storage.forbidden": CatalogueEntry(
        400,
        "The credentials are wrong, or lack the permission for this bucket.",
        "Compare them with the vendor's; they must allow reading or creating objects.",
    ),
    "object_storage.not_found": CatalogueEntry(
        400,
        "There is no such bucket, or no such object in it.",
        "Compare bucket and path with what the storage shows.",
    ),
    "object_storage.not_installed": CatalogueEntry(
        400,
        "The library for object storage is not installed.",
        "The service must be installed with an extra: pip install 'idp[object-storage]'.",
    ),
    "object_storage.path": CatalogueEntry(
        400,
        "The path must consist of names separated by single slashes.",
        "Leave out slashes at both ends, double ones, backslashes, and names made of dots.",
    ),
    "object_storage.timeout": CatalogueEntry(
        400,
        "Object storage took longer than the call's timeout.",
        "Send it again with a longer timeout.",
    ),
    "object_storage.too_large": CatalogueEntry(
        400,
        "The object is larger than a package may be.",
        "Send it in parts, or ask the service's operators to raise max_import_bytes.",
    ),
    "object_storage.unreachable": CatalogueEntry(
        400,
        "Object storage could not be reached, or its answer was invalid.",
        "Send the call again; the service's operators find the cause in the log.",
    ),
    "object_storage.value": CatalogueEntry(
        400,
        "The value has characters that such a value does not have.",
        "Send it as the vendor shows it.",
    ),
}
