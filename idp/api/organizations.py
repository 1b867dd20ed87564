"""Organizations, and who manages them."""

from __future__ import annotations

from typing import Final

from idp.api.operation import operation
from idp.identity import members, org_setup
from idp.identity.org_setup import SetUp

_MEMBERS: Final = "/management/v1/orgs/me/members"

OPERATIONS = (
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
