"""The personal access token of an installation owner that an unattended start creates for
scripts.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Final

from idp.foundation.errors import ConfigError
from idp.identity.users import lookup as user_lookup
from idp.identity.users import memberships
from idp.identity.users import personal_access_tokens as user_personal_access_tokens
from idp.identity.users.memberships import IAM_OWNER
from idp.identity.users.subjects import Subject
from idp.oauth.authentication import access_token_verification
from idp.oauth.errors import InvalidToken
from idp.records import MEMBERSHIPS, PATS, USERS, Instance, User
from idp.service import Service
from idp.start import first_start
from storage import Conflict

LIFETIME: Final = timedelta(hours=24)
USER_NAME: Final = "admin-pat"


async def ensure(service: Service, instance: Instance, earlier_token: str | None) -> str:
    """Returns `earlier_token`, the token that an earlier start created, while it is valid, else a
    new token of the service user `admin-pat`.

    The service user is created if it is missing; `earlier_token` is None if there is no earlier
    token. Raises ConfigError if another user has its login name.
    """
    if earlier_token and await _is_valid(service, earlier_token):
        return earlier_token
    organization = await first_start.find_default_organization(service, instance)
    user = await _ensure_user(service, instance)
    subject = Subject(instance=instance, organization=organization, user=user)
    now = service.clock.now()
    record, token = user_personal_access_tokens.new(
        service.random, service.config.vendor, subject, now, now + LIFETIME
    )
    await service.store.commit(
        *first_start.creation_writes(service, PATS, record, "pat.created", now, user=user.id)
    )
    return token


async def _is_valid(service: Service, token: str) -> bool:
    with suppress(InvalidToken):
        await access_token_verification.find(service, token)
        return user_personal_access_tokens.is_pat(service, token)
    return False


async def _ensure_user(service: Service, instance: Instance) -> User:
    user = await user_lookup.find_by_login_name(service, USER_NAME)
    if user is not None:
        await _check_owner(service, user)
        return user
    organization = await first_start.find_default_organization(service, instance)
    now = service.clock.now()
    user = first_start.new_user(service, organization, "machine", USER_NAME, "Admin script", now)
    owner = memberships.new(user.id, None, [IAM_OWNER], now)
    writes = first_start.creation_writes(service, USERS, user, "user.created", now, kind=user.kind)
    writes += memberships.insertion(service.random, owner, first_start.ACTOR, now)
    try:
        await service.store.commit(*writes)
    except Conflict:  # another process was faster
        return await _ensure_user(service, instance)
    return user


async def _check_owner(service: Service, user: User) -> None:
    """Raises ConfigError if the login name belongs to another user, whose token this would be."""
    memberships = await service.store.find(MEMBERSHIPS, {"user_id": user.id})
    roles = [
        role
        for membership in memberships.records
        if membership.org_id is None
        for role in membership.roles
    ]
    if user.kind != "machine" or IAM_OWNER not in roles:
        raise ConfigError(
            [
                f"admin_pat needs the login name {USER_NAME}, and it is not an instance owner's "
                "service user who has it; rename or delete that user, or start without admin_pat"
            ]
        )
