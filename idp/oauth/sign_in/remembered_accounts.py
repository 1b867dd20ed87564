"""The list of accounts that a browser remembers: users who are signed in there, and who were.

It comes from the browser's own record: no user is listed who did not sign in there.
"""

from __future__ import annotations

from contextlib import suppress

from msgspec import Struct

from idp.identity.sessions import browsers
from idp.identity.sessions.browsers import Cookie
from idp.identity.sessions.lifetime import LiveSession
from idp.identity.users.lookup import address_keys, typed_key
from idp.oauth import reserved_scopes
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import page_branding
from idp.oauth.sign_in.next_step import login_names
from idp.oauth.sign_in.pending import PendingSignIn
from idp.records import ORGANIZATIONS, USERS, Organization, User
from idp.service import Service
from storage import Key, Stale


class RememberedAccount(Struct, frozen=True):
    """An account in the browser's list.

    `live_session` is None for a user who is not signed in; `fits` is false if the request requires
    a user of another organization. `is_hinted` is whether the application's `login_hint` names the
    account.
    """

    user: User
    live_session: LiveSession | None
    fits: bool
    is_hinted: bool


async def find_all(service: Service, flow: PendingSignIn) -> list[RememberedAccount]:
    """Returns the accounts that the browser remembers.

    Those that can sign in here come first, and of them the one of the login hint.
    """
    accounts = [_signed_in(service, flow, account) for account in flow.all_live_sessions]
    accounts += await _signed_out(service, flow)
    return sorted(
        accounts,
        key=lambda account: (
            not account.fits,
            not account.is_hinted,
            account.live_session is None,
        ),
    )


async def pick(service: Service, flow: PendingSignIn, user_id: str) -> bool:
    """Stores the user name of a remembered account in the flow, so that the password is next.

    Returns False when the browser does not remember this user. Raises `Stale` when the flow was
    answered.
    """
    # A form can name any user, so only those of the browser's record are read.
    user = await service.store.get(USERS, user_id) if user_id in flow.browser.remembered else None
    if user is None:
        return False
    await sign_in_flow.enter_login_name(service, flow, user.user_name)
    return True


async def forget(service: Service, flow: PendingSignIn, user_id: str) -> Cookie | None:
    """Removes the user from the accounts that the browser remembers.

    Returns the browser's new cookie, or None when nothing was removed.
    """
    if user_id not in flow.browser.remembered:
        return None
    now = service.clock.now()
    write, cookie = browsers.rotation_without_user(service.random, flow.browser, now, user_id)
    with suppress(Stale):  # another tab was first: the list is displayed again
        await service.store.commit(write)
        return cookie
    return None


def _signed_in(
    service: Service, flow: PendingSignIn, live_session: LiveSession
) -> RememberedAccount:
    hint = typed_key(flow.request.login_hint or "")
    fits = reserved_scopes.admit(
        service.config, flow.request.scopes, live_session.subject.organization
    )
    org_id = page_branding.sign_in_org_id(service, flow.request, flow.client)
    return RememberedAccount(
        live_session.subject.user, live_session, fits, hint in login_names(live_session, org_id)
    )


async def _signed_out(service: Service, flow: PendingSignIn) -> list[RememberedAccount]:
    # A user in both lists is displayed once, as signed in.
    signed_in = {live_session.subject.user.id for live_session in flow.all_live_sessions}
    ids = [id for id in flow.browser.remembered if id not in signed_in]
    records = await service.store.get_many([(USERS, id) for id in ids]) if ids else []
    users = [user for user in records if user is not None]
    keys: list[Key] = [(ORGANIZATIONS, user.org_id) for user in users]
    organizations = await service.store.get_many(keys) if keys else []
    return [_remembered(service, flow, *pair) for pair in zip(users, organizations, strict=True)]


def _remembered(
    service: Service, flow: PendingSignIn, user: User, organization: Organization | None
) -> RememberedAccount:
    hint = typed_key(flow.request.login_hint or "")
    fits = organization is not None and reserved_scopes.admit(
        service.config, flow.request.scopes, organization
    )
    org_id = page_branding.sign_in_org_id(service, flow.request, flow.client)
    names = {user.login_key, *address_keys(user, org_id)}
    return RememberedAccount(user, None, fits, hint in names)
