"""Organizations, and who manages them."""

from __future__ import annotations

from functools import partial
from typing import Final

from idp import org_removal
from idp.api.operation import operation
from idp.identity import (
    domain_calls,
    domain_proofs,
    member_search,
    members,
    org_changes,
    org_setup,
    org_states,
    read_organization,
)
from idp.identity.org_setup import SetUp

_ORGS: Final = "/management/v1/orgs"
_OWN: Final = f"{_ORGS}/me"
_ANY: Final = "/admin/v1/orgs"
_DOMAINS: Final = f"{_OWN}/domains"
_DOMAIN: Final = f"{_DOMAINS}/{{domain}}"
_MEMBERS: Final = f"{_OWN}/members"

OPERATIONS = (
    operation("GET", _OWN, "org.read", read_organization.show),
    operation("GET", f"{_ANY}/{{orgId}}", "org.read", read_organization.show_any),
    operation("POST", "/v2/organizations/_search", "org.read", read_organization.search),
    operation("POST", f"{_ANY}/_search", "org.read", read_organization.search),
    operation("POST", _ORGS, "org.create", org_changes.create),
    operation("PUT", _OWN, "org.write", org_changes.rename, conditional=True),
    operation(
        "POST",
        f"{_OWN}/_deactivate",
        "org.delete",
        partial(org_states.change, name="deactivate"),
        conditional=True,
        summary="Shut an organization with all that is in it; all that was issued there ends.",
    ),
    operation(
        "POST",
        f"{_OWN}/_reactivate",
        "org.delete",
        partial(org_states.change, name="reactivate"),
        conditional=True,
        summary="Let a deactivated organization work again.",
    ),
    operation("DELETE", _OWN, "org.delete", org_removal.remove, conditional=True),
    operation(
        "DELETE", f"{_ANY}/{{orgId}}", "org.delete", org_removal.remove_any, conditional=True
    ),
    operation("POST", _DOMAINS, "org.write", domain_calls.add),
    operation("POST", f"{_DOMAINS}/_search", "org.read", domain_calls.search),
    operation(
        "POST",
        f"{_DOMAIN}/validation/_generate",
        "org.write",
        domain_proofs.challenge,
        conditional=True,
    ),
    operation(
        "POST",
        f"{_DOMAIN}/validation/_validate",
        "org.write",
        domain_proofs.validate,
        conditional=True,
    ),
    operation(
        "POST",
        f"{_DOMAIN}/_set_primary",
        "org.write",
        domain_calls.set_primary,
        conditional=True,
    ),
    operation("DELETE", _DOMAIN, "org.write", domain_calls.remove, conditional=True),
    operation("POST", "/admin/v1/orgs/_setup", "iam.write", org_setup.set_up, document=SetUp),
    operation("POST", f"{_MEMBERS}/_search", "org.read", member_search.of_organization),
    operation(
        "POST", f"{_MEMBERS}/roles/_search", "org.read", member_search.roles_of_organizations
    ),
    operation(
        "POST",
        "/management/v1/users/{userId}/memberships/_search",
        "user.read",
        member_search.of_user,
    ),
    operation("POST", _MEMBERS, "org.member.write", members.add_to_organization),
    operation(
        "PUT",
        f"{_MEMBERS}/{{userId}}",
        "org.member.write",
        members.change_in_organization,
        conditional=True,
    ),
    operation(
        "DELETE",
        f"{_MEMBERS}/{{userId}}",
        "org.member.write",
        members.remove_from_organization,
        conditional=True,
    ),
)
