"""A user in an organization: whom sessions and tokens stand for."""

from __future__ import annotations

from msgspec import Struct

from idp.records import Instance, Organization, User


class Subject(Struct, frozen=True):
    """An active user of an active organization, and the instance they are in."""

    instance: Instance
    organization: Organization
    user: User


def is_active(subject: Subject) -> bool:
    """Whether the user can be acted for at all."""
    user, organization = subject.user, subject.organization
    return (
        user.state == "active"
        and organization.state == "active"
        and user.org_id == organization.id
    )
