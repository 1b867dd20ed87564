"""Rules that concern a whole connection: its options, its domains, and limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from idp.foundation.errors import FailedPrecondition, FieldProblem, InvalidArgument
from idp.management.connections import addresses
from idp.management.connections.forms import ConnectionForm
from idp.management.connections.options import ProviderOptions
from idp.records import DOMAINS, OrganizationDomain
from idp.records.connections import CONNECTIONS, ConnectionSettings
from idp.records.domains import domain_id
from idp.service import Service

MAX_CONNECTIONS: Final = 50  # of an organization, and of the installation
MAX_SETTINGS_BYTES: Final = 64 * 1024

_OPTIONS: Final = "providerOptions"


async def check(
    service: Service,
    org_id: str | None,
    form: ConnectionForm,
    settings: ConnectionSettings,
) -> None:
    """Checks a connection of the organization (None: of the installation) that `form` describes.

    Raises InvalidArgument, with every problem of its options, domains and addresses.
    """
    problems = await _domain_problems(service, org_id, form.provider_options)
    if _size(settings) > MAX_SETTINGS_BYTES:
        message = f"the settings have more than {MAX_SETTINGS_BYTES} bytes"
        problems.append(FieldProblem("field.too_long", "", message))
    problems += addresses.problems(service.config, settings)
    if problems:
        raise InvalidArgument(problems)


async def _domain_problems(
    service: Service, org_id: str | None, options: ProviderOptions
) -> list[FieldProblem]:
    """Returns a problem for each domain that the organization has not verified."""
    if org_id is None:
        return []
    domain_keys = [
        (f"{_OPTIONS}.{member}[{n}]", domain)
        for member, domains in (
            ("domains", options.domains),
            ("trustedDomains", options.trusted_domains),
        )
        for n, domain in enumerate(domains)
    ]
    keys = [(DOMAINS, domain_id(org_id, domain)) for _, domain in domain_keys]
    domain_records: Sequence[OrganizationDomain | None] = (
        await service.store.get_many(keys) if keys else []
    )
    message = "is not a verified domain of the organization"
    return [
        FieldProblem("connection.domain_not_verified", field, message)
        for (field, _), record in zip(domain_keys, domain_records, strict=True)
        if record is None or not record.is_verified
    ]


def _size(settings: ConnectionSettings) -> int:
    return len(msgspec.json.encode(settings))


async def check_limit(service: Service, org_id: str | None) -> None:
    """Raises FailedPrecondition if the organization (None: the installation) has as many
    connections as it can have."""
    where = {"org_id": org_id}
    if await service.store.count(CONNECTIONS, where, up_to=MAX_CONNECTIONS) >= MAX_CONNECTIONS:
        message = f"there are already {MAX_CONNECTIONS} connections"
        raise FailedPrecondition(message, error_code="connection.too_many")
