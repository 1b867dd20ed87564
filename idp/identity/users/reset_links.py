"""Links by which a password is set: a long secret that only its owner's mailbox is told.

Opening one uses nothing up, because machines open links too; setting the password does. It counts
as long as the password, the e-mail address and what was issued to the user are as they were.
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
    """A link that was used or has expired, or never was one."""


class OpenedLink(Struct, frozen=True):
    """A link that counts: whose password it sets, and what spends it."""

    subject: Subject
    spent: Delete


def issue(user: User) -> str:
    """What a code or a link counts for; a new stamp, as a new password brings one, ends it."""
    return f"{user.stamp}\n{user.email.address if user.email else ''}"


def add_key(service: Service, user: User | None, made: Insert) -> tuple[str, Insert]:
    """A key for a link, and the write of a `Verification` with it. Nobody's opens nothing."""
    verification, secret = made.record, service.random.token()
    counts_for = issue(user) if user else ""
    mac = _mac(service, verification.id, counts_for, secret)
    return verification.id + secret, structs.replace(
        made, record=structs.replace(verification, key_mac=mac)
    )


def address(config: Config, key: str, **query: str) -> str:
    """The address that a mail leads to."""
    return f"{config.issuer}{PAGE}?{urlencode({'key': key} | query)}"


def id_of(key: str) -> str | None:
    """The part of a key that names its link, and opens nothing; None: it is no key."""
    parts = opaque_tokens.split(key)
    return parts[0] if parts else None


def seal(service: Service, key: str) -> str:
    """The key as the browser keeps it for a while."""
    until = int(service.clock.now().timestamp()) + COOKIE_SECONDS
    return service.vault.seal(f"{until}\n{key}", _COOKIE)


def unseal(service: Service, sealed: str, link_id: str) -> str:
    """The key of this link that `seal` was given. Raises LinkRefused: too old, or another's."""
    try:
        until, _, key = service.vault.open(sealed, _COOKIE).decode().partition("\n")
    except WrongKey:
        raise LinkRefused("the browser keeps no key") from None
    if int(until) <= service.clock.now().timestamp():
        raise LinkRefused("the browser has kept the key for too long")
    if id_of(key) != link_id:
        raise LinkRefused("the browser keeps the key of another link")
    return key


async def find(service: Service, key: str) -> OpenedLink:
    """Whom the link lets choose a password. Raises LinkRefused."""
    parts = opaque_tokens.split(key)
    found = await service.store.get(VERIFICATIONS, parts[0]) if parts else None
    subject = await user_lookup.find_subject(service, found.user_id) if found else None
    if parts is None or found is None or subject is None or not is_active(subject):
        raise LinkRefused("the link names nothing that waits")
    expected = _mac(service, found.id, issue(subject.user), parts[1])
    if not opaque_tokens.same(found.key_mac or "", expected):
        raise LinkRefused("the link's secret is wrong, or the user has changed since")
    return OpenedLink(subject=subject, spent=spending(found))


def spending(found: Verification) -> Delete:
    """The write that uses up a code or a link. Of two at once, one is Stale."""
    return Delete(VERIFICATIONS, found.id, expect={"user_id": found.user_id})


def _mac(service: Service, id: str, counts_for: str, secret: str) -> str:
    return base64url.encode(service.vault.mac("reset-link", f"{id}\n{counts_for}\n{secret}"))
