"""Links to set a password, with a long secret that is sent to the user's mailbox only.

Opening a link does not use it up, because mail scanners open links too; setting the password does.
A link is valid only while password, e-mail address and security stamp of the user stay the same.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from msgspec import Struct, structs

from idp.config.settings import Config
from idp.foundation import base64url, opaque_tokens
from idp.identity.users import lookup as user_lookup
from idp.identity.users.subjects import Subject, is_active
from idp.keys.master_key import WrongKey
from idp.records import VERIFICATIONS, User, Verification
from idp.service import Service
from storage import Delete, Insert

PAGE: Final = "/ui/reset"
COOKIE_SECONDS: Final = 600
_COOKIE: Final = "reset-link"


class LinkRefused(Exception):
    """The link was used, has expired, or never existed."""


class OpenedLink(Struct, frozen=True):
    """A valid link: the user whose password it sets, and the write that uses it up, for the unit
    that stores the password."""

    subject: Subject
    use_write: Delete


def issue(user: User) -> str:
    """Returns the text that codes and links for a new password of the user are bound to: the
    user's security stamp and e-mail address.

    A change of either makes them invalid.
    """
    return f"{user.stamp}\n{user.email.address if user.email else ''}"


def add_key(service: Service, user: User | None, insertion: Insert) -> tuple[str, Insert]:
    """Returns the secret key of a new link, and the write `insertion`, which inserts the link's
    `Verification`, with the key's MAC added to it.

    Without a user (None) the link is never valid.
    """
    verification, secret = insertion.record, service.random.token()
    bound_to = issue(user) if user else ""
    mac = _mac(service, verification.id, bound_to, secret)
    return verification.id + secret, structs.replace(
        insertion, record=structs.replace(verification, key_mac=mac)
    )


def address(config: Config, key: str, **query: str) -> str:
    """Returns the URL of the link in a mail; `query` are further parameters."""
    return f"{config.issuer}{PAGE}?{urlencode({'key': key} | query)}"


def id_of(key: str) -> str | None:
    """Returns the public part of a key, which identifies its link; None if the text is not a
    key."""
    parts = opaque_tokens.split(key)
    return parts[0] if parts else None


def seal(service: Service, key: str) -> str:
    """Returns the key encrypted for a cookie, with the time until which it is valid."""
    until = int(service.clock.now().timestamp()) + COOKIE_SECONDS
    return service.master_key.seal(f"{until}\n{key}", _COOKIE)


def unseal(service: Service, sealed: str, link_id: str) -> str:
    """Returns the key of this link from its encrypted cookie. Raises LinkRefused if the cookie is
    too old or is that of another link."""
    try:
        until, _, key = service.master_key.open(sealed, _COOKIE).decode().partition("\n")
    except WrongKey:
        raise LinkRefused("the cookie of the browser has no key") from None
    if int(until) <= service.clock.now().timestamp():
        raise LinkRefused("the key in the cookie of the browser is too old")
    if id_of(key) != link_id:
        raise LinkRefused("the cookie of the browser has the key of another link")
    return key


async def find(service: Service, key: str) -> OpenedLink:
    """Returns the link with this key. Raises LinkRefused unless it is valid."""
    parts = opaque_tokens.split(key)
    verification = await service.store.get(VERIFICATIONS, parts[0]) if parts else None
    subject = (
        await user_lookup.find_subject(service, verification.user_id) if verification else None
    )
    if parts is None or verification is None or subject is None or not is_active(subject):
        raise LinkRefused("no valid link has this ID")
    expected = _mac(service, verification.id, issue(subject.user), parts[1])
    if not opaque_tokens.equal(verification.key_mac or "", expected):
        raise LinkRefused("the link's secret is wrong, or the user has changed since")
    return OpenedLink(subject=subject, use_write=use_write(verification))


def use_write(verification: Verification) -> Delete:
    """Returns the write that uses up a code or link. Of two concurrent units with it, one fails
    with Stale."""
    return Delete(VERIFICATIONS, verification.id, expect={"user_id": verification.user_id})


def _mac(service: Service, reset_id: str, bound_to: str, secret: str) -> str:
    return base64url.encode(
        service.master_key.mac("reset-link", f"{reset_id}\n{bound_to}\n{secret}")
    )
