"""The question of a public installation's set-up form: whether visitors may register accounts.

The answer is stored in the installation's login policy, which has precedence over the setting
`self_registration`, and which administrators can change like any other.
"""

from __future__ import annotations

from typing import Final, cast

from msgspec import structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.identity.users.subjects import Subject
from idp.management.policies import policies
from idp.policies import effective
from idp.records import INSTANCE_ID, INSTANCES, POLICIES, LoginRules
from idp.service import Service
from storage import Write

_KIND: Final = "login"


async def is_asked(service: Service) -> bool:
    """Returns whether the set-up form asks whether visitors may register.

    It does while the first administrator of a public installation has a one-time password, and
    neither a setting nor a policy has answered.
    """
    if not service.config.is_public or service.config.self_registration:
        return False
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if instance is None or instance.first_admin is None:
        return False
    return await service.store.get(POLICIES, effective.policy_id(None, _KIND)) is None


async def answer(service: Service, subject: Subject, *, is_open: bool) -> list[Write]:
    """Returns the writes that store the answer of the user in `subject` to the question of the
    set-up form, in a login policy; the caller commits them. None are needed if the question was
    not asked, or if the user is not the first administrator. `is_open` is whether visitors may
    register.
    """
    first_admin = subject.instance.first_admin
    if (
        first_admin is None
        or first_admin.user_id != subject.user.id
        or not await is_asked(service)
    ):
        return []
    built_in = cast(LoginRules, effective.built_in(service.config, _KIND))
    now = service.clock.now()
    rules = structs.replace(built_in, allow_register=is_open)
    record = policies.new(None, rules, now, _KIND)
    return events.insertion(
        service.random, POLICIES, record, AuditEntry("login_policy.created", subject.user.id, now)
    )
