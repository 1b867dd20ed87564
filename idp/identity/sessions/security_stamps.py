"""Security stamps, and the digest of those under which a session or token was issued.

Users, applications, organizations and the installation each have a random security stamp, which
changes with a deactivation, a change of credentials, "sign out everywhere" or a restored backup.
Sessions and tokens store the digest of all security stamps that they depend on; when one of these
changes, they are no longer valid, and nothing makes them valid again.
"""

from __future__ import annotations

import hashlib
from typing import Protocol

from idp.foundation import base64url
from idp.records import Instance, Organization, User


class Stamped(Protocol):
    """A record with a security stamp, whose change ends everything issued under it."""

    @property
    def stamp(self) -> str: ...


def of_session(instance: Instance, organization: Organization, user: User) -> str:
    """Returns the digest that a session or a personal access token stores: of the security stamps
    of these three records."""
    return of(instance, organization, user)


def of(*records: Stamped) -> str:
    """Returns the digest of the security stamps of these records, in this order."""
    text = "\n".join(record.stamp for record in records)
    return base64url.encode(hashlib.sha256(text.encode()).digest()[:16])
