"""Who may act in whose name, as far as roles go; and that nobody has that by being an owner."""

from __future__ import annotations

import pytest

from idp.identity.users import memberships, permissions
from idp.records import USERS
from tests.support.management.callers import new_caller, new_organization

# The subject: where it lives, and what it manages. Then who may impersonate it, by role.
EVERYWHERE = ("IAM_ADMIN_IMPERSONATOR", "IAM_END_USER_IMPERSONATOR")
HERE = ("ORG_ADMIN_IMPERSONATOR", "ORG_END_USER_IMPERSONATOR")
NEVER = ("IAM_OWNER", "IAM_ORG_MANAGER", "ORG_OWNER", "ORG_USER_MANAGER")
SUBJECTS = {
    "a user": ((), {*EVERYWHERE, *HERE}),
    "a manager of the organization": (
        ("here",),
        {"IAM_ADMIN_IMPERSONATOR", "ORG_ADMIN_IMPERSONATOR"},
    ),
    "a manager of the instance": (("instance",), {"IAM_ADMIN_IMPERSONATOR"}),
    "a manager of another organization": (("there",), {"IAM_ADMIN_IMPERSONATOR"}),
    "a manager of both organizations": (("here", "there"), {"IAM_ADMIN_IMPERSONATOR"}),
}


class Places:
    def __init__(self, server, visitor):
        self.server, self.visitor = server, visitor

    async def make(self):
        self.here = await new_organization(self.server, "here.example")
        self.there = await new_organization(self.server, "there.example")
        return self

    async def user(self, place, *roles, everywhere=False):
        made = await new_caller(self.server, self.visitor, place, *roles, everywhere=everywhere)
        return await self.server.store.get(USERS, made.user_id)

    async def subject(self, manages):
        user, service = await self.user(self.here), self.server.service
        for place in manages:
            organization = {"here": self.here, "there": self.there}.get(place)
            role = "ORG_OWNER" if organization else "IAM_OWNER_VIEWER"
            await memberships.grant(
                service, user.id, organization and organization.id, role, actor="a test"
            )
        return user


@pytest.fixture
def places(io_loop, server, visitor):
    return io_loop.run_sync(lambda: Places(server, visitor).make())


@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("role", [*EVERYWHERE, *HERE, *NEVER])
async def test_a_role_opens_whom_its_table_says(server, places, subject, role):
    manages, allowed = SUBJECTS[subject]
    whom = await places.subject(manages)
    actor = await places.user(places.here, role, everywhere=role.startswith("IAM"))
    stranger = await places.user(places.there, role, everywhere=role.startswith("IAM"))

    may = await permissions.may_impersonate(server.service, actor, whom)
    assert may == (role in allowed)
    elsewhere = await permissions.may_impersonate(server.service, stranger, whom)
    assert elsewhere == (role in allowed and role.startswith("IAM"))


@pytest.mark.parametrize(
    ("appointing", "everywhere", "role", "is_covered"),
    [
        ("ORG_OWNER", False, "ORG_ADMIN_IMPERSONATOR", True),
        ("ORG_OWNER", False, "ORG_END_USER_IMPERSONATOR", True),
        ("ORG_USER_MANAGER", False, "ORG_END_USER_IMPERSONATOR", False),
        ("ORG_END_USER_IMPERSONATOR", False, "ORG_ADMIN_IMPERSONATOR", False),
        ("ORG_OWNER", False, "IAM_END_USER_IMPERSONATOR", False),
        ("IAM_ORG_MANAGER", True, "ORG_ADMIN_IMPERSONATOR", True),
        ("IAM_ORG_MANAGER", True, "IAM_END_USER_IMPERSONATOR", False),
        ("IAM_OWNER", True, "IAM_ADMIN_IMPERSONATOR", True),
    ],
)
async def test_an_impersonator_s_token_is_made_by_who_could_appoint_one(
    server, places, appointing, everywhere, role, is_covered
):
    caller = await places.user(places.here, appointing, everywhere=everywhere)
    other = await places.user(places.here, role, everywhere=role.startswith("IAM"))
    rights = await permissions.of_user(server.service, caller.id)

    assert rights.cover(await permissions.of_user(server.service, other.id)) == is_covered
