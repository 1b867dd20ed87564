"""Error codes about organizations, their domains, members and policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "import.org_differs": CatalogueEntry(
        400,
        "A row of a package names another organization than the one that it stands in.",
        "Put the row into the organization that it belongs to.",
    ),
    "domain.exists": CatalogueEntry(
        409,
        "The organization has this domain already.",
        "Use it.",
    ),
    "domain.no_challenge": CatalogueEntry(
        400,
        "No proof was asked for yet.",
        "Generate a validation token first, and put it where the answer says.",
    ),
    "domain.not_found": CatalogueEntry(
        404,
        "The organization has no such domain.",
        "Look at its list of domains.",
    ),
    "domain.not_proven": CatalogueEntry(
        400,
        "The token was not found at the domain.",
        "Put it where the answer of the generation said; records of DNS can take a "
        "while to be seen.",
    ),
    "domain.not_verified": CatalogueEntry(
        400,
        "Only a proven domain can do that.",
        "Prove it first.",
    ),
    "domain.primary": CatalogueEntry(
        400,
        "It is the primary domain.",
        "Make another one primary first.",
    ),
    "domain.reserved": CatalogueEntry(
        400,
        "The domain belongs to the service itself.",
        "Choose another one.",
    ),
    "domain.too_many": CatalogueEntry(
        400,
        "The organization has as many domains as it can have.",
        "Remove one.",
    ),
    "domain.verified": CatalogueEntry(
        400,
        "The domain is proven already.",
        "There is nothing left to do.",
    ),
    "language.not_found": CatalogueEntry(
        404,
        "The service has no such language.",
        "Use one that it is translated to.",
    ),
    "letter.not_found": CatalogueEntry(
        404,
        "There is no letter of this type.",
        "Use a type that the documentation names.",
    ),
    "picture.not_found": CatalogueEntry(
        404,
        "There is no such picture, or none is set.",
        "The pictures are logo, logo_dark, icon and icon_dark; set it first.",
    ),
    "login_policy.external_idp": CatalogueEntry(
        400,
        "There are no external identity providers yet.",
        "Leave the field out.",
    ),
    "login_policy.no_factor": CatalogueEntry(
        400,
        "A second factor is forced, and none counts.",
        "Name one in secondFactors or multiFactors, or don't force it.",
    ),
    "login_policy.only_way": CatalogueEntry(
        400,
        "Everybody can have a password, so it can't be switched off.",
        "Leave it true.",
    ),
    "login_policy.unknown_names": CatalogueEntry(
        400,
        "The service never tells whether a name is known.",
        "Leave it true.",
    ),
    "member.exists": CatalogueEntry(
        409,
        "The user is a member already.",
        "Change their roles by PUT.",
    ),
    "member.last_owner": CatalogueEntry(
        400,
        "Nobody else is an active owner.",
        "Make somebody else an owner first.",
    ),
    "member.not_found": CatalogueEntry(
        404,
        "The user is no member here.",
        "Look at the list of members.",
    ),
    "organization.deleted": CatalogueEntry(
        409,
        "An organization with this id was deleted a moment ago.",
        "Try again in a quarter of an hour.",
    ),
    "organization.domain_taken": CatalogueEntry(
        409,
        "The domain is another organization's primary one.",
        "Choose another one.",
    ),
    "organization.last_owner": CatalogueEntry(
        400,
        "Nobody outside of it is an active owner of the installation.",
        "Make somebody else an owner first.",
    ),
    "organization.name_taken": CatalogueEntry(
        409,
        "The name is another organization's.",
        "Choose another one.",
    ),
    "organization.not_found": CatalogueEntry(
        404,
        "There is no such organization.",
        "Check the id, also in x-<vendor>-orgid.",
    ),
    "organization.of_instance": CatalogueEntry(
        400,
        "It is the installation's own organization, which stays.",
        "Choose another one.",
    ),
    "organization.state": CatalogueEntry(
        400,
        "The organization is in that state already, or in one that leads elsewhere.",
        "Read its state first.",
    ),
    "password_age_policy.warning": CatalogueEntry(
        400,
        "Nobody is warned of an ageing password yet.",
        "Leave the field out.",
    ),
    "policy.exists": CatalogueEntry(
        409,
        "The organization has a policy of its own already.",
        "Change it by PUT.",
    ),
    "policy.protected": CatalogueEntry(
        403,
        "Administrators of the installation belong to the organization and sign in by it.",
        "Let an owner of the installation set it.",
    ),
    "policy.not_found": CatalogueEntry(
        404,
        "The organization has no policy of its own.",
        "Make one by POST; until then the installation's counts.",
    ),
}
