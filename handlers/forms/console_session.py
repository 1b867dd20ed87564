"""The console's signed-in person with their permissions and organizations."""

from __future__ import annotations

from handlers.pages.signed_in_page import SignedIn
from idp.identity.users.permissions import Rights


class ConsoleSession(SignedIn, frozen=True):
    """The person who is signed in to the console, with their current permissions."""

    rights: Rights

    @property
    def may_open_console(self) -> bool:
        """Whether the person's permissions open any page of the console."""
        return may_open_console(self.rights)

    @property
    def default_org_id(self) -> str:
        """The id of the default organization: the person's own if they manage it, else one of
        those that they manage."""
        own_org_id, managed = self.user.org_id, self.rights.by_organization
        if self.rights.everywhere or own_org_id in managed or not managed:
            return own_org_id
        # The same organization in every request.
        return min(managed)

    @property
    def can_switch_organization(self) -> bool:
        """Whether the person manages more than one organization, and so can switch to another
        one."""
        return bool(self.rights.everywhere) or len(self.rights.by_organization) > 1


def may_open_console(rights: Rights) -> bool:
    """Returns whether these permissions open any page of the console."""
    permission_sets = (rights.everywhere, *rights.by_organization.values())
    return any(
        permission.endswith((".read", ".write"))
        for permissions in permission_sets
        for permission in permissions
    )
