"""The user name that applications see."""

from __future__ import annotations

from idp.foundation import domain_names
from idp.identity.users import org_domains
from idp.records import Organization
from idp.service import Service


async def preferred(service: Service, organization: Organization, user_name: str) -> str:
    """Returns the user name; or user name@primary domain of the organization, if the name ends
    with a verified domain of another organization, whose user it would seem to be."""
    domain = user_name.rpartition("@")[2]
    if "@" not in user_name or domain_names.key(domain) == organization.primary_domain:
        return user_name
    owner = await org_domains.owner(service, domain)
    if owner in (None, organization.id):
        return user_name
    return f"{user_name}@{organization.primary_domain}"
