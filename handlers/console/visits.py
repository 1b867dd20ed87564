"""Who visits the console: a signed-in person, what they manage, and in which organization."""

from __future__ import annotations

from msgspec import Struct

from idp.identity.permissions import Rights
from idp.identity.sessions import LiveSession
from idp.records import Agent, User


class Visit(Struct, frozen=True):
    """One request of a person with their rights as they are now."""

    agent: Agent
    live: LiveSession
    rights: Rights
    several: bool

    @property
    def user(self) -> User:
        return self.live.subject.user

    @property
    def manages(self) -> bool:
        """Whether there is anything for them here."""
        return manages(self.rights)

    @property
    def home(self) -> str:
        """The organization that is meant where the address names none: the person's own, if
        they manage it."""
        own, managed = self.user.org_id, self.rights.by_organization
        if self.rights.everywhere or own in managed or not managed:
            return own
        return min(managed)

    @property
    def may_change(self) -> bool:
        """Whether they manage more than one organization."""
        return bool(self.rights.everywhere) or len(self.rights.by_organization) > 1


def manages(rights: Rights) -> bool:
    """Whether there is anything in the console for somebody with these rights."""
    held = (rights.everywhere, *rights.by_organization.values())
    return any(permission.endswith((".read", ".write")) for one in held for permission in one)


def choose(live: list[LiveSession], session_id: str | None) -> LiveSession | None:
    """The session that was chosen in this browser, or the only one."""
    named = [one for one in live if one.session.id == session_id]
    return named[0] if named else live[0] if len(live) == 1 else None
