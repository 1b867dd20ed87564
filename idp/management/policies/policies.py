"""Calls that read and set policies: the installation's, and an organization's own."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import cast

from idp.audit import events, versioned_updates
from idp.audit.events import AuditEntry
from idp.foundation.errors import AlreadyExists, NotFound, PreconditionFailed
from idp.identity.users import organizations
from idp.management import call as management_call
from idp.management.call import Call
from idp.management.policies import protected_policies
from idp.management.policies.policy_kinds import KINDS
from idp.management.policies.views import PolicyFound
from idp.policies import effective
from idp.records import (
    INSTANCE_ID,
    INSTANCES,
    POLICIES,
    Organization,
    Picture,
    Policy,
)
from idp.records.policies import PolicyKind, PolicyRules
from idp.schema import reading
from idp.schema.answers import Changed, Details, details
from idp.service import Service
from storage import Conflict
from storage.confirmed_commit import commit_confirmed


async def show_default(service: Service, call: Call, kind: PolicyKind) -> PolicyFound:
    """Returns the installation's policy of a kind, or the built-in one if none is stored."""
    _, stored = await effective.find(service, None, kind)
    return await _answer(service, kind, None, stored, is_default=stored is None)


async def show(service: Service, call: Call, kind: PolicyKind) -> PolicyFound:
    """Returns the policy that applies to the call's organization: its own, the installation's or
    the built-in one.

    Raises NotFound, PermissionDenied.
    """
    _, own, default = await find_own_and_default(service, call, kind)
    return await _answer(service, kind, own, default, is_default=own is None)


async def put_default(service: Service, call: Call, document: object, kind: PolicyKind) -> Changed:
    """Sets the installation's policy of a kind from the JSON body `document`. Raises
    InvalidArgument, PreconditionFailed, Busy."""
    rules = reading.read(KINDS[kind].form, document).stored()
    return await set_default(service, call, rules, kind)


async def create(service: Service, call: Call, document: object, kind: PolicyKind) -> Changed:
    """Stores the policy in the JSON body `document` as that of the call's organization, which has
    none of this kind yet.

    Raises InvalidArgument, PermissionDenied, NotFound, AlreadyExists (it has one).
    """
    rules = reading.read(KINDS[kind].form, document).stored()
    organization = await management_call.organization(service, call)
    await protected_policies.check(service, call, organization.id, kind)
    try:
        return await add_own(service, call, rules, kind)
    except Conflict:
        message = "the organization already has a custom policy"
        raise AlreadyExists(message, error_code="policy.exists") from None


async def change(service: Service, call: Call, document: object, kind: PolicyKind) -> Changed:
    """Replaces the policy of a kind that the call's organization has of its own by the one in the
    JSON body `document`.

    Raises InvalidArgument, PermissionDenied, NotFound (it has none).
    """
    rules = reading.read(KINDS[kind].form, document).stored()
    organization = await management_call.organization(service, call)
    await protected_policies.check(service, call, organization.id, kind)
    return await replace(service, call, organization.id, rules, kind)


async def reset(service: Service, call: Call, kind: PolicyKind) -> Changed:
    """Removes the policy of a kind that the call's organization has of its own, so that the
    installation's applies again.

    Raises PermissionDenied, NotFound (it has none).
    """
    organization = await management_call.organization(service, call)
    await protected_policies.check(service, call, organization.id, kind)
    return await remove(service, call, organization.id, kind)


# Shared by policies, page texts and message texts. `kind` is the kind of policy; for texts it is
# followed by the type of message, if it is a message, and by the language.


async def find_own_and_default(
    service: Service, call: Call, *kind: str
) -> tuple[Organization, Policy | None, Policy | None]:
    """Returns the organization that the call acts in, its own policy, and the installation's; None
    for a policy that is not stored.

    `kind` is the kind of policy, for texts followed by the type of message, if it is a message,
    and the language.
    """
    organization = await management_call.organization(service, call)
    own, default = await effective.find(service, organization.id, *kind)
    return organization, own, default


async def set_default(service: Service, call: Call, rules: PolicyRules, *kind: str) -> Changed:
    """Stores `rules` as the installation's policy, in place of the current one if there is one.

    Raises PreconditionFailed if the call names a `sequence` that the stored policy does not have.
    """
    _, stored = await effective.find(service, None, *kind)
    if stored is None:
        if call.if_match:  # it names a state of a record, and there is none
            raise PreconditionFailed("it is not set")
        with suppress(Conflict):  # a concurrent call has set it: it is replaced
            return await _add(service, call, None, rules, *kind)
    return await replace(service, call, None, rules, *kind)


async def add_own(service: Service, call: Call, rules: PolicyRules, *kind: str) -> Changed:
    """Stores `rules` as the policy of the call's organization, which has none of this kind yet.

    Raises NotFound (the organization), Conflict (it has one).
    """

    async def attempt() -> Changed:
        organization = await management_call.organization(service, call)
        return await _add(service, call, organization, rules, *kind)

    return await versioned_updates.repeated(attempt)


async def _add(
    service: Service, call: Call, organization: Organization | None, rules: PolicyRules, *kind: str
) -> Changed:
    now, org_id = service.clock.now(), organization.id if organization else None
    policy = new(org_id, rules, now, *kind)
    writes = events.insertion(
        service.random, POLICIES, policy, AuditEntry(_event("created", *kind), call.actor, now)
    )
    guards = [organizations.state_unchanged(organization)] if organization else []
    await commit_confirmed(service.store, *writes, *guards)
    service.settings_cache.forget()  # of this process; those of others expire soon
    return Changed(details=await details_of(service, policy))


def new(org_id: str | None, rules: PolicyRules, now: datetime, *kind: str) -> Policy:
    """Returns a new policy record of the organization `org_id`, or of the installation if that is
    None; the caller stores it. `kind` is that of `find_own_and_default`."""
    return Policy(
        id=effective.policy_id(org_id, *kind),
        org_id=org_id,
        kind=cast(PolicyKind, kind[0]),
        rules=rules,
        created_at=now,
        changed_at=now,
    )


async def replace(
    service: Service, call: Call, org_id: str | None, rules: PolicyRules, *kind: str
) -> Changed:
    """Replaces the rules of a stored policy. `org_id` None means the installation.

    Raises NotFound.
    """
    policy = await versioned_updates.changed(
        service,
        POLICIES,
        lambda: _find(service, org_id, *kind),
        lambda _: {"rules": rules},
        _event("changed", *kind),
        call,
    )
    service.settings_cache.forget()
    return Changed(details=await details_of(service, policy))


async def remove(service: Service, call: Call, org_id: str, *kind: str) -> Changed:
    """Removes a stored policy of an organization. Raises NotFound."""
    removed = await versioned_updates.removed(
        service,
        POLICIES,
        lambda: _find(service, org_id, *kind),
        _event("deleted", *kind),
        call,
        org_id,
    )
    service.settings_cache.forget()
    return removed


async def details_of(service: Service, policy: Policy | Picture | None) -> Details:
    """Returns the details of a stored policy or picture, as answers contain them. None means the
    built-in one: it has the sequence 0 and belongs to the installation's organization."""
    if policy is not None and policy.org_id is not None:
        return details(policy, policy.org_id)
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    owner = instance.org_id if instance else ""
    return details(policy, owner) if policy else Details(sequence="0", resource_owner=owner)


async def _find(service: Service, org_id: str | None, *kind: str) -> Policy:
    policy = await service.store.get(POLICIES, effective.policy_id(org_id, *kind))
    if policy is None:
        raise NotFound(
            "the organization has no custom policy of this kind", error_code="policy.not_found"
        )
    return policy


async def _answer(
    service: Service,
    kind: PolicyKind,
    own: Policy | None,
    default: Policy | None,
    *,
    is_default: bool,
) -> PolicyFound:
    rules = effective.in_force(service.config, kind, own, default)
    details = await details_of(service, own or default)
    return KINDS[kind].answer(rules, details, is_default=is_default)


def _event(step: str, *kind: str) -> str:
    return f"{event_object(kind[0])}.{step}"


def event_object(kind: str) -> str:
    """Returns the prefix of the event types about a kind of policy, such as `login_policy`."""
    return kind if kind.endswith("_text") else f"{kind}_policy"
