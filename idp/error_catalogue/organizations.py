"""Error codes about organizations, their domains, members and policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry
from idp.foundation.i18n import message

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "import.org_differs": CatalogueEntry(
        400,
        "A row of the package names another organization than the one that contains it.",
        "Put the row into the organization that it belongs to.",
    ),
    "domain.exists": CatalogueEntry(
        409,
        "The organization has this domain already.",
        "Use it.",
        request_text=message("The organization already has this domain.", context="console"),
    ),
    "domain.no_challenge": CatalogueEntry(
        400,
        "No verification was requested yet.",
        "Generate a validation token first, and publish it where the answer says.",
        request_text=message("Generate a token first.", context="console"),
    ),
    "domain.not_found": CatalogueEntry(
        404,
        "The organization has no such domain.",
        "See its list of domains.",
    ),
    "domain.not_proven": CatalogueEntry(
        400,
        "The token was not found at the domain.",
        "Publish it where the answer of the generation said; DNS records can take a while to"
        " become visible.",
        request_text=message(
            "The token was not found. DNS changes can take a few hours.", context="console"
        ),
    ),
    "domain.not_verified": CatalogueEntry(
        400,
        "The domain isn't verified.",
        "Verify it first.",
        request_text=message("Verify the domain first.", context="console"),
    ),
    "domain.primary": CatalogueEntry(
        400,
        "It is the primary domain.",
        "Make another one primary first.",
        request_text=message(
            "Usernames end with this domain. Make another domain primary first.", context="console"
        ),
    ),
    "domain.reserved": CatalogueEntry(
        400,
        "The domain belongs to the service itself.",
        "Choose another one.",
        field_text=message(
            "Enter another domain. The service creates the domains under this one.",
            context="console",
        ),
    ),
    "domain.too_many": CatalogueEntry(
        400,
        "The organization has as many domains as it can have.",
        "Remove one.",
        request_text=message("The organization has too many domains.", context="console"),
    ),
    "domain.verified": CatalogueEntry(
        400,
        "The domain is already verified.",
        "There is nothing left to do.",
        request_text=message("The domain is already verified.", context="console"),
    ),
    "language.not_found": CatalogueEntry(
        404,
        "The service has no such language.",
        "Use a language that it is translated into.",
    ),
    "letter.not_found": CatalogueEntry(
        404,
        "There is no message of this type.",
        "Use a type that the documentation names.",
    ),
    "picture.not_found": CatalogueEntry(
        404,
        "There is no such picture, or it isn't set.",
        "The pictures are logo, logo_dark, icon, icon_dark and background; set it first.",
    ),
    "login_policy.no_factor": CatalogueEntry(
        400,
        "A second factor is required, and none is allowed.",
        "Name one in secondFactors or multiFactors, or don't require it.",
    ),
    "login_policy.only_way": CatalogueEntry(
        400,
        "Passwords can't be switched off.",
        "Leave it set to true.",
    ),
    "login_policy.unknown_names": CatalogueEntry(
        400,
        "The service never reveals whether a name is known.",
        "Leave it set to true.",
    ),
    "member.exists": CatalogueEntry(
        409,
        "The user is a member already.",
        "Change their roles by PUT.",
        request_text=message("This user is already a member.", context="console"),
    ),
    "member.last_owner": CatalogueEntry(
        400,
        "The organization has no other active owner.",
        "Make another user an owner first.",
        request_text=message(
            "There is no other owner. Add a second owner first.", context="console"
        ),
    ),
    "member.not_found": CatalogueEntry(
        404,
        "The user is not a member.",
        "See the list of members.",
    ),
    "organization.deleted": CatalogueEntry(
        409,
        "An organization with this ID was recently deleted.",
        "Try again in 15 minutes.",
    ),
    "organization.domain_taken": CatalogueEntry(
        409,
        "The domain is another organization's primary one.",
        "Choose another one.",
        field_text=message(
            "Enter another domain. Another organization has this one.", context="console"
        ),
    ),
    "organization.last_owner": CatalogueEntry(
        400,
        "All active owners of the installation belong to the organization.",
        "Make a user of another organization an owner first.",
        request_text=message(
            "All owners of the installation belong to this organization. Add an owner from"
            " another organization first.",
            context="console",
        ),
    ),
    "organization.name_taken": CatalogueEntry(
        409,
        "The name is another organization's.",
        "Choose another one.",
        field_text=message(
            "Choose another name. Another organization has this one.", context="console"
        ),
    ),
    "organization.not_found": CatalogueEntry(
        404,
        "There is no such organization.",
        "Check the ID, also in x-<vendor>-orgid.",
    ),
    "organization.of_instance": CatalogueEntry(
        400,
        "It is the installation's own organization, which can't be deleted or deactivated.",
        "Choose another one.",
        request_text=message(
            "The installation's first organization can't be deleted.", context="console"
        ),
    ),
    "organization.state": CatalogueEntry(
        400,
        "The organization already is in that state, or can't change to it from its present one.",
        "Read its state first.",
        request_text=message("The state has changed in the meantime.", context="console"),
    ),
    "password_age_policy.warning": CatalogueEntry(
        400,
        "Warnings about an expiring password aren't supported yet.",
        "Leave the field out.",
    ),
    "policy.exists": CatalogueEntry(
        409,
        "The organization has a policy of its own already.",
        "Change it by PUT.",
    ),
    "policy.protected": CatalogueEntry(
        403,
        "Administrators of the installation belong to the organization, and the policy applies"
        " to them.",
        "Let an owner of the installation set it.",
    ),
    "policy.not_found": CatalogueEntry(
        404,
        "The organization has no policy of its own.",
        "Create one by POST; until then the installation's applies.",
    ),
}
