"""The console's signed-in person with their permissions and organizations."""

from __future__ import annotations

from handlers.pages.signed_in_page import SignedIn
from idp.identity.users.permissions import Rights


class ConsoleSession(SignedIn, frozen=True):
    """The person who is signed in to the console, with their current permissions."""

    rights: Rights

    @property
    def manages(self) -> bool:
        """Whether the person's permissions open any page of the console."""
        return manages(self.rights)

    @property
    def home(self) -> str:
        """The id of the default organization: the person's own if they manage it, else one of
        those that they manage."""
        own, managed = self.user.org_id, self.rights.by_organization
        if self.rights.everywhere or own in managed or not managed:
            return own
        # The same one in every request.
        return min(managed)

    @property
    def may_change(self) -> bool:
        """Whether the person manages more than one organization, and so may change to another
        one."""
        return bool(self.rights.everywhere) or len(self.rights.by_organization) > 1


def manages(rights: Rights) -> bool:
    """Returns whether these permissions open any page of the console."""
    permission_sets = (rights.everywhere, *rights.by_organization.values())
    return any(
        permission.endswith((".read", ".write")) for one in permission_sets for permission in one
    )
