"""Organizations, their domains, members and policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import Slug

SLUGS: Final[Mapping[str, Slug]] = {
    "import.org_differs": Slug(
        400,
        "A row of a package names another organization than the one that it stands in.",
        "Put the row into the organization that it belongs to.",
    ),
    "domain.exists": Slug(
        409,
        "The organization has this domain already.",
        "Use it.",
    ),
    "domain.no_challenge": Slug(
        400,
        "No proof was asked for yet.",
        "Generate a validation token first, and put it where the answer says.",
    ),
    "domain.not_found": Slug(
        404,
        "The organization has no such domain.",
        "Look at its list of domains.",
    ),
    "domain.not_proven": Slug(
        400,
        "The token was not found at the domain.",
        "Put it where the answer of the generation said; records of DNS can take a "
        "while to be seen.",
    ),
    "domain.not_verified": Slug(
        400,
        "Only a proven domain can do that.",
        "Prove it first.",
    ),
    "domain.primary": Slug(
        400,
        "It is the primary domain.",
        "Make another one primary first.",
    ),
    "domain.reserved": Slug(
        400,
        "The domain belongs to the service itself.",
        "Choose another one.",
    ),
    "domain.too_many": Slug(
        400,
        "The organization has as many domains as it can have.",
        "Remove one.",
    ),
    "domain.verified": Slug(
        400,
        "The domain is proven already.",
        "There is nothing left to do.",
    ),
    "language.not_found": Slug(
        404,
        "The service has no such language.",
        "Use one that it is translated to.",
    ),
    "letter.not_found": Slug(
        404,
        "There is no letter of this type.",
        "Use a type that the documentation names.",
    ),
    "picture.not_found": Slug(
        404,
        "There is no such picture, or none is set.",
        "The pictures are logo, logo_dark, icon and icon_dark; set it first.",
    ),
    "login_policy.external_idp": Slug(
        400,
        "There are no external identity providers yet.",
        "Leave the field out.",
    ),
    "login_policy.no_factor": Slug(
        400,
        "A second factor is forced, and none counts.",
        "Name one in secondFactors or multiFactors, or don't force it.",
    ),
    "login_policy.only_way": Slug(
        400,
        "Everybody can have a password, so it can't be switched off.",
        "Leave it true.",
    ),
    "login_policy.unknown_names": Slug(
        400,
        "The service never tells whether a name is known.",
        "Leave it true.",
    ),
    "member.exists": Slug(
        409,
        "The user is a member already.",
        "Change their roles by PUT.",
    ),
    "member.last_owner": Slug(
        400,
        "Nobody else is an active owner.",
        "Make somebody else an owner first.",
    ),
    "member.not_found": Slug(
        404,
        "The user is no member here.",
        "Look at the list of members.",
    ),
    "organization.deleted": Slug(
        409,
        "An organization with this id was deleted a moment ago.",
        "Try again in a quarter of an hour.",
    ),
    "organization.domain_taken": Slug(
        409,
        "The domain is another organization's primary one.",
        "Choose another one.",
    ),
    "organization.last_owner": Slug(
        400,
        "Nobody outside of it is an active owner of the installation.",
        "Make somebody else an owner first.",
    ),
    "organization.name_taken": Slug(
        409,
        "The name is another organization's.",
        "Choose another one.",
    ),
    "organization.not_found": Slug(
        404,
        "There is no such organization.",
        "Check the id, also in x-<vendor>-orgid.",
    ),
    "organization.of_instance": Slug(
        400,
        "It is the installation's own organization, which stays.",
        "Choose another one.",
    ),
    "organization.state": Slug(
        400,
        "The organization is in that state already, or in one that leads elsewhere.",
        "Read its state first.",
    ),
    "password_age_policy.warning": Slug(
        400,
        "Nobody is warned of an ageing password yet.",
        "Leave the field out.",
    ),
    "policy.exists": Slug(
        409,
        "The organization has a policy of its own already.",
        "Change it by PUT.",
    ),
    "policy.protected": Slug(
        403,
        "Administrators of the installation belong to the organization and sign in by it.",
        "Let an owner of the installation set it.",
    ),
    "policy.not_found": Slug(
        404,
        "The organization has no policy of its own.",
        "Make one by POST; until then the installation's counts.",
    ),
}
