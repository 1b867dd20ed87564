"""Operations on organizations, their domains and their members."""

from __future__ import annotations

from functools import partial
from typing import Final

from idp.api.operation import operation
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

OPERATIONS = (
    operation(
        "GET",
        _OWN,
        "org.read",
        organization_read.show,
        name="read_organization_show",
        summary="Read the call's organization.",
    ),
    operation(
        "GET",
        f"{_ANY}/{{orgId}}",
        "org.read",
        organization_read.show_any,
        name="read_organization_show_any",
        summary="Read an organization.",
    ),
    operation(
        "POST",
        "/v2/organizations/_search",
        "org.read",
        organization_read.search,
        name="read_organization_search_v2_organizations",
        summary="Find organizations that the caller may read.",
    ),
    operation(
        "POST",
        f"{_ANY}/_search",
        "org.read",
        organization_read.search,
        name="read_organization_search_admin_v1_orgs",
        summary="Find organizations that the caller may read.",
    ),
    operation(
        "POST",
        _ORGS,
        "org.create",
        changes.create,
        name="org_changes_create",
        summary="Make an organization with a generated domain, and nobody in it.",
    ),
    operation(
        "PUT",
        _OWN,
        "org.write",
        changes.rename,
        name="org_changes_rename",
        summary="Give the call's organization another name; its domains stay as they are.",
        conditional=True,
    ),
    operation(
        "POST",
        f"{_OWN}/_deactivate",
        "org.delete",
        partial(organization_states.change, name="deactivate"),
        name="org_states_change_deactivate",
        conditional=True,
        summary="Shut an organization with all that is in it; all that was issued there ends.",
    ),
    operation(
        "POST",
        f"{_OWN}/_reactivate",
        "org.delete",
        partial(organization_states.change, name="reactivate"),
        name="org_states_change_reactivate",
        conditional=True,
        summary="Let a deactivated organization work again.",
    ),
    operation(
        "DELETE",
        _OWN,
        "org.delete",
        organization_removal.remove,
        name="org_removal_remove",
        summary="Delete the call's organization with all that is in it; all that was issued there"
        " ends.",
        conditional=True,
    ),
    operation(
        "DELETE",
        f"{_ANY}/{{orgId}}",
        "org.delete",
        organization_removal.remove_any,
        name="org_removal_remove_any",
        summary="Delete an organization with all that is in it; all that was issued there ends.",
        conditional=True,
    ),
    operation(
        "POST",
        _DOMAINS,
        "org.write",
        organization_domains.add,
        name="domain_calls_add",
        summary="Let the call's organization name a domain as its own; it counts once it is"
        " verified.",
    ),
    operation(
        "POST",
        f"{_DOMAINS}/_search",
        "org.read",
        organization_domains.search,
        name="domain_calls_search",
        summary="Find domains of the call's organization, in their order.",
    ),
    operation(
        "POST",
        f"{_DOMAIN}/validation/_generate",
        "org.write",
        domain_verification.challenge,
        name="domain_proofs_challenge",
        summary="Make the token by which a domain can be verified, in place of any other.",
        conditional=True,
    ),
    operation(
        "POST",
        f"{_DOMAIN}/validation/_validate",
        "org.write",
        domain_verification.validate,
        name="domain_proofs_validate",
        summary="Look whether the token is published, and let the domain be the organization's"
        " own.",
        conditional=True,
    ),
    operation(
        "POST",
        f"{_DOMAIN}/_set_primary",
        "org.write",
        organization_domains.set_primary,
        name="domain_calls_set_primary",
        summary="Let login names of the call's organization end with a domain from now on.",
        conditional=True,
    ),
    operation(
        "DELETE",
        _DOMAIN,
        "org.write",
        organization_domains.remove,
        name="domain_calls_remove",
        summary="Let the call's organization name a domain no more; others may verify it then.",
        conditional=True,
    ),
    operation(
        "POST",
        "/admin/v1/orgs/_setup",
        "iam.write",
        organization_setup.set_up,
        name="org_setup_set_up",
        summary="Make an organization, its administrator and their membership, as a JSON document"
        " describes them (`SetUp`).",
        document=SetUp,
    ),
    operation(
        "POST",
        f"{_MEMBERS}/_search",
        "org.read",
        member_search.of_organization,
        name="member_search_of_organization",
        summary="Find members of the call's organization.",
    ),
    operation(
        "POST",
        f"{_MEMBERS}/roles/_search",
        "org.read",
        member_search.roles_of_organizations,
        name="member_search_roles_of_organizations",
        summary="List the roles that a member of an organization may have.",
    ),
    operation(
        "POST",
        "/management/v1/users/{userId}/memberships/_search",
        "user.read",
        member_search.of_user,
        name="member_search_of_user",
        summary="Find what a user manages, as far as the caller may look into it.",
    ),
    operation(
        "POST",
        _MEMBERS,
        "org.member.write",
        members.add_to_organization,
        name="members_add_to_organization",
        summary="Let a user of the call's organization manage it.",
    ),
    operation(
        "PUT",
        f"{_MEMBERS}/{{userId}}",
        "org.member.write",
        members.change_in_organization,
        name="members_change_in_organization",
        summary="Let a member manage the call's organization in these roles, and in no others.",
        conditional=True,
    ),
    operation(
        "DELETE",
        f"{_MEMBERS}/{{userId}}",
        "org.member.write",
        members.remove_from_organization,
        name="members_remove_from_organization",
        summary="Let a member manage the call's organization no more.",
        conditional=True,
    ),
)
