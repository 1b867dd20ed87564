"""Personal access tokens of service users: displayed once, stored as a digest, ended with their
user."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from idp.foundation import opaque_tokens
from idp.foundation.randomness import Random
from idp.identity.sessions import security_stamps
from idp.identity.users.subjects import Subject
from idp.records import (
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    PATS,
    REVOKED_TOKENS,
    USERS,
    PersonalAccessToken,
)
from idp.service import Service
from storage import Follow, Key
from storage.following import Records

INFIX: Final = "_pat_"
_FOLLOWED: Final = (Follow(PATS, "user_id", USERS), Follow(PATS, "org_id", ORGANIZATIONS))


def new(
    random: Random, vendor: str, subject: Subject, now: datetime, expires_at: datetime
) -> tuple[PersonalAccessToken, str]:
    """Returns the record for the caller to store, and the token to display, of the form
    `<vendor>_pat_<id><secret>`.

    The token is of `subject`, a service user, and valid until `expires_at`.
    """
    token_id, secret = random.id(), random.token()
    record = PersonalAccessToken(
        id=token_id,
        user_id=subject.user.id,
        org_id=subject.user.org_id,
        secret_hash=opaque_tokens.digest(secret),
        stamps=security_stamps.of_session(subject.instance, subject.organization, subject.user),
        created_at=now,
        expires_at=expires_at,
    )
    return record, f"{vendor}{INFIX}{token_id}{secret}"


def is_pat(service: Service, token: str) -> bool:
    """Returns whether the text has the form of a personal access token."""
    return token.startswith(service.config.vendor + INFIX)


def is_refused(service: Service, token: str) -> bool:
    """Returns whether the text of a personal access token is one of none, as far as this is known
    without a read: it has another length, or was refused within the last seconds."""
    parts = opaque_tokens.split(token.removeprefix(service.config.vendor + INFIX))
    return parts is None or service.refused_tokens.has(token, service.clock.now())


async def find(service: Service, token: str) -> tuple[PersonalAccessToken | None, Records]:
    """Returns the record of a personal access token, None if there is none; and what was read with
    it: the installation, and the token's user and organization.

    The caller checks whether the token and its user are still valid.
    """
    parts = opaque_tokens.split(token.removeprefix(service.config.vendor + INFIX))
    if parts is None or is_refused(service, token):
        return None, Records()
    keys: list[Key] = [(PATS, parts[0]), (INSTANCES, INSTANCE_ID), (REVOKED_TOKENS, parts[0])]
    records = await service.store.get_following(keys, _FOLLOWED)
    pat = records.of(PATS, parts[0])
    if pat is None or not opaque_tokens.matches(parts[1], pat.secret_hash):
        service.refused_tokens.add(token, service.clock.now())
        return None, Records()
    return pat, records
