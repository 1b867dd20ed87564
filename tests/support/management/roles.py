"""Comparison of roles by their permissions."""

from __future__ import annotations

from idp.identity.users import permissions
from idp.identity.users.permissions import INSTANCE_ROLES, ORGANIZATION_ROLES

ROLES = {**INSTANCE_ROLES, **ORGANIZATION_ROLES}
LOWER = [
    "ORG_OWNER",
    "ORG_USER_MANAGER",
    "ORG_PROJECT_CREATOR",
    "ORG_SETTINGS_MANAGER",
    "IAM_ORG_MANAGER",
    "IAM_USER_MANAGER",
]
HIGHER = ["ORG_OWNER", "IAM_USER_MANAGER", "IAM_ORG_MANAGER", "IAM_OWNER", "IAM_OWNER_VIEWER"]


def is_everywhere(role: str) -> bool:
    """Whether it is a role of the installation."""
    return role.startswith("IAM")


def covers(lower: str, higher: str) -> bool:
    """Whether a user with the first role has all permissions of the second."""
    held = [
        permissions.of_roles(None if is_everywhere(each) else "own", [each])
        for each in (lower, higher)
    ]
    return held[0].cover(held[1])


# Each role with each that allows what it does not.
PAIRS = [(low, high) for low in LOWER for high in HIGHER if not covers(low, high)]
