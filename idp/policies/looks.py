"""What the pages of an organization's applications follow, at most 5 s old: every page asks."""

from __future__ import annotations

import hashlib
from typing import Final, TypeVar, cast

from msgspec import Struct

from idp.policies import brand, effective
from idp.records import POLICIES, LabelRules, LoginRules, Policy, PrivacyRules
from idp.records.policies import PolicyKind, PolicyRules
from idp.service import Service

_KINDS: Final[tuple[PolicyKind, ...]] = ("login", "label", "privacy")
R = TypeVar("R", bound=PolicyRules)


class Look(Struct, frozen=True):
    """How people get in, where pages lead to, and the address of their colours, if they have any
    of their own: the policy's id and a digest of what it says."""

    login: LoginRules
    privacy: PrivacyRules
    brand: tuple[str, str] | None = None


async def look(service: Service, org_id: str | None) -> Look:
    """What counts for pages of that organization; without one, for the installation's."""
    return await service.recent.get(
        ("look", org_id), service.clock.now(), lambda: _read(service, org_id)
    )


async def stylesheet(service: Service, policy_id: str) -> str | None:
    """The colours that this policy names; None where there is no such policy."""
    policy = await service.store.get(POLICIES, policy_id)
    if policy is None or not isinstance(policy.rules, LabelRules):
        return None
    return brand.stylesheet(policy.rules)


def digest(stylesheet: str) -> str:
    """What tells one stylesheet from another, in an address."""
    return hashlib.sha256(stylesheet.encode()).hexdigest()[:16]


async def _read(service: Service, org_id: str | None) -> Look:
    ids = [effective.policy_id(one, kind) for kind in _KINDS for one in (org_id, None)]
    found = await service.store.get_many([(POLICIES, id) for id in ids])
    login, label, privacy = (
        own or default for own, default in zip(found[::2], found[1::2], strict=True)
    )
    return Look(
        login=cast(LoginRules, _rules(service, login, "login")),
        privacy=cast(PrivacyRules, _rules(service, privacy, "privacy")),
        brand=_brand(label),
    )


def _rules(service: Service, policy: Policy | None, kind: PolicyKind) -> PolicyRules:
    return policy.rules if policy else effective.built_in(service.config, kind)


def _brand(label: Policy | None) -> tuple[str, str] | None:
    if label is None or not isinstance(label.rules, LabelRules):
        return None
    colours = brand.stylesheet(label.rules)
    return (label.id, digest(colours)) if colours else None
