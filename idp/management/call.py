"""A call of the management API: its caller, the organization it acts in, and what it has access
to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Final, TypeAlias

from msgspec import Struct

from idp.cached_reads import CachedReads
from idp.foundation import logs
from idp.foundation.errors import NotFound, PermissionDenied, Unauthenticated
from idp.identity.users import org_domains, permissions
from idp.identity.users.permissions import Permission, Rights
from idp.identity.users.subjects import Subject
from idp.oauth.authentication import access_token_verification, bearer_tokens
from idp.oauth.authentication.bearer_tokens import Bearer
from idp.oauth.errors import InsufficientScope, InvalidRequest, InvalidToken
from idp.oauth.params import Params
from idp.records import ORGANIZATIONS, Organization, User, VerifiedBy
from idp.service import Service

ReadAhead: TypeAlias = Callable[[Subject], Awaitable[CachedReads | None]]
NO_ORGANIZATION: Final = "organization.not_found"
NO_TOKEN: Final = "token.missing"  # noqa: S105 - an error code

# The permissions of a token that another user acts with (RFC 8693 4.1, `act`). None of them allows
# a write, because the audit log would name the user of the token as the one who made it.
_FOR_ACTORS: Final[frozenset[Permission]] = frozenset(
    {
        "org.read",
        "user.read",
        "user.grant.read",
        "group.read",
        "project.read",
        "project.app.read",
        "policy.read",
    }
)


class Call(Struct, frozen=True):
    """A call of the management API, made by the user `caller`, who holds `permission` in at least
    one organization.

    `rights` are all permissions of the caller, in the installation and by organization. `org_id`
    is the organization that the caller named, or None. `if_match` is the `sequence` that the
    changed record must have, or None if any will do. With `is_own` the call comes from the pages
    of the caller's own account and concerns no other one (`of_themselves`). With `is_by_pat` the
    caller authenticated with a personal access token. `authenticated_at` is when the caller, a
    person, signed in; it is None for other tokens. `own_organization` is the caller's, as it was
    read when the caller was authenticated, and `reads` has what was read ahead with the caller's
    permissions; both are None unless the call is carried out immediately.
    """

    caller: User
    rights: Rights
    permission: Permission
    org_id: str | None
    if_match: int | None = None
    is_own: bool = False
    is_by_pat: bool = False
    authenticated_at: datetime | None = None
    own_organization: Organization | None = None
    reads: CachedReads | None = None

    @property
    def actor(self) -> str:
        """The id of the user that the audit log names as the author of the change."""
        return self.caller.id

    @property
    def is_by_instance(self) -> bool:
        """Whether a role of the whole installation gives the caller the permission, not only one
        of an organization."""
        return self.permission in self.rights.everywhere

    @property
    def verified_by(self) -> VerifiedBy:
        """The recorded origin of an address that this call declares verified: the
        installation or an organization."""
        return "instance" if self.is_by_instance else "organization"

    def reaches(self, org_id: str) -> bool:
        """Returns whether the caller has the permission in this organization, and the call names
        either this organization or none (`org_id`)."""
        is_in_scope = self.org_id in (None, org_id)
        return is_in_scope and self.rights.allow(self.permission, org_id)

    def is_about_caller(self, user_id: str) -> bool:
        """Returns whether the user is the caller, acting on their own account."""
        return self.is_own and user_id == self.caller.id


def of_themselves(user: User, if_match: int | None = None) -> Call:
    """Returns the call of a user who reads or changes their own account.

    The call needs no permission and reaches no other account. `if_match` is the `sequence` that
    the record must have, None if any will do.
    """
    no_rights = Rights(everywhere=frozenset(), by_organization={})
    return Call(user, no_rights, "user.write", user.org_id, if_match=if_match, is_own=True)


async def _read_nothing(caller: Subject) -> None:
    return None


async def admit(
    service: Service,
    authorization: str | None,
    permission: Permission,
    org_id: str | None,
    if_match: int | None = None,
    read_ahead: ReadAhead = _read_nothing,
) -> Call:
    """Authenticates the caller and returns the call, if the caller has the permission.

    `authorization` is the header of that name, `org_id` the value of the header x-<vendor>-orgid,
    and `if_match` the `sequence` of the header If-Match. `read_ahead` is awaited with the caller,
    while the caller's permissions are read; it returns None if the call is not carried out
    immediately. Raises Unauthenticated, PermissionDenied,
    NotFound (the organization; only callers who may act in every organization learn that it does
    not exist).
    """
    bearer = await authenticate(service, authorization)
    caller = bearer.user
    # Before the permissions are checked, so that the log names the caller of a refused call, too.
    logs.bind(caller=caller.id)
    if bearer.token.act is not None and permission not in _FOR_ACTORS:
        message = "a token that acts for another user can only read"
        raise PermissionDenied(message, error_code="token.actor")
    rights, reads = await asyncio.gather(
        permissions.of_user(service, caller.id), read_ahead(bearer.subject)
    )
    signed_in = bearer.token.auth_time
    call = Call(
        caller,
        rights,
        permission,
        org_id,
        if_match,
        is_by_pat=bearer.is_pat,
        authenticated_at=datetime.fromtimestamp(signed_in, UTC) if signed_in else None,
        own_organization=None if reads is None else bearer.subject.organization,
        reads=reads,
    )
    return await admitted(service, call)


async def admitted(service: Service, call: Call) -> Call:
    """Checks that the caller has the call's permission in the organization that the call names,
    or, if it names none, in at least one organization, and returns the call unchanged.

    Raises PermissionDenied, NotFound (the organization).
    """
    if call.org_id is not None:
        header = f"x-{service.config.vendor}-orgid"
        organization = await find_organization(service, call, call.org_id, header)
        logs.bind(org_id=organization.id)
    elif not call.rights.allow_somewhere(call.permission):
        raise _denied(call.permission)
    return call


def check_service(call: Call) -> None:
    """Checks that the caller is a service user with a personal access token, as the calls that
    import or export all data require.

    Raises PermissionDenied if the caller is a person or sent another kind of token.
    """
    if call.caller.kind != "machine" or not call.is_by_pat:
        message = "only a service user with a personal access token may do this"
        raise PermissionDenied(message, error_code="caller.not_a_service")


def is_refused(service: Service, authorization: str | None) -> bool:
    """Returns whether `authenticate` refuses this header, as far as this is known without a read
    of the store."""
    try:
        token = bearer_tokens.read(authorization, Params())
    except InvalidToken:
        return True
    return access_token_verification.is_refused(service, token)


async def authenticate(service: Service, authorization: str | None) -> Bearer:
    """Returns the user and the claims of the bearer token in the header Authorization: a personal
    access token, or an access token for this service.

    Raises Unauthenticated, also for a token whose audience is another resource server (RFC 9068
    4).
    """
    try:
        bearer = await bearer_tokens.authenticate(
            service, bearer_tokens.read(authorization, Params())
        )
    except (InvalidToken, InsufficientScope, InvalidRequest) as error:
        # An error without a description means that no token was sent (RFC 6750 3.1).
        error_code = "token.invalid" if error.description else NO_TOKEN
        raise Unauthenticated(
            error.description or "a token is required", error_code=error_code
        ) from error
    if service.config.issuer not in bearer.token.aud:
        raise Unauthenticated("the token is not meant for this API", error_code="token.audience")
    return bearer


async def organization(service: Service, call: Call) -> Organization:
    """Returns the organization that the call acts in: the one it names, or else the caller's own.

    Raises PermissionDenied, NotFound.
    """
    return await find_organization(service, call, call.org_id or call.caller.org_id)


async def organization_at_admission(service: Service, call: Call) -> Organization:
    """Returns what `organization` returns, or the caller's own organization as it was read when
    the call was admitted: for a plan that is not made a second time. Raises the same errors."""
    own = call.own_organization
    if own is not None and call.org_id in (None, own.id) and call.reaches(own.id):
        return own
    return await organization(service, call)


async def find_organization(
    service: Service, call: Call, org_id: str, field: str = ""
) -> Organization:
    """Returns the organization with this id, which `field` names, if the call may act in it.
    Raises PermissionDenied, NotFound."""
    # Before the store is read: the answer must not show whether the organization exists.
    if not call.reaches(org_id):
        raise _denied(call.permission)
    organization = await service.store.get(ORGANIZATIONS, org_id) if len(org_id) <= 200 else None
    if organization is None:
        raise _no_organization(field)
    return organization


async def find_organization_by_domain(service: Service, call: Call, domain: str) -> Organization:
    """Returns the organization that has verified the domain, if the call may act in it.

    Raises PermissionDenied, NotFound (only for callers who may act in every organization).
    """
    org_id = await org_domains.owner(service, domain)
    if org_id is not None:
        return await find_organization(service, call, org_id)
    if call.permission not in call.rights.everywhere:
        raise _denied(call.permission)
    raise _no_organization()


def _denied(permission: Permission) -> PermissionDenied:
    return PermissionDenied(f"the permission {permission} is missing")


def _no_organization(field: str = "") -> NotFound:
    return NotFound("there is no such organization", error_code=NO_ORGANIZATION, field=field)
