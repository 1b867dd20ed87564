"""Organizations: their names, and the domain by which their users' login names end."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from idp.errors import FieldProblem
from idp.identity import users
from idp.records import ORGANIZATIONS, Organization
from idp.service import Service

_MAX_LABEL: Final = 63
_NO_LETTER: Final = re.compile(r"[^a-z0-9]+")


def new(service: Service, name: str, domain: str, now: datetime) -> Organization:
    """An organization that isn't stored yet. Its name and `domain` are unique in the instance."""
    return Organization(
        id=service.random.id(),
        name=name,
        name_key=users.login_key(name),
        primary_domain=domain,
        stamp=service.random.token(bits=64),
        created_at=now,
        changed_at=now,
    )


def generated_domain(service: Service, name: str, *, is_taken: bool = False) -> str:
    """The domain that an organization of this name gets: its letters under the instance's.

    When that one `is_taken`, one with a random end.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    label = _NO_LETTER.sub("-", plain).strip("-") or "org"
    end = f"-{service.random.token_bytes(4).hex()}" if is_taken else ""
    label = label[: _MAX_LABEL - len(end)].strip("-") + end
    return f"{label}.{instance_domain(service)}"


async def free_domain(service: Service, name: str) -> str:
    """The generated domain that an organization of this name gets, now that others have theirs."""
    domain = generated_domain(service, name)
    is_taken = await _exists(service, "primary_domain", domain)
    return generated_domain(service, name, is_taken=True) if is_taken else domain


async def taken(service: Service, organization: Organization, path: str) -> list[FieldProblem]:
    """What of a new organization another one has already. `path` is where it stands."""
    problems = []
    for field, member in (("name_key", "name"), ("primary_domain", "domain")):
        if await _exists(service, field, getattr(organization, field)):
            slug = f"organization.{member}_taken"
            at = f"{path}.{member}"
            problems.append(FieldProblem(slug, at, "is another organization's already"))
    return problems


async def _exists(service: Service, field: str, key: str) -> bool:
    return bool((await service.store.find(ORGANIZATIONS, {field: key}, limit=1)).records)


def instance_domain(service: Service) -> str:
    """The host of the issuer."""
    return users.login_key(urlsplit(service.config.issuer).hostname or "localhost")
