"""The names of the managers' roles in the console."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from idp.foundation.i18n import Message, message
from idp.identity.users.permissions import INSTANCE_ROLES, ORGANIZATION_ROLES

_LABELS: Final[Mapping[str, Message]] = {
    "ORG_OWNER": message("Owner: everything in the organization", context="roles"),
    "ORG_OWNER_VIEWER": message("Viewer: sees everything, changes nothing", context="roles"),
    "ORG_SETTINGS_MANAGER": message(
        "Changes the organization's settings and policies", context="roles"
    ),
    "ORG_USER_MANAGER": message("Manages users and their roles", context="roles"),
    "ORG_PROJECT_CREATOR": message(
        "Creates and manages projects and applications", context="roles"
    ),
    "ORG_ADMIN_IMPERSONATOR": message(
        "Can act as any user, including administrators", context="roles"
    ),
    "ORG_END_USER_IMPERSONATOR": message(
        "Can act as users without administrator roles", context="roles"
    ),
    "IAM_OWNER": message("Owner: everything, everywhere", context="roles"),
    "IAM_OWNER_VIEWER": message("Viewer: sees everything, changes nothing", context="roles"),
    "IAM_ORG_MANAGER": message("Manages every organization", context="roles"),
    "IAM_USER_MANAGER": message("Manages users and their roles everywhere", context="roles"),
    "IAM_LOGIN_CLIENT": message("A program that shows sign-in pages", context="roles"),
    "IAM_ADMIN_IMPERSONATOR": message(
        "Can act as any user, including administrators", context="roles"
    ),
    "IAM_END_USER_IMPERSONATOR": message(
        "Can act as users without administrator roles", context="roles"
    ),
}

OF_ORGANIZATION: Final[Sequence[tuple[str, Message]]] = [
    (role, _LABELS.get(role) or Message(role)) for role in ORGANIZATION_ROLES
]
OF_INSTANCE: Final[Sequence[tuple[str, Message]]] = [
    (role, _LABELS.get(role) or Message(role)) for role in INSTANCE_ROLES
]
