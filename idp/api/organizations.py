"""Organizations, and who manages them."""

from __future__ import annotations

from functools import partial
from typing import Final

from idp.api.operation import operation
from idp.identity import members, org_changes, org_setup, org_states, read_organization
from idp.identity.org_setup import SetUp

_ORGS: Final = "/management/v1/orgs"
_OWN: Final = f"{_ORGS}/me"
_ANY: Final = "/admin/v1/orgs"
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
    operation("POST", "/admin/v1/orgs/_setup", "iam.write", org_setup.set_up, document=SetUp),
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
