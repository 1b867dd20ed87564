"""Verification of an organization's domain, by a token that only the owner of the domain can
publish.

The token is in a file below `/.well-known/` on the domain's web server, or in a TXT record of a
name below the domain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final, Literal

from idp import changes
from idp.changes import Change
from idp.config.settings import Config
from idp.foundation import logs
from idp.foundation.errors import FailedPrecondition, Taken, TooMany
from idp.identity.users import org_domains, organizations
from idp.management import call as management_call
from idp.management.call import Call
from idp.outgoing.failures import Failed
from idp.outgoing.http import Outgoing
from idp.records import DOMAINS, Challenge, Organization, OrganizationDomain
from idp.schema.answers import Answer, Changed, Details
from idp.schema.reading import Request
from idp.service import Service

FILE: Final = "https://{domain}/.well-known/{vendor}-challenge/{token}.txt"
RECORD: Final = "_{vendor}-challenge.{domain}"
MAX_CHECKS: Final = 10  # for one organization within the window
CHECKS_WINDOW: Final = timedelta(minutes=1)

_KINDS: Final[Mapping[str, Literal["http", "dns"]]] = {
    "DOMAIN_VALIDATION_TYPE_HTTP": "http",
    "DOMAIN_VALIDATION_TYPE_DNS": "dns",
}
_log = logs.logger(__name__)


class NewChallenge(Request, frozen=True, kw_only=True):
    type: Literal["DOMAIN_VALIDATION_TYPE_HTTP", "DOMAIN_VALIDATION_TYPE_DNS"]


class ChallengeMade(Answer, frozen=True, kw_only=True):
    """`url` is where the token has to be published: the address of a file, or the name of a TXT
    record.
    """

    details: Details
    token: str
    url: str


async def challenge(
    service: Service, call: Call, domain: str, request: NewChallenge
) -> Change[ChallengeMade]:
    """Creates the token that the owner of a domain publishes to verify it. The token replaces an
    earlier one.

    Raises PermissionDenied, NotFound, FailedPrecondition (the domain is verified).
    """
    new_challenge = Challenge(kind=_KINDS[request.type], token=service.random.token(bits=128))

    organization = await management_call.organization(service, call)
    record = await _find_unverified(service, organization, domain)
    values, event = {"challenge": new_challenge}, "domain.challenge_made"
    update = changes.updated(service, call, DOMAINS, record, values, event)
    return update.answered(
        ChallengeMade(
            details=update.details,
            token=new_challenge.token,
            url=_location(service, record.domain, new_challenge),
        )
    )


async def validate(service: Service, call: Call, domain: str) -> Change[Changed]:
    """Checks whether the token is published on the domain; if so, the domain becomes a verified
    one.

    Raises PermissionDenied, NotFound, FailedPrecondition (no token was created, or it was not
    found, or the domain is verified), Taken (another organization verified it first), TooMany (too
    many checks in a short time).
    """
    unverified = await _find_unverified(
        service, await management_call.organization(service, call), domain
    )
    if unverified.challenge is None:
        raise FailedPrecondition("generate a token first", error_code="domain.no_challenge")
    await _count(service, unverified)  # before the request is sent: failed checks are limited, too
    await _check_published(service, unverified, unverified.challenge)

    async def plan() -> Change[Changed]:
        organization = await management_call.organization(service, call)
        current = await _find_unverified(service, organization, domain)
        if current.challenge != unverified.challenge:  # the token that was found was replaced
            raise FailedPrecondition("another token was generated", error_code="domain.not_proven")
        values, event = {"verified_key": current.domain}, "domain.verified"
        verification = changes.updated(service, call, DOMAINS, current, values, event).change(
            organizations.state_unchanged(organization)
        )
        # `verified_key` is unique: another organization may have verified the domain.
        taken = Taken([organizations.domain_taken("")])
        return replace(verification, if_taken=taken, replan=plan)

    return await plan()


async def _find_unverified(
    service: Service, organization: Organization, domain: str
) -> OrganizationDomain:
    record = await org_domains.find(service, organization.id, domain)
    if record.is_verified:
        raise FailedPrecondition("the domain is verified already", error_code="domain.verified")
    return record


async def _count(service: Service, record: OrganizationDomain) -> None:
    """Counts this check of a domain. Raises TooMany.

    A check sends requests to a server that the caller chooses, so their number is limited.
    """
    counter = await service.store.increment(
        f"domain proofs of {record.org_id}", window=CHECKS_WINDOW
    )
    if counter.n > MAX_CHECKS:
        wait = counter.resets_at - service.clock.now()
        raise TooMany(
            "too many checks of the organization's domains",
            retry_after_seconds=max(1, round(wait.total_seconds())),
        )


async def _check_published(
    service: Service, record: OrganizationDomain, challenge: Challenge
) -> None:
    """Checks that the token is published on the domain. Raises FailedPrecondition."""
    location = _location(service, record.domain, challenge)
    calls = service.outgoing.for_owner(record.org_id)
    try:
        lines = await _READERS[challenge.kind](service.config, calls, location)
    except Failed as error:
        _log.info(
            ("the token of a domain could not be decrypted"), location=location, error=str(error)
        )
        lines = []
    if challenge.token not in (line.strip() for line in lines):
        raise FailedPrecondition(
            f"the token was not found at {location}", error_code="domain.not_proven"
        )


async def _read_file(config: Config, calls: Outgoing, url: str) -> list[str]:
    status, lines = await calls.get_lines(config, url)
    return lines if status == 200 else []


async def _read_record(_config: Config, calls: Outgoing, name: str) -> list[str]:
    return list(await calls.txt_records(name))


_READERS: Final = {"http": _read_file, "dns": _read_record}
_LOCATIONS: Final = {"http": FILE, "dns": RECORD}


def _location(service: Service, domain: str, challenge: Challenge) -> str:
    return _LOCATIONS[challenge.kind].format(
        domain=domain, vendor=service.config.vendor, token=challenge.token
    )
