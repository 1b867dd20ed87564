"""Security stamps: what a session or token was issued under, as one short digest.

Users, applications, organizations and the instance each carry a random stamp that is new after
deactivation, a change of credentials, "sign out everywhere" or a restored backup. Whatever is
issued keeps the digest of all stamps it depends on; when one of them changes, it is dead, and
nothing revives it.
"""

from __future__ import annotations

import hashlib
from typing import Protocol

from idp.foundation import base64url
from idp.records import Instance, Organization, User


class Stamped(Protocol):
    """A record whose holders can be cut off from all that was issued to them."""

    @property
    def stamp(self) -> str: ...


def of_session(instance: Instance, organization: Organization, user: User) -> str:
    """The digest that a session and a personal access token hold."""
    return of(instance, organization, user)


def of(*records: Stamped) -> str:
    """The digest of the stamps of these records, in this order."""
    text = "\n".join(record.stamp for record in records)
    return base64url.encode(hashlib.sha256(text.encode()).digest()[:16])
