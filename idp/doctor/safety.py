"""Checks of what is registered and configured: who can sign in, and what is weaker than
necessary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from msgspec import structs

from idp.doctor import applications, commands, tokens
from idp.doctor.check import MAX_NAMED, DoctorCheck, Finding, Installation
from idp.doctor.records import Matches, matching, search_batches
from idp.foundation import domain_names
from idp.foundation.i18n import message
from idp.policies import effective
from idp.records import (
    DOMAINS,
    MEMBERSHIPS,
    ORGANIZATIONS,
    PASSKEYS,
    POLICIES,
    USERS,
    LockoutRules,
    LoginRules,
    Policy,
    User,
)

_EVERYWHERE: Final = "the installation"


async def registration_open(installation: Installation) -> Finding:
    """Reports login policies by which everyone can register an account: of the installation or of
    organizations.
    """
    matches = await matching(installation, POLICIES, lambda each: each.kind == "login")
    rules, now = effective.built_in(installation.config, "login"), installation.clock.now()
    built_in = Policy(id="", kind="login", rules=rules, created_at=now, changed_at=now)
    # A stored policy of the installation, whose organization is None, replaces the built-in one.
    policies = {None: built_in, **{each.org_id: each for each in matches.records}}
    open_ones = [each for each in policies.values() if _lets_register(each)]
    if not open_ones:
        if matches.is_all:
            return Finding("ok", "no login policy allows registration")
        problem = "are login policies that let anyone create an account"
        return structs.replace(matches, records=[], count=0).finding("policies", problem, [])
    named = open_ones[:MAX_NAMED]
    return Finding(
        "warn",
        "these login policies let anyone create an account",
        names=await _organizations(installation, [each.org_id for each in named]),
        count=len(open_ones),
        commands=[commands.policy("login", each.org_id, "--no-allow-register") for each in named],
        records=named,
    )


def _lets_register(policy: Policy) -> bool:
    return cast(LoginRules, policy.rules).allow_register


async def lockout_endless(installation: Installation) -> Finding:
    """Reports lockout policies that lock accounts until an administrator unlocks them."""
    matches = await matching(installation, POLICIES, _locks_for_good)
    owners = [each.org_id for each in matches.named]
    return matches.finding(
        "policies",
        "lock accounts until an administrator unlocks them",
        await _organizations(installation, owners),
        [commands.policy("lockout", each, "--lockout-seconds 900") for each in owners],
    )


def _locks_for_good(policy: Policy) -> bool:
    rules = policy.rules
    if not isinstance(rules, LockoutRules) or rules.lockout_seconds:
        return False
    return bool(rules.max_password_attempts or rules.max_otp_attempts)


async def _organizations(installation: Installation, org_ids: Sequence[str | None]) -> list[str]:
    keys = [(ORGANIZATIONS, org_id or "-") for org_id in org_ids]
    organizations = await installation.opened.get_many(keys)
    pairs = zip(org_ids, organizations, strict=True)
    return [
        _EVERYWHERE if org_id is None else organization.name if organization else org_id
        for org_id, organization in pairs
    ]


async def two_factors(installation: Installation) -> Finding:
    """Reports active administrators of the installation without a second factor."""
    members = await matching(installation, MEMBERSHIPS, lambda each: each.org_id is None)
    user_ids = [each.user_id for each in members.records]
    users = await installation.opened.get_many([(USERS, user_id) for user_id in user_ids])
    people = [each for each in users if each and each.kind == "human" and each.state == "active"]
    passkeys = await installation.opened.find_each(
        PASSKEYS, "user_id", [each.id for each in people], limit=1
    )
    weak = [each for each in people if each.totp is None and not passkeys.get(each.id)]
    without_factor: Matches[User] = Matches(weak, len(weak), len(people), members.is_all)
    problem = "have no second factor"
    return without_factor.finding(
        "administrators", problem, [each.user_name for each in without_factor.named]
    )


async def foreign_names(installation: Installation) -> Finding:
    """Reports users with a user name at a domain of another organization, or with an e-mail
    address there that only their own organization has declared verified.
    """

    async def select_foreign(users: Sequence[User]) -> Sequence[User]:
        domains_of = {n: _domains(each) for n, each in enumerate(users)}
        all_domains = sorted({domain for domains in domains_of.values() for domain in domains})
        claims = await installation.opened.find_each(DOMAINS, "verified_key", all_domains)
        owners = {domain: each[0].org_id for domain, each in claims.items() if each}
        return [
            user
            for n, user in enumerate(users)
            if any(owners.get(domain, user.org_id) != user.org_id for domain in domains_of[n])
        ]

    matches = await search_batches(installation, USERS, select_foreign)
    return matches.finding(
        "users",
        "have a username or an email at another organization's domain",
        [each.user_name for each in matches.named],
        [_own_name(each) for each in matches.named],
    )


def _domains(user: User) -> set[str]:
    # An address that its user has verified may be at any domain.
    names = [user.user_name]
    if user.email and _is_declared_verified(user):
        names.append(user.email.address)
    return {domain_names.key(each.rpartition("@")[2]) for each in names if "@" in each}


def _own_name(user: User) -> str:
    return commands.rename(user) if "@" in user.user_name else commands.resend_email(user)


def _is_declared_verified(user: User) -> bool:
    email = user.email
    return email is not None and email.is_verified and not email.is_verified_everywhere


async def emails_unverified(installation: Installation) -> Finding:
    """Reports users whose e-mail address is verified only because their organization
    declared it.
    """
    matches = await matching(installation, USERS, _is_declared_verified)
    return matches.finding(
        "users",
        "have an email that only their organization has marked as verified",
        [each.user_name for each in matches.named],
        [commands.resend_email(each) for each in matches.named],
    )


CHECKS: Final = (
    DoctorCheck(
        id="registration.open",
        area="safety",
        about=message("Strangers can't create accounts.", context="safety"),
        fix=message(
            "Turn off registration unless anyone may create an account.", context="safety"
        ),
        run=registration_open,
        needs="records",
    ),
    *applications.CHECKS,
    *tokens.CHECKS,
    DoctorCheck(
        id="admins.two_factors",
        area="safety",
        about=message(
            "Every administrator of the installation has a second factor.", context="safety"
        ),
        fix=message(
            "Ask them to set up an authenticator app or a passkey, or require a "
            "second factor in the login policy.",
            context="safety",
        ),
        run=two_factors,
        needs="records",
    ),
    DoctorCheck(
        id="lockout.endless",
        area="safety",
        about=message(
            "Accounts locked by wrong passwords are unlocked automatically.", context="safety"
        ),
        fix=message(
            "Let the lock end automatically. Otherwise an attacker can lock accounts permanently.",
            context="safety",
        ),
        run=lockout_endless,
        needs="records",
    ),
    DoctorCheck(
        id="names.foreign",
        area="safety",
        about=message(
            "No user has a username or email at another organization's domain.", context="safety"
        ),
        fix=message("Rename these users, or ask them to verify the email.", context="safety"),
        run=foreign_names,
        needs="records",
    ),
    DoctorCheck(
        id="emails.unproven",
        area="safety",
        about=message("Every verified email was verified by its owner.", context="safety"),
        fix=message(
            "Ask these users to verify their email with a code. Until then, "
            "applications of other organizations don't trust it.",
            context="safety",
        ),
        run=emails_unverified,
        needs="records",
    ),
)
