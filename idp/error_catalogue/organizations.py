"""Error codes about organizations, their domains, members, policies, groups and connections."""

from __future__ import annotations

from typing import Final

from idp.error_catalogue.entry import CatalogueEntry, ErrorCodes
from idp.foundation.i18n import message

ORGANIZATIONS: Final[ErrorCodes] = {
    "import.org_differs": CatalogueEntry(400, "Put the row into the organization that it names."),
    "domain.exists": CatalogueEntry(
        409, message("The organization already has this domain.", context="console")
    ),
    "domain.no_challenge": CatalogueEntry(
        400, message("Generate a token first.", context="console")
    ),
    "domain.not_found": CatalogueEntry(
        404, "Check the name. The organization has no such domain."
    ),
    "domain.not_proven": CatalogueEntry(
        400,
        message("The token was not found. DNS changes can take a few hours.", context="console"),
    ),
    "domain.not_verified": CatalogueEntry(
        400, message("Verify the domain first.", context="console")
    ),
    "domain.primary": CatalogueEntry(
        400,
        message(
            "Usernames end with this domain. Make another domain primary first.", context="console"
        ),
    ),
    "domain.reserved": CatalogueEntry(
        400,
        message(
            "Enter another domain. This one is reserved for domains that the service generates.",
            context="console",
        ),
    ),
    "domain.too_many": CatalogueEntry(
        400, message("The organization has too many domains.", context="console")
    ),
    "domain.verified": CatalogueEntry(
        400, message("The domain is already verified.", context="console")
    ),
    "language.not_found": CatalogueEntry(404, "Use a language that the service has."),
    "letter.not_found": CatalogueEntry(404, "Use a type of message that the documentation names."),
    "picture.not_found": CatalogueEntry(
        404, "Use logo, logo_dark, icon, icon_dark or background, and set the picture first."
    ),
    "login_policy.no_factor": CatalogueEntry(
        400, "Allow a second factor in secondFactors or multiFactors, or don't require one."
    ),
    "login_policy.only_way": CatalogueEntry(
        400, "Leave it true. Passwords can't be switched off."
    ),
    "login_policy.unknown_names": CatalogueEntry(
        400, "Leave it true. The service never reveals whether a name is known."
    ),
    "member.exists": CatalogueEntry(
        409, message("This user is already a member.", context="console")
    ),
    "member.last_owner": CatalogueEntry(
        400, message("There is no other owner. Add a second owner first.", context="console")
    ),
    "member.not_found": CatalogueEntry(404, "Check the ID. The user is not a member."),
    "organization.deleted": CatalogueEntry(
        409, "Try again in 15 minutes. An organization with this ID was recently deleted."
    ),
    "organization.domain_taken": CatalogueEntry(
        409, message("Enter another domain. Another organization has this one.", context="console")
    ),
    "organization.last_owner": CatalogueEntry(
        400,
        message(
            "All owners of the installation belong to this organization. Add an owner from"
            " another organization first.",
            context="console",
        ),
    ),
    "organization.name_taken": CatalogueEntry(
        409, message("Choose another name. Another organization has this one.", context="console")
    ),
    "organization.not_found": CatalogueEntry(404, "Check the ID. There is no such organization."),
    "organization.of_instance": CatalogueEntry(
        400, message("The installation's first organization can't be deleted.", context="console")
    ),
    "organization.state": CatalogueEntry(
        400,
        "Read the state first. The organization is in that state already, or can't change to it.",
    ),
    "password_age_policy.warning": CatalogueEntry(
        400, "Leave the field out. Warnings about an expiring password aren't supported yet."
    ),
    "policy.exists": CatalogueEntry(409, "Change the policy by PUT. There already is one."),
    "policy.protected": CatalogueEntry(
        403, "Let an owner of the installation set it. It applies to its administrators."
    ),
    "policy.not_found": CatalogueEntry(
        404, "Create a policy by POST. Until then, the installation's applies."
    ),
}
GROUPS: Final[ErrorCodes] = {
    "group.not_found": CatalogueEntry(404, "Check the ID. The organization has no such group."),
    "group.name_taken": CatalogueEntry(
        409, message("Choose another name. Another group has this one.", context="console")
    ),
    "group.too_many": CatalogueEntry(
        400, "Delete groups that you don't need. The organization can't have more."
    ),
    "group.too_many_members": CatalogueEntry(
        400, "Remove users, or split the group. It can't have more members."
    ),
    "group.too_many_of_user": CatalogueEntry(
        400, "Remove the user from other groups. A user can't be in more."
    ),
    "group.too_many_grants": CatalogueEntry(
        400, "Remove the group's roles in other projects. It can't have roles in more."
    ),
    "group.member_not_found": CatalogueEntry(
        404, "Nothing is left to do. The user is not a member of the group."
    ),
    "group.member_managed": CatalogueEntry(
        400,
        message(
            "A directory or a connection manages this membership. Remove it there.",
            context="console",
        ),
    ),
    "group.grant_not_found": CatalogueEntry(404, "See the roles of the group. It has none here."),
}
CONNECTIONS: Final[ErrorCodes] = {
    "connection.not_found": CatalogueEntry(
        404, "See the list of connections. Those of the installation have another path."
    ),
    "connection.name_taken": CatalogueEntry(
        409, "Choose another name. Another connection has this one, in upper or lower case."
    ),
    "connection.id_taken": CatalogueEntry(
        409, "Choose another ID, or leave it out. Another connection has this one."
    ),
    "connection.id": CatalogueEntry(
        400, "Use letters, digits, '-', '.' and '_', or leave it out."
    ),
    "connection.id_chosen": CatalogueEntry(
        403, "Leave the ID out. Only an administrator of the installation can choose one."
    ),
    "connection.id_fixed": CatalogueEntry(400, "Leave the ID out. It can't be changed."),
    "connection.address": CatalogueEntry(
        400, "Use an https address that the service can reach (see the setting outgoing_networks)."
    ),
    "connection.tenant": CatalogueEntry(
        400, "Enter the tenant's ID (a UUID) from the overview of Microsoft Entra ID."
    ),
    "connection.options_contradict": CatalogueEntry(
        400, "Leave one of the options out. The message says which exclude each other."
    ),
    "connection.no_secret": CatalogueEntry(
        400, "Set the client secret of the connection, then activate it."
    ),
    "connection.auto_update": CatalogueEntry(
        400, "Leave isAutoUpdate out, or send false. Users are not updated at a sign-in yet."
    ),
    "connection.domain_not_verified": CatalogueEntry(
        400, "Verify the domain first. The organization has not verified it."
    ),
    "connection.owner_needed": CatalogueEntry(
        403,
        "Ask an administrator of the installation, or an owner within ten minutes of a"
        " sign-in. Users are linked to the connection.",
    ),
    "connection.has_links": CatalogueEntry(
        400,
        "Deactivate the connection, or send links=delete to delete the links of its users too.",
    ),
    "connection.state": CatalogueEntry(400, "Nothing is left to do. It is already in that state."),
    "connection.too_many": CatalogueEntry(
        400, "Delete a connection that no user needs. There can't be more."
    ),
    "connection.test_not_found": CatalogueEntry(
        404, "Start another test. Results are kept for a day."
    ),
    "link.not_found": CatalogueEntry(404, "Check the IDs. The user has no such link."),
    "connection.not_offered": CatalogueEntry(
        404, "Nothing is left to do. The sign-in pages don't offer this connection."
    ),
}
