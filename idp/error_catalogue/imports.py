"""Error codes about the rows of a package, and about the jobs that import and export them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "caller.not_a_service": CatalogueEntry(
        403,
        "What moves everything in or out is done by a service user, and the token of this call is "
        "a person's, or no personal access token.",
        "Make a service user of role IAM_OWNER and a personal access token for it.",
    ),
    "export.output": CatalogueEntry(
        400,
        "An export goes into the answer, or to Google Cloud Storage; nowhere else.",
        "Leave the field out, and store the answer; or send gcsOutput.",
    ),
    "id.elsewhere": CatalogueEntry(
        409,
        "The id is that of something else, or of another organization's.",
        "Give the record another id in the package, wherever it stands.",
    ),
    "import.contention": CatalogueEntry(
        400,
        "While the row was to be stored, others changed the same all the time.",
        "Import the package again: what is there already is left alone.",
    ),
    "import.double": CatalogueEntry(
        400,
        "Another row of the package has the same id, and came first.",
        "Leave one of the two out of the package.",
    ),
    "import.not_started": CatalogueEntry(
        400,
        "The process that was to work on the job did not start.",
        "Read its error in the service's log, mend its cause, and go on with the job.",
    ),
    "import.package_lost": CatalogueEntry(
        400,
        "The package of the job is not there any more, or was never received whole.",
        "Send it again.",
    ),
    "import.mended": CatalogueEntry(
        400,
        "A slip in the row was mended, as the import was asked to.",
        "Nothing has to be done. Look whether it is what was meant.",
    ),
    "import.unstorable": CatalogueEntry(
        400,
        "The row holds more, or other characters, than a record can.",
        "Shorten it.",
    ),
    "import.unsupported": CatalogueEntry(
        400,
        "This service has nothing of that kind, so the row is left out.",
        "Set up by hand what is needed of it.",
    ),
    "job.ended": CatalogueEntry(
        400,
        "The job has ended: there is nothing left to cancel, or to go on with.",
        "Look it up, and import the package again where rows are missing.",
    ),
    "job.not_found": CatalogueEntry(
        404,
        "There is no job of this id. Jobs are forgotten thirty days after their end.",
        "Look it up among all jobs.",
    ),
    "job.reads_file": CatalogueEntry(
        400,
        "The job was begun by `idp import` on a machine whose file it reads.",
        "Go on with it there: `idp import FILE --resume`.",
    ),
    "json.too_large": CatalogueEntry(
        400,
        "One value of a package has more characters than are read into memory at once.",
        "Make it smaller, or leave it out.",
    ),
    "package.encoding": CatalogueEntry(
        400,
        "The package is compressed, or is no UTF-8.",
        "Unpack it, or save it as UTF-8 without a byte order mark.",
    ),
    "package.no_organizations": CatalogueEntry(
        400,
        "The document holds no organizations where a package has them.",
        "Send dataOrgs, data_orgsv1 or a whole export, with its list orgs.",
    ),
    "id.characters": CatalogueEntry(
        400,
        "The id holds characters that ids of projects, applications and keys can't have.",
        "Use printable ASCII, without spaces around it.",
    ),
    "id.reserved": CatalogueEntry(
        400,
        "The id is a word that addresses are made of.",
        "Give the record another id in the package, wherever it stands.",
    ),
    "app.secret_missing": CatalogueEntry(
        400,
        "The package does not tell the application's secret, so it can't authenticate yet.",
        "Have a secret generated, and give it to the application.",
    ),
    "secret.digest": CatalogueEntry(
        400,
        "The text is not the hash of a secret as an export tells it.",
        "Send the SHA-256 of the secret in 43 characters of base64url, or leave the member out.",
    ),
    "user_grant.project_grant": CatalogueEntry(
        400,
        "The roles are of a project that is not granted to the organization.",
        "Put the grant into projectGrants, at the organization that owns the project.",
    ),
    "project_grant.roles": CatalogueEntry(
        400,
        "An import takes no granted role away.",
        "Change the grant by its call.",
    ),
}
