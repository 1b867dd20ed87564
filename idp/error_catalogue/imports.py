"""Error codes about packages, the jobs that import and export them, and where they come from."""

from __future__ import annotations

from typing import Final

from idp.error_catalogue.entry import CatalogueEntry, ErrorCodes

IMPORTS: Final[ErrorCodes] = {
    "caller.not_a_service": CatalogueEntry(
        403, "Use a personal access token of a service user with the role IAM_OWNER."
    ),
    "export.output": CatalogueEntry(
        400,
        "Leave the field out and store the answer, or send gcsOutput, s3Output or azureOutput.",
    ),
    "id.elsewhere": CatalogueEntry(
        409,
        "Give the record another ID wherever the package uses it. Another record has this one.",
    ),
    "import.contention": CatalogueEntry(
        400, "Import the package again. Other calls kept changing the record."
    ),
    "import.double": CatalogueEntry(400, "Leave one of the rows with this ID out."),
    "import.not_started": CatalogueEntry(
        400, "Read the error in the service's log, fix its cause, and resume the job."
    ),
    "import.package_lost": CatalogueEntry(
        400, "Send the package again. It no longer exists, or was never received completely."
    ),
    "import.mended": CatalogueEntry(400, "Check that the correction is what you meant."),
    "import.unstorable": CatalogueEntry(400, "Shorten the row, and remove invalid characters."),
    "import.unsupported": CatalogueEntry(
        400, "Set it up by hand if you need it. Rows of this kind aren't supported."
    ),
    "job.ended": CatalogueEntry(400, "See the job, and import again if rows are missing."),
    "job.not_found": CatalogueEntry(
        404, "Search for jobs. They are deleted 30 days after their end."
    ),
    "job.reads_file": CatalogueEntry(
        400, "Resume it on the machine that has the file: `idp import FILE --resume`."
    ),
    "json.too_large": CatalogueEntry(400, "Make the value smaller, or leave it out."),
    "package.encoding": CatalogueEntry(
        400, "Decompress the package, and save it as UTF-8 without a byte order mark."
    ),
    "package.no_organizations": CatalogueEntry(
        400, "Send dataOrgs, data_orgsv1 or a whole export, with its list orgs."
    ),
    "id.characters": CatalogueEntry(400, "Use printable ASCII, without spaces around it."),
    "id.reserved": CatalogueEntry(
        400, "Give the record another ID wherever the package uses it. It is part of API paths."
    ),
    "app.secret_missing": CatalogueEntry(
        400, "Generate a secret, and configure the application with it. The package has none."
    ),
    "secret.digest": CatalogueEntry(
        400,
        "Send the SHA-256 of the secret in 43 characters of base64url, or leave the member out.",
    ),
    "user_grant.project_grant": CatalogueEntry(
        400, "Put the grant into projectGrants, at the organization that owns the project."
    ),
    "project_grant.roles": CatalogueEntry(
        400, "Change the grant through the API. An import doesn't remove granted roles."
    ),
}
# No call answers with these: they are of the files that `idp migrate` reads.
SOURCE_FILES: Final[ErrorCodes] = {
    "source.address_doubled": CatalogueEntry(
        400, "Join both accounts in the source. If both are verified, one is refused."
    ),
    "source.columns": CatalogueEntry(400, "Put fields that contain the delimiter into quotes."),
    "source.cut_off": CatalogueEntry(400, "Export the file again. It ends in the middle."),
    "source.encoding": CatalogueEntry(400, "Convert the file to UTF-8, or set a CSV's encoding."),
    "source.factor": CatalogueEntry(
        400, "Let the user set it up again. Second factors and passkeys can't be migrated."
    ),
    "source.federated": CatalogueEntry(
        400, "Export the users of another store, such as LDAP, from that store."
    ),
    "source.name_doubled": CatalogueEntry(
        400, "Join both accounts in the source, or give one of them another name."
    ),
    "source.password": CatalogueEntry(
        400, "Let the user set a new password. Its hash is unusable."
    ),
    "source.password_by_address": CatalogueEntry(
        400, "Check that both accounts belong to the same person. They were matched by email."
    ),
    "source.password_doubled": CatalogueEntry(
        400, "Leave only the right password of this email in the file. The first one is used."
    ),
    "source.password_lacking": CatalogueEntry(
        400, "Export the password file again. A record has no email or no hash."
    ),
    "source.password_unused": CatalogueEntry(
        400, "Export both files at the same time. No user has the email of this password."
    ),
    "source.service_account": CatalogueEntry(
        400, "Create a service user. The record is the account of a client, not of a person."
    ),
    "source.too_long": CatalogueEntry(400, "Check whether quotes or line breaks are missing."),
    "source.unreadable": CatalogueEntry(
        400, "Fix the file, or export it again. The record isn't valid JSON or CSV."
    ),
    "source.user_doubled": CatalogueEntry(400, "Leave only one record with this ID in the file."),
}
OBJECT_STORAGE: Final[ErrorCodes] = {
    "object_storage.account": CatalogueEntry(
        400, "Send the JSON key file of a service account as Google Cloud made it, in base64."
    ),
    "object_storage.bucket": CatalogueEntry(
        400, "Send the name of the bucket or container alone, without a scheme and a path."
    ),
    "object_storage.endpoint": CatalogueEntry(
        400, "Leave it out, or ask the service's operators to list it in object_storage_servers."
    ),
    "object_storage.exists": CatalogueEntry(
        400, "Choose another path, or remove the object. Nothing is overwritten."
    ),
    "object_storage.forbidden": CatalogueEntry(
        400,
        "Compare the credentials with the vendor's. They must allow reading or creating objects.",
    ),
    "object_storage.not_found": CatalogueEntry(400, "Compare bucket and path with the storage."),
    "object_storage.not_installed": CatalogueEntry(
        400, "Install the service with the extra: pip install 'idp[object-storage]'."
    ),
    "object_storage.path": CatalogueEntry(
        400, "Leave out slashes at both ends, double ones, backslashes, and names made of dots."
    ),
    "object_storage.timeout": CatalogueEntry(400, "Send it again with a longer timeout."),
    "object_storage.too_large": CatalogueEntry(
        400, "Send it in parts, or ask the service's operators to raise max_import_bytes."
    ),
    "object_storage.unreachable": CatalogueEntry(
        400, "Send it again. The service's operators find the cause in the log."
    ),
    "object_storage.value": CatalogueEntry(400, "Send the value as the vendor shows it."),
}
