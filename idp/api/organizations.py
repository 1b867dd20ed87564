"""Operations on organizations, their domains and their members."""

from __future__ import annotations

from functools import partial
from typing import Final

from idp.api.operation import named_in, operation
from idp.management.organizations import changes, domain_verification, member_search, members
from idp.management.organizations import domains as organization_domains
from idp.management.organizations import read as organization_read
from idp.management.organizations import removal as organization_removal
from idp.management.organizations import setup as organization_setup
from idp.management.organizations import states as organization_states
from idp.management.organizations.setup import SetUp

_ORGS: Final = "/management/v1/orgs"
_OWN: Final = f"{_ORGS}/me"
_ANY: Final = "/admin/v1/orgs"
_DOMAINS: Final = f"{_OWN}/domains"
_DOMAIN: Final = f"{_DOMAINS}/{{domain}}"
_MEMBERS: Final = f"{_OWN}/members"

READ: Final = operation(
    f"GET {_OWN}",
    "org.read",
    organization_read.show,
    name="read_organization_show",
    summary="Get the call's organization.",
)
READ_ANY: Final = operation(
    f"GET {_ANY}/{{orgId}}",
    "org.read",
    organization_read.show_any,
    name="read_organization_show_any",
    summary="Get an organization.",
)
SEARCH: Final = operation(
    "POST /v2/organizations/_search",
    "org.read",
    organization_read.search,
    name="read_organization_search_v2_organizations",
    summary="Search for organizations that the caller may read.",
)
SEARCH_ADMIN: Final = operation(
    f"POST {_ANY}/_search",
    "org.read",
    organization_read.search,
    name="read_organization_search_admin_v1_orgs",
    summary="Search for organizations that the caller may read.",
)
CREATE: Final = operation(
    f"POST {_ORGS}",
    "org.create",
    changes.create,
    name="org_changes_create",
    summary="Create an organization with a generated domain and no users.",
)
RENAME: Final = operation(
    f"PUT {_OWN}",
    "org.write",
    changes.rename,
    name="org_changes_rename",
    summary="Rename the call's organization; its domains stay the same.",
    conditional=True,
)
DEACTIVATE: Final = operation(
    f"POST {_OWN}/_deactivate",
    "org.delete",
    partial(organization_states.change, name="deactivate"),
    name="org_states_change_deactivate",
    conditional=True,
    summary=("Deactivate the call's organization; its sessions end, and its tokens are revoked."),
)
REACTIVATE: Final = operation(
    f"POST {_OWN}/_reactivate",
    "org.delete",
    partial(organization_states.change, name="reactivate"),
    name="org_states_change_reactivate",
    conditional=True,
    summary="Reactivate an organization.",
)
REMOVE: Final = operation(
    f"DELETE {_OWN}",
    "org.delete",
    organization_removal.remove,
    name="org_removal_remove",
    summary="Delete the call's organization with its contents; its sessions end, and its"
    " tokens are revoked.",
    conditional=True,
)
REMOVE_ANY: Final = operation(
    f"DELETE {_ANY}/{{orgId}}",
    "org.delete",
    organization_removal.remove_any,
    name="org_removal_remove_any",
    summary="Delete an organization with its contents; its sessions end, and its tokens are"
    " revoked.",
    conditional=True,
)
ADD_DOMAIN: Final = operation(
    f"POST {_DOMAINS}",
    "org.write",
    organization_domains.add,
    name="domain_calls_add",
    summary="Add a domain to the call's organization; it can be used once it is verified.",
)
SEARCH_DOMAINS: Final = operation(
    f"POST {_DOMAINS}/_search",
    "org.read",
    organization_domains.search,
    name="domain_calls_search",
    summary="Search for domains of the call's organization.",
)
CHALLENGE_DOMAIN: Final = operation(
    f"POST {_DOMAIN}/validation/_generate",
    "org.write",
    domain_verification.challenge,
    name="domain_proofs_challenge",
    summary="Generate the token that verifies a domain, in place of any earlier one.",
    conditional=True,
)
VERIFY_DOMAIN: Final = operation(
    f"POST {_DOMAIN}/validation/_validate",
    "org.write",
    domain_verification.validate,
    name="domain_proofs_validate",
    summary="Verify a domain by its published token.",
    conditional=True,
)
SET_PRIMARY_DOMAIN: Final = operation(
    f"POST {_DOMAIN}/_set_primary",
    "org.write",
    organization_domains.set_primary,
    name="domain_calls_set_primary",
    summary="Make a domain the primary one: login names end with it from now on.",
    conditional=True,
)
REMOVE_DOMAIN: Final = operation(
    f"DELETE {_DOMAIN}",
    "org.write",
    organization_domains.remove,
    name="domain_calls_remove",
    summary="Remove a domain from the call's organization; others may verify it then.",
    conditional=True,
)
SET_UP: Final = operation(
    "POST /admin/v1/orgs/_setup",
    "iam.write",
    organization_setup.set_up,
    name="org_setup_set_up",
    summary="Create an organization, its administrator and their membership, as a JSON"
    " document describes them (`SetUp`).",
    document=SetUp,
)
SEARCH_MEMBERS: Final = operation(
    f"POST {_MEMBERS}/_search",
    "org.read",
    member_search.of_organization,
    name="member_search_of_organization",
    summary="Search for members of the call's organization.",
)
MEMBER_ROLES: Final = operation(
    f"POST {_MEMBERS}/roles/_search",
    "org.read",
    member_search.roles_of_organizations,
    name="member_search_roles_of_organizations",
    summary="List the roles that members of an organization can have.",
)
SEARCH_MEMBERSHIPS: Final = operation(
    "POST /management/v1/users/{userId}/memberships/_search",
    "user.read",
    member_search.of_user,
    name="member_search_of_user",
    summary="Search for memberships of a user that the caller may read.",
)
ADD_MEMBER: Final = operation(
    f"POST {_MEMBERS}",
    "org.member.write",
    members.add_to_organization,
    name="members_add_to_organization",
    summary="Add a member to the call's organization.",
)
CHANGE_MEMBER: Final = operation(
    f"PUT {_MEMBERS}/{{userId}}",
    "org.member.write",
    members.change_in_organization,
    name="members_change_in_organization",
    summary="Replace the roles of a member of the call's organization.",
    conditional=True,
)
REMOVE_MEMBER: Final = operation(
    f"DELETE {_MEMBERS}/{{userId}}",
    "org.member.write",
    members.remove_from_organization,
    name="members_remove_from_organization",
    summary="Remove a member from the call's organization.",
    conditional=True,
)
OPERATIONS: Final = named_in(globals())
