"""New security stamps for applications and projects, by which tokens end when fewer users may use
an application."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from idp.foundation.randomness import Random
from idp.records import Application, Project


def restriction_stamps(
    random: Random, client: Application, settings: Mapping[str, Any]
) -> dict[str, str]:
    """Returns new security stamps for an application whose new `settings` allow fewer users, as a
    dict of fields of its record; empty if they do not. The caller stores them together with the
    settings.

    The sessions and tokens of users who are no longer allowed were issued under the old stamps and
    end. They stay ended when the setting is reverted.
    """
    current = client.allowed_users
    new = settings.get("allowed_users", current)
    stamps = {}
    if current == "everybody" and new != "everybody":
        # Ends the tokens that were issued to users without a project grant.
        stamps["everybody_stamp"] = random.token(bits=64)
    if current != "own_organization" and new == "own_organization":
        # Ends the tokens that were issued to users of granted organizations.
        stamps["granted_stamp"] = random.token(bits=64)
    return stamps


def check_fields(
    random: Random, project: Project, *, requires_grant: bool, requires_role: bool
) -> dict[str, object]:
    """Returns the fields of a project's record that set whether its users need a project grant
    (`requires_grant`) and a role (`requires_role`); the caller stores them.

    A check that is switched on gets a new security stamp. It ends the sessions and tokens of the
    users whom the check excludes, and they stay ended when the check is switched off.
    """
    changes: dict[str, object] = {"requires_grant": requires_grant, "requires_role": requires_role}
    if requires_grant and not project.requires_grant:
        changes["everybody_stamp"] = random.token(bits=64)
    if requires_role and not project.requires_role:
        changes["no_role_stamp"] = random.token(bits=64)
    return changes
