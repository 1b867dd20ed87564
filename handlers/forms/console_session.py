"""Who visits the console: a signed-in person, what they manage, and in which organization."""

from __future__ import annotations

from handlers.pages.signed_in_page import SignedIn
from idp.identity.users.permissions import Rights


class ConsoleSession(SignedIn, frozen=True):
    """One request of a person with their rights as they are now."""

    rights: Rights

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
