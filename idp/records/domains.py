"""The domains that organizations name as their own."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from idp.foundation import opaque_tokens
from storage import Collection, Record


class Challenge(Struct, kw_only=True):
    """By what a domain is to be proven; the token will be published, and so is no secret."""

    kind: Literal["http", "dns"]
    token: str


class OrganizationDomain(Record):
    """A domain and an organization that names it; the id is the digest of both.

    `verified_key` is the domain itself once it is proven, which it is for one organization at
    most; before that, what no domain is. `domain` is in ASCII and lower case. That of an
    organization that older programs have made has the sequence 0, and no event.
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


def new_domain(
    org_id: str,
    domain: str,
    now: datetime,
    *,
    is_verified: bool = False,
    challenge: Challenge | None = None,
) -> OrganizationDomain:
    """That an organization names this domain; not stored yet."""
    id = opaque_tokens.digest(f"{org_id}\n{domain}")
    return OrganizationDomain(
        id=id,
        org_id=org_id,
        domain=domain,
        verified_key=domain if is_verified else f"? {id}",
        created_at=now,
        changed_at=now,
        challenge=challenge,
    )
