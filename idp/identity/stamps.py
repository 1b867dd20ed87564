"""Security stamps: what a session or token was issued under, as one short digest.

Users, applications, organizations and the instance each carry a random stamp that is new after
deactivation, a change of credentials, "sign out everywhere" or a restored backup. Whatever is
issued keeps the digest of all stamps it depends on; when one of them changes, it is dead, and
nothing revives it.
"""

from __future__ import annotations

import hashlib

from idp import base64url
from idp.records import Application, Instance, Organization, User


def of_session(instance: Instance, organization: Organization, user: User) -> str:
    """The digest that a session and a personal access token hold."""
    return _digest(instance.stamp, organization.stamp, user.stamp)


def of_authorization(
    instance: Instance,
    organization: Organization,
    user: User,
    client_organization: Organization,
    client: Application,
) -> str:
    """The digest that an authorization and its tokens hold."""
    return _digest(
        instance.stamp, organization.stamp, user.stamp, client_organization.stamp, client.stamp
    )


def _digest(*stamps: str) -> str:
    return base64url.encode(hashlib.sha256("\n".join(stamps).encode()).digest()[:16])
