"""Requirements for new passwords, and the check against them.

A password that a person chooses on a page has to meet all requirements. One that an administrator
or a program sets for a user has to meet the stored policy only, and must be neither common nor
breached: the settings' rules on length and strength do not apply to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from msgspec import structs

from idp.config.settings import Config
from idp.foundation import logs
from idp.passwords import policy as password_policy
from idp.passwords import range_service
from idp.passwords.policy import PasswordProblem, Requirements
from idp.policies import effective
from idp.records import DOMAINS, ComplexityRules, Email, Organization, Password, Profile
from idp.service import Service

_MAX_DOMAINS: Final = 20
_log = logs.logger(__name__)


async def chosen_requirements(
    service: Service, org_id: str | None, words: Iterable[str], *, has_factor: bool
) -> Requirements:
    """Returns the requirements for a password that a person chooses on a page.

    `words` must not be in it. It may be shorter if the person has a second factor (`has_factor`)
    that is asked for at each sign-in (SP 800-63B-4, 3.1.1.2). `org_id` None means the
    installation's policy.
    """
    rules = await effective.complexity(service, org_id)
    return requirements(service, rules, words, effective.min_length(rules, has_factor=has_factor))


async def initial_requirements(
    service: Service, org_id: str | None, words: Iterable[str]
) -> Requirements:
    """Returns the requirements for a password that an administrator or a program sets for a user.

    `words` must not be in it. `org_id` None means the installation's policy.
    """
    rules = await effective.initial_complexity(service, org_id)
    return requirements(service, rules, words, rules.min_length)


def requirements(
    service: Service, rules: ComplexityRules, words: Iterable[str], min_length: int
) -> Requirements:
    """Returns the requirements of these rules, for a caller that has read the rules itself."""
    return Requirements(
        rules=rules,
        min_length=min_length,
        context_words=(*words, *_issuer_labels(service.config), *service.config.password_words),
        max_bytes=service.hasher.max_bytes,
        breached=service.breached_passwords,
    )


async def problems(
    service: Service, password: str, required: Requirements
) -> list[PasswordProblem]:
    """Returns the reasons why the password is refused; empty if it is accepted.

    If the list of breached passwords can't be read, that is logged and refuses nothing. Raises
    HashingBusy.
    """
    try:
        reasons = await service.hasher.compute(
            lambda: password_policy.policy_problems(password, required)
        )
    except (OSError, ValueError) as error:
        _log.error("the list of breached passwords can't be read", cause=str(error))
        without_list = structs.replace(required, breached=None)
        reasons = await service.hasher.compute(
            lambda: password_policy.policy_problems(password, without_list)
        )
    # Have I Been Pwned is asked last, and only about passwords that are accepted otherwise.
    if not reasons and await range_service.contains(service.config, service.outgoing, password):
        return [password_policy.breached()]
    return reasons


async def words_of(
    service: Service,
    organization: Organization | None,
    user_name: str,
    profile: Profile,
    email: Email | None,
) -> list[str]:
    """Returns the words that an acquaintance would try as a password: names and address of the
    person, name and domains of the organization."""
    words = [user_name, profile.display_name, profile.given_name or "", profile.family_name or ""]
    words += [profile.nick_name or "", email.address if email else ""]
    if organization is None:
        return words
    domains = await service.store.find(
        DOMAINS, {"org_id": organization.id}, order="domain", limit=_MAX_DOMAINS
    )
    labels = [label for each in domains.records for label in _labels(each.domain)]
    return [*words, organization.name, *labels]


async def hashed(
    service: Service, org_id: str | None, password: str, *, must_change: bool = False
) -> Password:
    """Returns the record of a password that `problems` has accepted, not stored yet. Raises
    HashingBusy.

    With `must_change` the user has to choose another one at the next sign-in. The organization's
    policy decides whether it is long enough to be used without a second factor.
    """
    rules = await effective.complexity(service, org_id)
    min_length = effective.min_length(rules, has_factor=False)
    return Password(
        hash=await service.hasher.hash(password),
        changed_at=service.clock.now(),
        must_change=must_change,
        is_long=len(password_policy.normalised(password)) >= min_length,
    )


def _issuer_labels(config: Config) -> list[str]:
    return _labels(urlsplit(config.issuer).hostname or "")


def _labels(domain: str) -> list[str]:
    """The labels of a domain except for the top-level one, which many domains share."""
    labels = domain.split(".")
    return labels[:-1] if len(labels) > 1 else labels
