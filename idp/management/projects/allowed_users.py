"""The stamps that end tokens when fewer users may use an application."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from idp.foundation.randomness import Random
from idp.records import Application, Project


def narrowing(random: Random, client: Application, settings: Mapping[str, Any]) -> dict[str, str]:
    """Returns the stamps of an application that change with its settings.

    They are part of all that is issued to users of other organizations, which ends when a stamp
    changes and stays ended when the setting is taken back.
    """
    before = client.allowed_users
    after = settings.get("allowed_users", before)
    stamps = {}
    if before == "everybody" and after != "everybody":
        # Ends what users without a project grant have.
        stamps["everybody_stamp"] = random.token(bits=64)
    if before != "own_organization" and after == "own_organization":
        # Ends what users of granted organizations have.
        stamps["granted_stamp"] = random.token(bits=64)
    return stamps


def checking(
    random: Random, project: Project, *, requires_grant: bool, requires_role: bool
) -> dict[str, object]:
    """Returns the fields that set a project's two checks: which users may use its applications.

    For a check that is switched on, they have a new stamp. It ends the sessions and tokens of the
    users whom the check excludes, and they stay ended when the check is switched off.
    """
    changes: dict[str, object] = {"requires_grant": requires_grant, "requires_role": requires_role}
    if requires_grant and not project.requires_grant:
        changes["everybody_stamp"] = random.token(bits=64)
    if requires_role and not project.requires_role:
        changes["no_role_stamp"] = random.token(bits=64)
    return changes
