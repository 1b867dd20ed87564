"""Policies as administrators read and set them: the installation's, and an organization's own."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import cast

from idp.audit import events, versioned_updates
from idp.audit.versioned_updates import Changed
from idp.foundation.errors import AlreadyExists, NotFound, PreconditionFailed
from idp.management import call as management_call
from idp.management.call import Call
from idp.management.policies import protected_policies
from idp.management.policies.policy_kinds import KINDS
from idp.management.policies.views import PolicyFound
from idp.policies import effective
from idp.records import (
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    POLICIES,
    Organization,
    Picture,
    Policy,
)
from idp.records.policies import PolicyKind, PolicyRules
from idp.schema import reading
from idp.schema.answers import Details, details
from idp.service import Service
from storage import Conflict, Update, Write
from storage.settling import commit_settled


async def show_default(service: Service, call: Call, kind: PolicyKind) -> PolicyFound:
    """The installation's policy of a kind, or the one that is built in."""
    _, stored = await effective.find(service, None, kind)
    return await _answer(service, kind, None, stored, is_default=stored is None)


async def show(service: Service, call: Call, kind: PolicyKind) -> PolicyFound:
    """The policy that counts for an organization. Raises NotFound, PermissionDenied."""
    _, own, default = await found(service, call, kind)
    return await _answer(service, kind, own, default, is_default=own is None)


async def put_default(service: Service, call: Call, document: object, kind: PolicyKind) -> Changed:
    """Set the installation's policy. Raises InvalidArgument, PreconditionFailed, Busy."""
    rules = reading.read(KINDS[kind].form, document).stored()
    return await set_default(service, call, rules, kind)


async def create(service: Service, call: Call, document: object, kind: PolicyKind) -> Changed:
    """Give an organization a policy of its own. Raises InvalidArgument, PermissionDenied,
    NotFound, AlreadyExists: it has one."""
    rules = reading.read(KINDS[kind].form, document).stored()
    organization = await management_call.organization(service, call)
    await protected_policies.check(service, call, organization.id, kind)
    try:
        return await add_own(service, call, rules, kind)
    except Conflict:
        told = "the organization has a policy of its own already"
        raise AlreadyExists(told, slug="policy.exists") from None


async def change(service: Service, call: Call, document: object, kind: PolicyKind) -> Changed:
    """Replace an organization's own policy. Raises InvalidArgument, PermissionDenied, NotFound: it
    has none."""
    rules = reading.read(KINDS[kind].form, document).stored()
    organization = await management_call.organization(service, call)
    await protected_policies.check(service, call, organization.id, kind)
    return await replace(service, call, organization.id, rules, kind)


async def reset(service: Service, call: Call, kind: PolicyKind) -> Changed:
    """Let an organization have the installation's policy again. Raises PermissionDenied, NotFound:
    it has."""
    organization = await management_call.organization(service, call)
    await protected_policies.check(service, call, organization.id, kind)
    return await remove(service, call, organization.id, kind)


# What policies and the texts of letters have in common; `kind` may have more parts.


async def found(
    service: Service, call: Call, *kind: str
) -> tuple[Organization, Policy | None, Policy | None]:
    """The organization that the call acts in, its own policy, and the installation's."""
    organization = await management_call.organization(service, call)
    own, default = await effective.find(service, organization.id, *kind)
    return organization, own, default


async def set_default(service: Service, call: Call, rules: PolicyRules, *kind: str) -> Changed:
    """Set what counts for the installation, whether something was set before or not."""
    _, stored = await effective.find(service, None, *kind)
    if stored is None:
        if call.if_match:
            raise PreconditionFailed("it has not been set yet")
        with suppress(Conflict):  # somebody was faster: theirs is replaced
            return await _add(service, call, None, rules, *kind)
    return await replace(service, call, None, rules, *kind)


async def add_own(service: Service, call: Call, rules: PolicyRules, *kind: str) -> Changed:
    """Set what the organization had not set. Raises NotFound (the organization), Conflict."""

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
        service.random, POLICIES, policy, _event("created", *kind), call.actor, now
    )
    await commit_settled(service.store, *writes, *_still_there(organization))
    service.recent.forget()
    return Changed(details=await told_of(service, policy))


def new(org_id: str | None, rules: PolicyRules, now: datetime, *kind: str) -> Policy:
    """A policy that isn't stored yet."""
    return Policy(
        id=effective.policy_id(org_id, *kind),
        org_id=org_id,
        kind=cast(PolicyKind, kind[0]),
        rules=rules,
        created_at=now,
        changed_at=now,
    )


def _still_there(organization: Organization | None) -> list[Write]:
    if organization is None:
        return []
    return [Update(ORGANIZATIONS, organization.id, expect={"state": organization.state})]


async def replace(
    service: Service, call: Call, org_id: str | None, rules: PolicyRules, *kind: str
) -> Changed:
    """Set what was set before to something else. Raises NotFound."""
    policy = await versioned_updates.changed(
        service,
        POLICIES,
        lambda: _find(service, org_id, *kind),
        lambda _: {"rules": rules},
        _event("changed", *kind),
        call,
    )
    service.recent.forget()
    return Changed(details=await told_of(service, policy))


async def remove(service: Service, call: Call, org_id: str, *kind: str) -> Changed:
    """Unset what an organization has set. Raises NotFound."""
    removed = await versioned_updates.removed(
        service,
        POLICIES,
        lambda: _find(service, org_id, *kind),
        _event("deleted", *kind),
        call,
        org_id,
    )
    service.recent.forget()
    return removed


async def told_of(service: Service, policy: Policy | Picture | None) -> Details:
    """The details of a policy or picture; of what is built in, those of what never changed."""
    if policy is not None and policy.org_id is not None:
        return details(policy, policy.org_id)
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    owner = instance.org_id if instance else ""
    return details(policy, owner) if policy else Details(sequence="0", resource_owner=owner)


async def _find(service: Service, org_id: str | None, *kind: str) -> Policy:
    policy = await service.store.get(POLICIES, effective.policy_id(org_id, *kind))
    if policy is None:
        raise NotFound("the organization has no such policy of its own", slug="policy.not_found")
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
    told = await told_of(service, own or default)
    return KINDS[kind].answer(rules, told, is_default=is_default)


def _event(step: str, *kind: str) -> str:
    return f"{event_object(kind[0])}.{step}"


def event_object(kind: str) -> str:
    """How events call a kind of policy."""
    return kind if kind.endswith("_text") else f"{kind}_policy"
