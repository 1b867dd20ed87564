"""Error codes about projects, applications, keys and roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry
from idp.foundation.i18n import message

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "app.clock_skew": CatalogueEntry(
        400,
        "The clock skew is not a number of whole seconds from 0s to 5s.",
        "Write it like 3s.",
        field_text=message("Enter a time from 0s to 5s.", context="refused"),
    ),
    "app.demo": CatalogueEntry(
        400,
        "The application belongs to the demo.",
        "End the demo instead.",
    ),
    "app.grant_types.implicit_missing": CatalogueEntry(
        400,
        "These response types require the implicit grant.",
        "Add OIDC_GRANT_TYPE_IMPLICIT, or use the response type code.",
    ),
    "app.grant_types.no_credentials": CatalogueEntry(
        400,
        "Client credentials require a secret or a key, and the application has none.",
        "Choose another authentication method.",
    ),
    "app.groups_claim.characters": CatalogueEntry(
        400,
        "The text isn't the name of a claim.",
        "Write a name such as groups.",
    ),
    "app.groups_claim.taken": CatalogueEntry(
        400,
        "The name is that of a reserved claim.",
        "Choose another name.",
        field_text=message(
            "Choose another name. Tokens already have this claim.", context="refused"
        ),
    ),
    "app.login_version.base_uri": CatalogueEntry(
        400,
        "Users sign in on this service's own pages.",
        "Leave the field out.",
    ),
    "app.no_secret": CatalogueEntry(
        400,
        "The application authenticates without a secret.",
        "Change its authentication method first.",
    ),
    "app.not_api": CatalogueEntry(
        400,
        "It is an OpenID Connect application.",
        "Use the calls for that type.",
    ),
    "app.not_found": CatalogueEntry(
        404,
        "The project has no such application.",
        "Check both IDs.",
    ),
    "app.not_oidc": CatalogueEntry(
        400,
        "For an API application.",
        "Use the calls for that type.",
    ),
    "app.state": CatalogueEntry(
        400,
        "The application is already in that state.",
        "Read its state first.",
    ),
    "key.expiration_past": CatalogueEntry(
        400,
        "The key would have expired already.",
        "Choose a time in the future.",
        field_text=message("That date is in the past.", context="refused"),
    ),
    "key.not_found": CatalogueEntry(
        404,
        "There is no such key.",
        "See the list of keys.",
    ),
    "key.public_key": CatalogueEntry(
        400,
        "The text isn't a public key that can verify assertions.",
        "Send the base64 of a PEM with an RSA key of 2048 bits or more, P-256, or Ed25519.",
        field_text=message("Enter a public key as PEM: RSA, P-256 or Ed25519.", context="refused"),
    ),
    "key.removed": CatalogueEntry(
        400,
        "The key was removed before.",
        "There is nothing left to do.",
    ),
    "keys.too_soon": CatalogueEntry(
        400,
        "The next key was not published for long enough: applications may not know it yet.",
        "Try again from the time in the message on.",
    ),
    "preset.host": CatalogueEntry(
        400,
        "The address doesn't have the form that the preset requires.",
        "Send scheme and host of the application, such as https://grafana.example.com.",
        field_text=message(
            "Enter a host name such as app.example.com, or the URL of a page.", context="refused"
        ),
    ),
    "preset.not_found": CatalogueEntry(
        404,
        "There is no such preset.",
        "See the list of presets.",
    ),
    "project.demo": CatalogueEntry(
        400,
        "The project belongs to the demo.",
        "End the demo instead.",
    ),
    "project.protected": CatalogueEntry(
        403,
        "The caller may not decide who can use the project's applications: this requires"
        " project.app.write, and iam.write if one of them has managementAccess.",
        "Let an owner of the installation do it, or remove managementAccess first.",
    ),
    "project.not_found": CatalogueEntry(
        404,
        "There is no such project.",
        "Check the ID; the project may belong to another organization.",
    ),
    "project_grant.exists": CatalogueEntry(
        409,
        "The project is already granted to this organization.",
        "Change that grant, or delete it first.",
    ),
    "project_grant.not_found": CatalogueEntry(
        404,
        "The project has no such grant, or it is for another organization, or not active.",
        "Search the project's grants.",
    ),
    "project_grant.organization": CatalogueEntry(
        400,
        "There is no organization with this ID.",
        "Ask the other organization for its ID.",
    ),
    "project_grant.own": CatalogueEntry(
        400,
        "A project can't be granted to the organization that owns it.",
        "Name another organization; users of the owning one can use the project anyway.",
    ),
    "project_grant.state": CatalogueEntry(
        400,
        "The grant is already in that state.",
        "Read its state first.",
    ),
    "project.role_assertion.unsupported": CatalogueEntry(
        400,
        "Whether tokens contain roles is a setting of each application.",
        "Set accessTokenRoleAssertion or idTokenRoleAssertion at the application.",
    ),
    "project.state": CatalogueEntry(
        400,
        "The project is already in that state.",
        "Read its state first.",
    ),
    "role.exists": CatalogueEntry(
        409,
        "The project already has a role with this key.",
        "Use it, or choose another key.",
        field_text=message(
            "Choose another key. The project already has this role.", context="refused"
        ),
    ),
    "role.not_found": CatalogueEntry(
        404,
        "The project has no such role.",
        "See the list of its roles.",
    ),
    "role.not_granted": CatalogueEntry(
        400,
        "The project grant does not have the role.",
        "Assign a granted role, or ask the owner of the project to grant it.",
    ),
    "user_grant.exists": CatalogueEntry(
        409,
        "The user already has roles in this project.",
        "Change them by PUT.",
        request_text=message("This user already has roles in that project.", context="console"),
    ),
    "user_grant.not_found": CatalogueEntry(
        404,
        "The user has no such roles.",
        "See the list of the user's grants.",
    ),
}
