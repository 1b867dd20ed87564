"""Organizations: their names, and the domain by which their users' login names end."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from idp.errors import IdpError
from idp.identity import users
from idp.records import Organization
from idp.service import Service

MAX_DOMAIN_CHARACTERS: Final = 200
_MAX_LABEL: Final = 63
_NO_LETTER: Final = re.compile(r"[^a-z0-9]+")
_LABEL: Final = re.compile(r"[^\W_]([\w-]{0,61}[^\W_])?")


class DomainRefused(IdpError):
    """Not a domain name."""

    slug = "domain.invalid"


def new(service: Service, name: str, domain: str, now: datetime) -> Organization:
    """An organization that isn't stored yet. `domain` is unique in the instance."""
    return Organization(
        id=service.random.id(),
        name=name,
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


def instance_domain(service: Service) -> str:
    """The host of the issuer."""
    return users.login_key(urlsplit(service.config.issuer).hostname or "localhost")


def check_domain(text: str) -> str:
    """The domain in the form in which it is unique. Raises DomainRefused."""
    domain = users.login_key(text)
    labels = domain.split(".")
    if len(domain) > MAX_DOMAIN_CHARACTERS or not all(_LABEL.fullmatch(each) for each in labels):
        raise DomainRefused("this is not a domain name such as example.com")
    return domain
