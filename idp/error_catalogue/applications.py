"""Error codes about projects, applications, keys and roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "app.clock_skew": CatalogueEntry(
        400,
        "The clock skew is not a number of whole seconds from 0s to 5s.",
        "Write it such as 3s.",
    ),
    "app.demo": CatalogueEntry(
        400,
        "The application belongs to the demonstration.",
        "End the demonstration instead.",
    ),
    "app.grant_types.implicit_missing": CatalogueEntry(
        400,
        "These response types take the implicit grant.",
        "Add OIDC_GRANT_TYPE_IMPLICIT, or answer with codes.",
    ),
    "app.grant_types.no_credentials": CatalogueEntry(
        400,
        "Client credentials take a secret or a key, and the application has none.",
        "Choose another authentication method.",
    ),
    "app.groups_claim.characters": CatalogueEntry(
        400,
        "The text is no name of a claim.",
        "Write a name such as groups.",
    ),
    "app.groups_claim.taken": CatalogueEntry(
        400,
        "Tokens have a claim of this name already.",
        "Choose another name.",
    ),
    "app.login_version.base_uri": CatalogueEntry(
        400,
        "People sign in at this service's own pages.",
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
        "Use the calls for those.",
    ),
    "app.not_found": CatalogueEntry(
        404,
        "The project has no such application.",
        "Check both ids.",
    ),
    "app.not_oidc": CatalogueEntry(
        400,
        "It is an API application.",
        "Use the calls for those.",
    ),
    "app.state": CatalogueEntry(
        400,
        "The application is in that state already.",
        "Read its state first.",
    ),
    "key.expiration_past": CatalogueEntry(
        400,
        "The key would have expired already.",
        "Choose an instant to come.",
    ),
    "key.not_found": CatalogueEntry(
        404,
        "There is no such key.",
        "Look at the list of keys.",
    ),
    "key.public_key": CatalogueEntry(
        400,
        "The text is no public key that can verify assertions.",
        "Send the base64 of a PEM with an RSA key of 2048 bits or more, P-256, or Ed25519.",
    ),
    "key.removed": CatalogueEntry(
        400,
        "The key was removed before.",
        "There is nothing left to do.",
    ),
    "keys.too_soon": CatalogueEntry(
        400,
        "The next key was not published for long enough: applications may not know it yet.",
        "Come again from the instant on that the message tells.",
    ),
    "preset.host": CatalogueEntry(
        400,
        "The address is not of the kind that the preset fills in.",
        "Send scheme and host of the application, such as https://grafana.example.com.",
    ),
    "preset.not_found": CatalogueEntry(
        404,
        "There is no such preset.",
        "Look at the list of presets.",
    ),
    "project.demo": CatalogueEntry(
        400,
        "The project belongs to the demonstration.",
        "End the demonstration instead.",
    ),
    "project.protected": CatalogueEntry(
        403,
        "The caller may not decide who gets into the project's applications: ending them takes "
        "project.app.write, and iam.write where one of them has managementAccess.",
        "Let an owner of the installation do it, or take the managementAccess away first.",
    ),
    "project.not_found": CatalogueEntry(
        404,
        "There is no such project.",
        "Check the id; the project may be another organization's.",
    ),
    "project_grant.exists": CatalogueEntry(
        409,
        "The project is granted to this organization already.",
        "Change that grant, or delete it first.",
    ),
    "project_grant.not_found": CatalogueEntry(
        404,
        "The project has no such grant, or it is for another organization, or not active.",
        "Search the project's grants.",
    ),
    "project_grant.organization": CatalogueEntry(
        400,
        "There is no organization with this id.",
        "Ask the other organization for its id.",
    ),
    "project_grant.own": CatalogueEntry(
        400,
        "A project is not granted to the organization that owns it.",
        "Name another organization; the users of the own one may use it anyway.",
    ),
    "project_grant.state": CatalogueEntry(
        400,
        "The grant is in that state already.",
        "Read its state first.",
    ),
    "project.role_assertion.unsupported": CatalogueEntry(
        400,
        "Roles go into tokens as each application says.",
        "Set accessTokenRoleAssertion or idTokenRoleAssertion at the application.",
    ),
    "project.state": CatalogueEntry(
        400,
        "The project is in that state already.",
        "Read its state first.",
    ),
    "role.exists": CatalogueEntry(
        409,
        "The project has a role of this key already.",
        "Use it, or choose another key.",
    ),
    "role.not_found": CatalogueEntry(
        404,
        "The project has no such role.",
        "Look at the list of its roles.",
    ),
    "role.not_granted": CatalogueEntry(
        400,
        "The project grant does not have the role.",
        "Assign a role that is granted, or have the owner of the project grant it.",
    ),
    "user_grant.exists": CatalogueEntry(
        409,
        "The user has roles of this project already.",
        "Change them by PUT.",
    ),
    "user_grant.not_found": CatalogueEntry(
        404,
        "The user has no such roles.",
        "Look at the list of the user's grants.",
    ),
}
