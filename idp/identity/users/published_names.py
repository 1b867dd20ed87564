"""What a user is called where applications of other organizations look."""

from __future__ import annotations

from idp.foundation import domain_names
from idp.identity.users import org_domains
from idp.records import Organization
from idp.service import Service


async def preferred(service: Service, organization: Organization, user_name: str) -> str:
    """The user name; user name@primary domain of their organization, where the name alone ends
    with a domain of another one, whose user it would seem to be."""
    domain = user_name.rpartition("@")[2]
    if "@" not in user_name or domain_names.key(domain) == organization.primary_domain:
        return user_name
    owner = await org_domains.owner(service, domain)
    if owner in (None, organization.id):
        return user_name
    return f"{user_name}@{organization.primary_domain}"
