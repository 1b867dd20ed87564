"""Error codes about the rows of a package, and about the jobs that import and export them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "caller.not_a_service": CatalogueEntry(
        403,
        "Only a service user can import or export everything, with a personal access token.",
        "Create a service user with the role IAM_OWNER and a personal access token for it.",
    ),
    "export.output": CatalogueEntry(
        400,
        "An export is sent in the answer or to object storage, not to a file of the service.",
        "Leave the field out, and store the answer; or send gcsOutput, s3Output or azureOutput.",
    ),
    "id.elsewhere": CatalogueEntry(
        409,
        "The ID belongs to another kind of record, or to another organization.",
        "Give the record another ID wherever the package uses it.",
    ),
    "import.contention": CatalogueEntry(
        400,
        "The row couldn't be stored because other calls kept changing the same record.",
        "Import the package again: existing records stay the same.",
    ),
    "import.double": CatalogueEntry(
        400,
        "An earlier row of the package has the same ID.",
        "Leave one of the two out of the package.",
    ),
    "import.not_started": CatalogueEntry(
        400,
        "The job's process did not start.",
        "Read its error in the service's log, fix the cause, and resume the job.",
    ),
    "import.package_lost": CatalogueEntry(
        400,
        "The package of the job no longer exists, or was never received completely.",
        "Send it again.",
    ),
    "import.mended": CatalogueEntry(
        400,
        "A small error in the row was fixed, as the import's options allow.",
        "Check that the correction is what you meant.",
    ),
    "import.unstorable": CatalogueEntry(
        400,
        "The row has too many or invalid characters.",
        "Shorten it.",
    ),
    "import.unsupported": CatalogueEntry(
        400,
        "This service doesn't support rows of that kind, so the row is left out.",
        "Set it up by hand if you need it.",
    ),
    "job.ended": CatalogueEntry(
        400,
        "The job has ended: there is nothing left to cancel or resume.",
        "See the job, and import the package again if rows are missing.",
    ),
    "job.not_found": CatalogueEntry(
        404,
        "There is no job with this ID. Jobs are deleted 30 days after their end.",
        "Search for jobs.",
    ),
    "job.reads_file": CatalogueEntry(
        400,
        "The job was begun by `idp import` on a machine whose file it reads.",
        "Resume it there: `idp import FILE --resume`.",
    ),
    "json.too_large": CatalogueEntry(
        400,
        "A value of the package is too long.",
        "Make it smaller, or leave it out.",
    ),
    "package.encoding": CatalogueEntry(
        400,
        "The package is compressed, or isn't UTF-8.",
        "Decompress it, or save it as UTF-8 without a byte order mark.",
    ),
    "package.no_organizations": CatalogueEntry(
        400,
        "The document has no organizations where a package has them.",
        "Send dataOrgs, data_orgsv1 or a whole export, with its list orgs.",
    ),
    "id.characters": CatalogueEntry(
        400,
        "The ID has characters that IDs of projects, applications and keys can't have.",
        "Use printable ASCII, without spaces around it.",
    ),
    "id.reserved": CatalogueEntry(
        400,
        "The ID is a word that is part of API paths.",
        "Give the record another ID wherever the package uses it.",
    ),
    "app.secret_missing": CatalogueEntry(
        400,
        "The package doesn't contain the application's secret, so it can't authenticate yet.",
        "Generate a secret, and configure the application with it.",
    ),
    "secret.digest": CatalogueEntry(
        400,
        "The text isn't the hash of a secret in the form of an export.",
        "Send the SHA-256 of the secret in 43 characters of base64url, or leave the member out.",
    ),
    "user_grant.project_grant": CatalogueEntry(
        400,
        "The roles are of a project that is not granted to the organization.",
        "Put the grant into projectGrants, at the organization that owns the project.",
    ),
    "project_grant.roles": CatalogueEntry(
        400,
        "An import doesn't remove granted roles.",
        "Change the grant through the API.",
    ),
}
