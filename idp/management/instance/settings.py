"""Settings of the whole installation that can be changed while it runs: features, and security."""

from __future__ import annotations

from collections.abc import Mapping

from idp import changes
from idp.changes import Change
from idp.foundation.errors import NotFound
from idp.management.call import Call
from idp.records import INSTANCE_ID, INSTANCES, Instance
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.reading import Request
from idp.service import Service


class Features(Request, frozen=True, kw_only=True):
    """Features to switch on or off. Those that are omitted do not change."""

    oidc_token_exchange: bool | None = None


class Feature(Answer, frozen=True, kw_only=True):
    enabled: bool = False


class FeaturesFound(Answer, frozen=True, kw_only=True):
    details: Details
    oidc_token_exchange: Feature


class SecurityPolicy(Request, frozen=True, kw_only=True):
    """Replaces the whole policy: what is omitted is switched off."""

    enable_impersonation: bool = False


class SecurityPolicyView(Answer, frozen=True, kw_only=True):
    details: Details
    enable_impersonation: bool = False


class SecurityPolicyFound(Answer, frozen=True, kw_only=True):
    policy: SecurityPolicyView


async def put_features(service: Service, call: Call, request: Features) -> Change[Changed]:
    """Switches on or off the features that the request names."""
    is_on = request.oidc_token_exchange
    values = {} if is_on is None else {"allows_token_exchange": is_on}
    instance = await _find(service)
    return _changed(service, call, instance, values, "instance.features_changed")


async def features(service: Service, call: Call) -> FeaturesFound:
    """Returns the features and whether each is switched on."""
    instance = await _find(service)
    return FeaturesFound(
        details=_details(instance),
        oidc_token_exchange=Feature(enabled=instance.allows_token_exchange),
    )


async def put_security_policy(
    service: Service, call: Call, request: SecurityPolicy
) -> Change[Changed]:
    """Replaces the installation's security policy.

    If it switches impersonation on or off, all tokens that were issued to actors before are
    invalid.
    """
    instance, is_on = await _find(service), request.enable_impersonation
    values: dict[str, object] = {"allows_impersonation": is_on}
    if instance.allows_impersonation != is_on:
        values["acting_stamp"] = service.random.token()
    return _changed(service, call, instance, values, "instance.security_policy_changed")


async def security_policy(service: Service, call: Call) -> SecurityPolicyFound:
    """Returns the installation's security policy."""
    instance = await _find(service)
    policy = SecurityPolicyView(
        details=_details(instance), enable_impersonation=instance.allows_impersonation
    )
    return SecurityPolicyFound(policy=policy)


def _changed(
    service: Service, call: Call, instance: Instance, values: Mapping[str, object], event: str
) -> Change[Changed]:
    update = changes.updated(service, call, INSTANCES, instance, values, event, instance.org_id)
    return update.change(afterwards=[service.settings_cache.forget])


async def _find(service: Service) -> Instance:
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if instance is None:
        raise NotFound("the service has not been set up")
    return instance


def _details(instance: Instance) -> Details:
    return answers.details(instance, instance.org_id)
