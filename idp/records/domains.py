"""The domains that organizations have added."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from idp.foundation import opaque_tokens
from storage import Collection, Record


class Challenge(Struct, kw_only=True):
    """The way in which an organization verifies a domain, and the token that it publishes for
    that, which is no secret.
    """

    kind: Literal["http", "dns"]
    token: str


class OrganizationDomain(Record):
    """A domain that an organization has added; the id is the digest of the organization's and the
    domain.

    `verified_key` is the domain itself once it is verified, which is possible for one organization
    only; before that, it is a text that is no domain. `domain` is in ASCII and lower case. The
    record for an organization that was created by an earlier version has the sequence 0, and no
    event.
    """

    org_id: str
    domain: str
    verified_key: str
    created_at: datetime
    changed_at: datetime
    challenge: Challenge | None = None
    sequence: int = 1

    @property
    def is_verified(self) -> bool:
        return self.verified_key == self.domain


DOMAINS: Final = Collection(
    "organization_domains",
    OrganizationDomain,
    unique=("verified_key",),
    lists=(("org_id", "domain"),),
)


def domain_id(org_id: str, domain: str) -> str:
    """Returns the id of the record of a domain that an organization has added."""
    return opaque_tokens.digest(f"{org_id}\n{domain}")


def new_domain(
    org_id: str,
    domain: str,
    now: datetime,
    *,
    is_verified: bool = False,
    challenge: Challenge | None = None,
) -> OrganizationDomain:
    """Returns the record of a domain of this organization; the caller stores it."""
    record_id = domain_id(org_id, domain)
    return OrganizationDomain(
        id=record_id,
        org_id=org_id,
        domain=domain,
        # The index is unique: an unverified domain gets a text that no other record has.
        verified_key=domain if is_verified else f"? {record_id}",
        created_at=now,
        changed_at=now,
        challenge=challenge,
    )
