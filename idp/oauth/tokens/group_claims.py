"""The claim with the names of a user's groups, which the scope `groups` releases."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from idp.identity.users import groups
from idp.identity.users.subjects import Subject
from idp.oauth.scopes import GROUPS
from idp.service import Service

SCOPE: Final = GROUPS
SUPPORTED: Final = ("groups", "groups_overage")
MAX_NAMES: Final = 200


async def released(service: Service, subject: Subject, scopes: Collection[str]) -> dict[str, Any]:
    """Returns the claim `groups` with the sorted names of the user's groups, if the scope `groups`
    is among the scopes.

    A user who is in more than 200 groups gets the claim `groups_overage` in its place.
    """
    if SCOPE not in scopes:
        return {}
    names = sorted(group.name for group in await groups.of_user(service, subject.user.id))
    return {"groups": names} if len(names) <= MAX_NAMES else {"groups_overage": True}
