"""Error codes about projects, applications, keys and roles."""

from __future__ import annotations

from typing import Final

from idp.error_catalogue.entry import CatalogueEntry, ErrorCodes
from idp.foundation.i18n import message

APPLICATIONS: Final[ErrorCodes] = {
    "app.clock_skew": CatalogueEntry(
        400, message("Enter a time from 0s to 5s.", context="refused")
    ),
    "app.demo": CatalogueEntry(400, "End the demo instead. The application belongs to it."),
    "app.grant_types.implicit_missing": CatalogueEntry(
        400, "Add OIDC_GRANT_TYPE_IMPLICIT, or use the response type code."
    ),
    "app.grant_types.no_credentials": CatalogueEntry(
        400, "Choose another authentication method. Client credentials require a secret or a key."
    ),
    "app.groups_claim.characters": CatalogueEntry(400, "Enter a claim name such as groups."),
    "app.groups_claim.taken": CatalogueEntry(
        400, message("Choose another name. Tokens already have this claim.", context="refused")
    ),
    "app.login_version.base_uri": CatalogueEntry(
        400, "Leave the field out. Users sign in on this service's own pages."
    ),
    "app.no_secret": CatalogueEntry(
        400,
        "Change the authentication method first. The application authenticates without a secret.",
    ),
    "app.not_api": CatalogueEntry(400, "Use the calls for OpenID Connect applications."),
    "app.not_found": CatalogueEntry(404, "Check both IDs. The project has no such application."),
    "app.not_oidc": CatalogueEntry(400, "Use the calls for API applications."),
    "app.state": CatalogueEntry(400, "Nothing is left to do. It is already in that state."),
    "key.expiration_past": CatalogueEntry(
        400, message("That date is in the past.", context="refused")
    ),
    "key.not_found": CatalogueEntry(404, "Check the ID. There is no such key."),
    "key.public_key": CatalogueEntry(
        400, message("Enter a public key as PEM: RSA, P-256 or Ed25519.", context="refused")
    ),
    "key.removed": CatalogueEntry(400, "Nothing is left to do. The key was removed before."),
    "keys.too_soon": CatalogueEntry(
        400,
        "Try again from the time in the message on. Applications may not know the next key yet.",
    ),
    "preset.host": CatalogueEntry(
        400,
        message(
            "Enter a host name such as app.example.com, or the URL of a page.", context="refused"
        ),
    ),
    "preset.not_found": CatalogueEntry(404, "Check the name. There is no such preset."),
    "project.demo": CatalogueEntry(400, "End the demo instead. The project belongs to it."),
    "project.protected": CatalogueEntry(
        403,
        "Ask an owner of the installation, or remove managementAccess from its"
        " applications first.",
    ),
    "project.not_found": CatalogueEntry(404, "Check the ID. It may be in another organization."),
    "project_grant.exists": CatalogueEntry(
        409, "Change the grant, or delete it first. This organization already has one."
    ),
    "project_grant.not_found": CatalogueEntry(
        404, "Search the project's grants. It is not there, not active, or another organization's."
    ),
    "project_grant.organization": CatalogueEntry(
        400, "Ask the other organization for its ID. There is none with this ID."
    ),
    "project_grant.own": CatalogueEntry(
        400, "Name another organization. Users of the owning one can use the project anyway."
    ),
    "project_grant.state": CatalogueEntry(
        400, "Nothing is left to do. It is already in that state."
    ),
    "project.role_assertion.unsupported": CatalogueEntry(
        400, "Set accessTokenRoleAssertion or idTokenRoleAssertion at each application."
    ),
    "project.state": CatalogueEntry(400, "Nothing is left to do. It is already in that state."),
    "role.exists": CatalogueEntry(
        409, message("Choose another key. The project already has this role.", context="refused")
    ),
    "role.not_found": CatalogueEntry(404, "Check the key. The project has no such role."),
    "role.not_granted": CatalogueEntry(
        400, "Assign a granted role, or ask the owner of the project to grant this one."
    ),
    "user_grant.exists": CatalogueEntry(
        409, message("This user already has roles in that project.", context="console")
    ),
    "user_grant.not_found": CatalogueEntry(404, "Check the ID. The user has no such roles."),
}
