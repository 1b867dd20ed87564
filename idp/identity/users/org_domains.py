"""The stored domains of organizations.

Any organization may add any domain. Once an organization has verified a domain, no other one can:
`verified_key` is unique. The primary domain is always a verified one.
"""

from __future__ import annotations

from datetime import datetime

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.foundation import domain_names
from idp.foundation.errors import NotFound
from idp.records import (
    DOMAINS,
    ORGANIZATIONS,
    Organization,
    OrganizationDomain,
    new_domain,
)
from idp.service import Service
from storage import Write


def insertion(
    service: Service, organization: Organization, actor: str, now: datetime, **payload: str
) -> list[Write]:
    """Returns the writes that store a new organization with its primary domain, and their events;
    for the caller to commit.

    `payload` is added to the organization's event.
    """
    random, domain = service.random, organization.primary_domain
    primary_domain = new_domain(organization.id, domain, now, is_verified=True)
    entry = AuditEntry("organization.created", actor, now, payload=payload)
    writes = events.insertion(random, ORGANIZATIONS, organization, entry)
    entry = AuditEntry("domain.created", actor, now, payload={"domain": domain})
    return writes + events.insertion(random, DOMAINS, primary_domain, entry)


async def find(service: Service, org_id: str, domain: str) -> OrganizationDomain:
    """Returns the organization's record of this domain, in any spelling. Raises NotFound."""
    new_record = new_domain(org_id, domain_names.key(domain), service.clock.now())
    record = await service.store.get(DOMAINS, new_record.id)
    if record is None:
        raise NotFound("the organization has no such domain", error_code="domain.not_found")
    return record


async def owner(service: Service, domain: str) -> str | None:
    """Returns the id of the organization that has verified this domain; None if there is none."""
    record = await _verified(service, domain)
    return record.org_id if record else None


async def verified(service: Service, name: str) -> OrganizationDomain | None:
    """Returns the verified domain of an address or a user name "name@domain"; None if there is
    none."""
    return await _verified(service, name.rpartition("@")[2]) if "@" in name else None


async def _verified(service: Service, domain: str) -> OrganizationDomain | None:
    key = {"verified_key": domain_names.key(domain)}
    page = await service.store.find(DOMAINS, key, limit=1)
    return page.records[0] if page.records else None
