"""Checks of what is registered and configured: who can sign in, and what is weaker than
necessary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from msgspec import structs

from idp.doctor import applications, commands, tokens
from idp.doctor.check import MAX_NAMED, DoctorCheck, Finding, Installation
from idp.doctor.records import Matches, chosen_by, matching
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
    """Reports login policies by which anybody can register an account: of the installation or of
    organizations.
    """
    matches = await matching(installation, POLICIES, lambda each: each.kind == "login")
    stored = {each.org_id: cast(LoginRules, each.rules) for each in matches.found}
    built_in = cast(LoginRules, effective.built_in(installation.config, "login"))
    # A stored policy of the installation, whose organization is None, replaces the built-in one.
    rules: dict[str | None, LoginRules] = {None: built_in, **stored}
    open_ones = [org_id for org_id, each in rules.items() if each.allow_register]
    if not open_ones:
        if matches.is_all:
            return Finding("ok", "registration is closed everywhere")
        problem = "are login policies that let strangers open accounts"
        return structs.replace(matches, found=[], count=0).finding("policies", problem, [])
    named = open_ones[:MAX_NAMED]
    return Finding(
        "warn",
        "strangers can open accounts by these login policies",
        names=await _organizations(installation, named),
        count=len(open_ones),
        commands=[commands.policy("login", each, "--no-allow-register") for each in named],
    )


async def lockout_endless(installation: Installation) -> Finding:
    """Reports lockout policies that lock accounts until an administrator unlocks them."""
    matches = await matching(installation, POLICIES, _locks_for_good)
    owners = [each.org_id for each in matches.named]
    return matches.finding(
        "policies",
        "lock accounts until somebody unlocks them",
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
    user_ids = [each.user_id for each in members.found]
    users = await installation.opened.get_many([(USERS, user_id) for user_id in user_ids])
    people = [each for each in users if each and each.kind == "human" and each.state == "active"]
    passkeys = await installation.opened.find_each(
        PASSKEYS, "user_id", [each.id for each in people], most=1
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

    async def chosen(users: Sequence[User]) -> Sequence[User]:
        domains_of = {n: _domains(each) for n, each in enumerate(users)}
        all_domains = sorted({domain for domains in domains_of.values() for domain in domains})
        claims = await installation.opened.find_each(DOMAINS, "verified_key", all_domains)
        owners = {domain: each[0].org_id for domain, each in claims.items() if each}
        return [
            user
            for n, user in enumerate(users)
            if any(owners.get(domain, user.org_id) != user.org_id for domain in domains_of[n])
        ]

    matches = await chosen_by(installation, USERS, chosen)
    return matches.finding(
        "users",
        "have a name or an address at the domain of another organization",
        [each.user_name for each in matches.named],
        [_own_name(each) for each in matches.named],
    )


def _domains(user: User) -> set[str]:
    # An address that is verified by more than the word of its organization may be at any domain.
    names = [user.user_name]
    if user.email and _is_declared_verified(user):
        names.append(user.email.address)
    return {domain_names.key(each.rpartition("@")[2]) for each in names if "@" in each}


def _own_name(user: User) -> str:
    return commands.rename(user) if "@" in user.user_name else commands.resend_email(user)


def _is_declared_verified(user: User) -> bool:
    email = user.email
    return email is not None and email.is_verified and not email.is_verified_everywhere


async def emails_unproven(installation: Installation) -> Finding:
    """Reports users whose e-mail address is verified only because their organization
    declared it.
    """
    matches = await matching(installation, USERS, _is_declared_verified)
    return matches.finding(
        "users",
        "have an address that only their organization has called verified",
        [each.user_name for each in matches.named],
        [commands.resend_email(each) for each in matches.named],
    )


CHECKS: Final = (
    DoctorCheck(
        id="registration.open",
        area="safety",
        about=message("Strangers can't open accounts.", context="safety"),
        fix=message("Close registration, unless anybody may have an account.", context="safety"),
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
            "Ask them to set up an authenticator app or a passkey, or require a second factor by"
            " the login policy.",
            context="safety",
        ),
        run=two_factors,
        needs="records",
    ),
    DoctorCheck(
        id="lockout.endless",
        area="safety",
        about=message(
            "Accounts that wrong passwords lock are unlocked after a time.", context="safety"
        ),
        fix=message(
            "Let the lock end by itself: otherwise a stranger can lock people out for good.",
            context="safety",
        ),
        run=lockout_endless,
        needs="records",
    ),
    DoctorCheck(
        id="names.foreign",
        area="safety",
        about=message(
            "Nobody has a name or an address at another organization's domain.", context="safety"
        ),
        fix=message("Rename these users, or have them verify the address.", context="safety"),
        run=foreign_names,
        needs="records",
    ),
    DoctorCheck(
        id="emails.unproven",
        area="safety",
        about=message(
            "Every verified e-mail address was verified by its owner.", context="safety"
        ),
        fix=message(
            "Have these people verify their address by a code. Until then applications of other"
            " organizations don't trust it.",
            context="safety",
        ),
        run=emails_unproven,
        needs="records",
    ),
)
