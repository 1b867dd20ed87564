"""Which policy counts for an organization: its own, else the installation's, else the built-in."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Final, TypeVar, cast

from idp import base64url
from idp.config import Config
from idp.records import (
    POLICIES,
    AgeRules,
    ComplexityRules,
    LabelRules,
    LanguageRules,
    LockoutRules,
    LoginRules,
    Policy,
    PrivacyRules,
)
from idp.records.policies import PolicyKind, PolicyRules
from idp.service import Service

_BUILT_IN: Final[Mapping[PolicyKind, Callable[[Config], PolicyRules]]] = {
    "login": lambda config: LoginRules(
        allow_register=config.self_registration,
        password_check_seconds=config.password_check_seconds,
    ),
    "password_complexity": lambda config: ComplexityRules(min_length=config.password_min_length),
    "password_age": lambda _: AgeRules(),
    "lockout": lambda _: LockoutRules(),
    "label": lambda _: LabelRules(),
    "privacy": lambda _: PrivacyRules(),
    "language": lambda _: LanguageRules(),
}

R = TypeVar("R", bound=PolicyRules)


def policy_id(org_id: str | None, *kind: str) -> str:
    """The id of a policy. A digest: the id of an organization may be as long as an id can be."""
    text = "\0".join((org_id or "", *kind))
    return base64url.encode(hashlib.sha256(text.encode()).digest())


async def find(
    service: Service, org_id: str | None, *kind: str
) -> tuple[Policy | None, Policy | None]:
    """The organization's own policy and the installation's, in one round trip."""
    ids = [policy_id(org_id, *kind), policy_id(None, *kind)]
    own, default = await service.store.get_many([(POLICIES, id) for id in ids])
    return own if org_id else None, default


def built_in(config: Config, kind: PolicyKind) -> PolicyRules:
    """What counts where nobody has set anything: the settings say it, where there is one."""
    return _BUILT_IN[kind](config)


async def login(service: Service, org_id: str | None) -> LoginRules:
    """How people of the organization get in."""
    return await _effective(service, org_id, "login", LoginRules)


async def complexity(service: Service, org_id: str | None) -> ComplexityRules:
    """What a new password of the organization's people has to hold."""
    return await _effective(service, org_id, "password_complexity", ComplexityRules)


async def age(service: Service, org_id: str | None) -> AgeRules:
    """How long a password of the organization's people may be kept."""
    return await _effective(service, org_id, "password_age", AgeRules)


async def lockout(service: Service, org_id: str | None) -> LockoutRules:
    """After how many wrong passwords an account of the organization is locked."""
    return await _effective(service, org_id, "lockout", LockoutRules)


async def _effective(
    service: Service, org_id: str | None, kind: PolicyKind, type: Callable[..., R]
) -> R:
    own, default = await find(service, org_id, kind)
    stored = own or default
    return cast(R, stored.rules if stored else built_in(service.config, kind))
