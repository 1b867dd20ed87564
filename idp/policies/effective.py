"""The effective policy of an organization: its own, else the installation's, else the built-in
one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Final, TypeVar, cast

from msgspec import structs

from idp.config.profiles import TRIAL
from idp.config.settings import Config
from idp.foundation import base64url
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
from storage import Key

_BUILT_IN: Final[Mapping[PolicyKind, Callable[[Config], PolicyRules]]] = {
    "login": lambda config: LoginRules(
        allow_register=config.self_registration,
        password_check_seconds=config.password_check_seconds,
    ),
    "password_complexity": lambda config: ComplexityRules(
        min_length=config.password_min_length,
        min_length_with_factor=config.password_min_length_with_factor,
        min_strength=config.password_min_strength,
    ),
    "password_age": lambda _: AgeRules(),
    "lockout": lambda _: LockoutRules(),
    "label": lambda _: LabelRules(),
    "privacy": lambda _: PrivacyRules(),
    "language": lambda _: LanguageRules(),
}

_COMPLEXITY: Final = "password_complexity"

R = TypeVar("R", bound=PolicyRules)


def policy_id(org_id: str | None, *kind: str) -> str:
    """Returns the id of the policy record of the organization, or of the installation if `org_id`
    is None. `kind` is the kind of policy; for texts, the type of message and the language follow.

    It is a digest, because the id of an organization may already have the greatest length of an
    id.
    """
    text = "\0".join((org_id or "", *kind))
    return base64url.encode(hashlib.sha256(text.encode()).digest())


def keys(org_id: str | None, *kind: str) -> list[Key]:
    """Returns the keys of the organization's own policy of this kind and of the installation's.
    `kind` is the kind of policy, and for texts what they belong to (`policy_id`)."""
    return [(POLICIES, policy_id(org_id, *kind)), (POLICIES, policy_id(None, *kind))]


async def find(
    service: Service, org_id: str | None, *kind: str
) -> tuple[Policy | None, Policy | None]:
    """Returns the organization's own policy of this kind and the installation's, each None if it
    is not stored, after one round trip. `kind` is the kind of policy, and for texts what they
    belong to (`policy_id`)."""
    own, default = await service.store.get_many(keys(org_id, *kind))
    return own if org_id else None, default


def built_in(config: Config, kind: PolicyKind) -> PolicyRules:
    """Returns the rules that apply if no policy is stored; the operator's settings define some
    of them."""
    return _BUILT_IN[kind](config)


async def login(service: Service, org_id: str | None) -> LoginRules:
    """Returns the effective rules for sign-ins of the organization's users."""
    return await _effective(service, org_id, "login", LoginRules)


def login_of(config: Config, own: Policy | None, default: Policy | None) -> LoginRules:
    """Returns the effective rules for sign-ins from the stored policies of `keys`."""
    return cast(LoginRules, in_force(config, "login", own, default))


async def label(service: Service, org_id: str | None) -> LabelRules:
    """Returns the effective colours and shape of the organization's pages."""
    return await _effective(service, org_id, "label", LabelRules)


async def offers_password_reset(service: Service, org_id: str) -> bool:
    """Returns whether the sign-in pages of the organization's applications offer a password
    reset by mail."""
    return not (await login(service, org_id)).hide_password_reset


async def complexity(service: Service, org_id: str | None) -> ComplexityRules:
    """Returns the rules for passwords that the organization's users choose, with no requirement
    left open (None). `org_id` None means the installation's."""
    return await _effective(service, org_id, _COMPLEXITY, ComplexityRules)


async def initial_complexity(service: Service, org_id: str | None) -> ComplexityRules:
    """Returns the rules for passwords that an administrator or a program sets for users of the
    organization.

    They are those of the stored policies. Without one only a minimum length applies: the one of
    the settings if it differs from the profile's default, otherwise that of the trial profile.
    """
    own, default = map(_complexity, await find(service, org_id, _COMPLEXITY))
    rules = own or default or ComplexityRules(min_length=_initial_min_length(service.config))
    min_strength = max((each.min_strength or 0 for each in (own, default) if each), default=0)
    return structs.replace(rules, min_strength=min_strength)


def min_length(rules: ComplexityRules, *, has_factor: bool) -> int:
    """Returns the minimum length of a password by `rules` (from `complexity`); for a user with a
    second factor (`has_factor`) it may be less."""
    with_factor = rules.min_length_with_factor
    if not has_factor or with_factor is None:
        return rules.min_length
    return min(rules.min_length, with_factor)


def complete_complexity(
    config: Config, own: ComplexityRules | None, default: ComplexityRules | None
) -> ComplexityRules:
    """Returns the rules of an organization (`own`, None if it has none), in which what they leave
    open is taken from the installation's (`default`) or the settings.

    For strength, and for the length with a second factor, the organization can only raise what the
    installation requires.
    """
    installation = _completed(default, config) if default else built_in(config, _COMPLEXITY)
    installation = cast(ComplexityRules, installation)
    if own is None:
        return installation
    complete = _completed(own, config) if own.min_length_with_factor is None else own
    with_factor = max(
        complete.min_length_with_factor or 0, installation.min_length_with_factor or 0
    )
    return structs.replace(
        own,
        min_length_with_factor=min(own.min_length, with_factor),
        min_strength=max(own.min_strength or 0, installation.min_strength or 0),
    )


def _completed(rules: ComplexityRules, config: Config) -> ComplexityRules:
    """Returns stored rules with the members that they lack: their one length also applies with
    a second factor, and the strength is that of the settings."""
    with_factor, strength = rules.min_length_with_factor, rules.min_strength
    return structs.replace(
        rules,
        min_length_with_factor=rules.min_length if with_factor is None else with_factor,
        min_strength=config.password_min_strength if strength is None else strength,
    )


def _complexity(policy: Policy | None) -> ComplexityRules | None:
    return cast(ComplexityRules, policy.rules) if policy else None


def _initial_min_length(config: Config) -> int:
    is_configured = config.password_min_length != config.profile_defaults.password_min_length
    return config.password_min_length if is_configured else TRIAL.password_min_length


async def age(service: Service, org_id: str | None) -> AgeRules:
    """Returns the effective rules for the age of passwords of the organization's users."""
    return await _effective(service, org_id, "password_age", AgeRules)


def in_force(
    config: Config, kind: PolicyKind, own: Policy | None, default: Policy | None
) -> PolicyRules:
    """Returns the effective rules of a kind from the stored policies: `own` is the organization's,
    `default` the installation's, each None if it is not stored."""
    if kind == _COMPLEXITY:
        return complete_complexity(config, _complexity(own), _complexity(default))
    stored = own or default
    return stored.rules if stored else built_in(config, kind)


async def _effective(
    service: Service, org_id: str | None, kind: PolicyKind, type: Callable[..., R]
) -> R:
    own, default = await find(service, org_id, kind)
    return cast(R, in_force(service.config, kind, own, default))
