"""Organizations: their names, and their primary domains, which are part of login names."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from idp.foundation.errors import FieldProblem
from idp.foundation.strict_json import child
from idp.identity.users import lookup as user_lookup
from idp.identity.users import org_domains
from idp.records import ORGANIZATIONS, Organization
from idp.service import Service
from storage import Update

_MAX_LABEL: Final = 63
_OTHER_CHARACTERS: Final = re.compile(r"[^a-z0-9]+")


def new(
    service: Service, name: str, domain: str, now: datetime, id: str | None = None
) -> Organization:
    """Returns an organization that isn't stored yet. The store refuses it with Conflict if another
    organization has the name or the primary domain `domain`."""
    return Organization(
        id=id or service.random.id(),
        name=name,
        name_key=user_lookup.login_key(name),
        primary_domain=domain,
        stamp=service.random.token(bits=64),
        created_at=now,
        changed_at=now,
    )


def generated_domain(service: Service, name: str, *, is_taken: bool = False) -> str:
    """Returns the primary domain for an organization of this name: a label below the
    installation's domain.

    If that domain `is_taken`, the label gets a random suffix.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    label = _OTHER_CHARACTERS.sub("-", plain).strip("-") or "org"
    suffix = f"-{service.random.token_bytes(4).hex()}" if is_taken else ""
    label = label[: _MAX_LABEL - len(suffix)].strip("-") + suffix
    return f"{label}.{installation_domain(service)}"


async def free_domain(service: Service, name: str) -> str:
    """Returns a generated domain for an organization of this name that no organization has now."""
    domain = generated_domain(service, name)
    is_taken = await org_domains.owner(service, domain) is not None
    return generated_domain(service, name, is_taken=True) if is_taken else domain


async def taken_problems(
    service: Service, organization: Organization, path: str
) -> list[FieldProblem]:
    """Returns the problems of a new organization whose name or domain is another's; none if both
    are free. `path` is the JSON path of the organization in the request."""
    is_name_taken = await has_namesake(service, organization)
    problems = [name_taken(child(path, "name"))] if is_name_taken else []
    if await org_domains.owner(service, organization.primary_domain) is not None:
        problems.append(domain_taken(child(path, "domain")))
    return problems


async def has_namesake(service: Service, organization: Organization) -> bool:
    """Returns whether another organization has the same name, compared by `login_key`."""
    where = {"name_key": organization.name_key}
    page = await service.store.find(ORGANIZATIONS, where, limit=2)
    return any(each.id != organization.id for each in page.records)


def name_taken(path: str) -> FieldProblem:
    """Returns the problem that another organization has the name; `path` is the JSON path of the
    field."""
    return FieldProblem("organization.name_taken", path, "already belongs to another organization")


def domain_taken(path: str) -> FieldProblem:
    """Returns the problem that another organization has verified the domain; `path` is the JSON
    path of the field."""
    return FieldProblem(
        "organization.domain_taken", path, ("already belongs to another organization")
    )


def installation_domain(service: Service) -> str:
    """Returns the installation's domain: the host of the issuer."""
    return user_lookup.login_key(urlsplit(service.config.issuer).hostname or "localhost")


def state_unchanged(organization: Organization) -> Update:
    """Returns a guard for a unit: an update without changes, by which the unit fails with Stale if
    the organization's state has changed since it was read."""
    return Update(ORGANIZATIONS, organization.id, expect={"state": organization.state})
