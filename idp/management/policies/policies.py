"""Calls that read and set policies: the installation's, and an organization's own."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import cast

from idp import changes
from idp.changes import Change
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


async def put_default(
    service: Service, call: Call, document: object, kind: PolicyKind
) -> Change[Changed]:
    """Sets the installation's policy of a kind from the JSON body `document`. Raises
    InvalidArgument, PreconditionFailed, Busy."""
    rules = reading.read(KINDS[kind].form, document).stored()
    return await set_default(service, call, rules, kind)


async def create(
    service: Service, call: Call, document: object, kind: PolicyKind
) -> Change[Changed]:
    """Stores the policy in the JSON body `document` as that of the call's organization, which has
    none of this kind yet.

    Raises InvalidArgument, PermissionDenied, NotFound, AlreadyExists (it has one).
    """
    rules = reading.read(KINDS[kind].form, document).stored()
    organization = await management_call.organization(service, call)
    await protected_policies.check(service, call, organization.id, kind)
    message = "the organization already has a custom policy"
    return dataclasses.replace(
        await _added(service, call, organization, rules, kind),
        if_taken=AlreadyExists(message, error_code="policy.exists"),
    )


async def change(
    service: Service, call: Call, document: object, kind: PolicyKind
) -> Change[Changed]:
    """Replaces the policy of a kind that the call's organization has of its own by the one in the
    JSON body `document`.

    Raises InvalidArgument, PermissionDenied, NotFound (it has none).
    """
    rules = reading.read(KINDS[kind].form, document).stored()
    organization = await management_call.organization(service, call)
    await protected_policies.check(service, call, organization.id, kind)
    return await replace(service, call, organization.id, rules, kind)


async def reset(service: Service, call: Call, kind: PolicyKind) -> Change[Changed]:
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


async def set_default(
    service: Service, call: Call, rules: PolicyRules, *kind: str
) -> Change[Changed]:
    """Stores `rules` as the installation's policy, in place of the current one if there is one.

    Raises PreconditionFailed if the call names a `sequence` that the stored policy does not have.
    """
    _, stored = await effective.find(service, None, *kind)
    if stored is not None:
        return await replace(service, call, None, rules, *kind)
    if call.if_match:  # it names a state of a record, and there is none
        raise PreconditionFailed("it is not set")
    return await _added(service, call, None, rules, *kind)


async def set_own(service: Service, call: Call, rules: PolicyRules, *kind: str) -> Change[Changed]:
    """Stores `rules` as the policy of the call’s organization, in place of the current one
    is one. Raises PermissionDenied, NotFound, PreconditionFailed."""
    organization, own, _ = await find_own_and_default(service, call, *kind)
    if own is None and not call.if_match:
        return await _added(service, call, organization, rules, *kind)
    return await replace(service, call, organization.id, rules, *kind)


async def _added(
    service: Service, call: Call, organization: Organization | None, rules: PolicyRules, *kind: str
) -> Change[Changed]:
    policy = new(organization.id if organization else None, rules, service.clock.now(), *kind)
    guards = [organizations.state_unchanged(organization)] if organization else []
    return Change(
        Changed(details=await details_of(service, policy)),
        [*changes.created(service, call, POLICIES, policy, _event("created", *kind)), *guards],
        [service.settings_cache.forget],  # of this process; those of others expire soon
    )


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
) -> Change[Changed]:
    """Replaces the rules of a stored policy. `org_id` None means the installation.

    Raises NotFound.
    """
    policy = await _find(service, org_id, *kind)
    values, event = {"rules": rules}, _event("changed", *kind)
    update = changes.updated(service, call, POLICIES, policy, values, event)
    answer = Changed(details=await details_of(service, update.record))
    return update.answered(answer, afterwards=[service.settings_cache.forget])


async def remove(service: Service, call: Call, org_id: str, *kind: str) -> Change[Changed]:
    """Removes a stored policy of an organization. Raises NotFound."""
    policy, event = await _find(service, org_id, *kind), _event("deleted", *kind)
    return changes.removed(service, call, POLICIES, policy, event).change(
        afterwards=[service.settings_cache.forget]
    )


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
