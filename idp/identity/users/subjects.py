"""Subjects: the users of sessions and tokens, with their organization."""

from __future__ import annotations

from msgspec import Struct

from idp.records import Instance, Organization, User


class Subject(Struct, frozen=True):
    """A user with their organization and the record of the installation, whatever their state."""

    instance: Instance
    organization: Organization
    user: User


def is_active(subject: Subject) -> bool:
    """Returns whether the user and their organization are active."""
    user, organization = subject.user, subject.organization
    return (
        user.state == "active"
        and organization.state == "active"
        and user.org_id == organization.id
    )
