"""Calls that list the methods by which a user can sign in, and remove the authenticator app."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from idp import changes
from idp.changes import Change
from idp.foundation.errors import NotFound
from idp.identity.factors import recovery_codes, second_factors
from idp.identity.users import lookup as user_lookup
from idp.management.call import Call
from idp.management.users import manageable
from idp.management.users import read as user_read
from idp.records import User
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.service import Service

_READY: Final = "AUTH_FACTOR_STATE_READY"
_TYPES: Final = {
    "password": "AUTHENTICATION_METHOD_TYPE_PASSWORD",
    second_factors.PASSKEY: "AUTHENTICATION_METHOD_TYPE_PASSKEY",
    second_factors.TOTP: "AUTHENTICATION_METHOD_TYPE_TOTP",
    "recovery-codes": "AUTHENTICATION_METHOD_TYPE_RECOVERY_CODE",
}


class TotpView(Answer, frozen=True, kw_only=True):
    """An authenticator app. `name` is what its owner calls the device."""

    state: str
    creation_date: datetime
    name: str = ""


class RecoveryCodesView(Answer, frozen=True, kw_only=True):
    """`left` is the number of codes that are still unused."""

    creation_date: datetime
    left: int = 0


class MethodsFound(Answer, frozen=True, kw_only=True):
    """The methods that the user has set up; `totp` and `recoveryCodes` are present only if they
    are among them.
    """

    details: Details
    auth_method_types: list[str] = []
    totp: TotpView | None = None
    recovery_codes: RecoveryCodesView | None = None


async def methods(service: Service, call: Call, user_id: str) -> MethodsFound:
    """Returns the authentication methods that a user has set up. Raises NotFound."""
    user = await user_read.find(service, call, user_id)
    kinds = set(await second_factors.of_user(service, user))
    unused_codes = await recovery_codes.unused_count(service, user)
    other_methods = {"password": user.password, "recovery-codes": unused_codes}
    kinds.update(name for name, value in other_methods.items() if value)
    codes = None
    if user.recovery_codes_at is not None:
        codes = RecoveryCodesView(creation_date=user.recovery_codes_at, left=unused_codes)
    return MethodsFound(
        details=answers.details(user, user.org_id),
        auth_method_types=[method_type for name, method_type in _TYPES.items() if name in kinds],
        totp=_app(user),
        recovery_codes=codes,
    )


def _app(user: User) -> TotpView | None:
    app = user.totp
    return TotpView(state=_READY, creation_date=app.created_at, name=app.name) if app else None


async def remove_totp(service: Service, call: Call, user_id: str) -> Change[Changed]:
    """Removes a user's authenticator app.

    All the user's sessions and tokens end, and the user is informed by mail. If it is the last
    second factor, the recovery codes are removed, too. Raises NotFound, PermissionDenied (the user
    has more rights than the caller).
    """

    user = await manageable.find(service, call, user_id)
    changes.check_version(user, call)
    subject = await user_lookup.subject_of(service, user)
    if user.totp is None or subject is None:
        raise NotFound("the user has no authenticator app", error_code="totp.not_found")
    change = await second_factors.remove_totp(service, subject, call.actor)
    return Change(
        Changed(details=answers.details(change.subject.user, user.org_id)), change.writes
    )
