"""The changes of state that calls make to a user, an organization, a project or an application."""

from __future__ import annotations

from msgspec import Struct

from idp.foundation.randomness import Random


class StateTransition(Struct, frozen=True):
    """The states it may begin in, the state after, and the type of the event.

    With `is_end` all that was issued to or for the record ends, and no later transition restores
    it.
    """

    before: tuple[str, ...]
    after: str
    event_type: str
    is_end: bool

    def stamp(self, random: Random, current: str) -> str:
        """Returns the security stamp after the transition.

        Sessions and tokens contain the stamp of the time they were issued, and end when it
        changes.
        """
        return random.token(bits=64) if self.is_end else current
