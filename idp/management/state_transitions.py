"""The changes of state that calls make to a user, an organization, a project or an application."""

from __future__ import annotations

from msgspec import Struct

from idp.foundation.randomness import Random


class StateTransition(Struct, frozen=True):
    """A change of a record's state: the states `before` in which it is allowed, the state `after`
    it, and the type of its event.

    With `ends_tokens` all sessions and tokens issued to the record or for it end, and no later
    transition restores them.
    """

    before: tuple[str, ...]
    after: str
    event_type: str
    ends_tokens: bool

    def stamp(self, random: Random, current: str) -> str:
        """Returns the record's security stamp after the transition: a new one if sessions and
        tokens end, otherwise the current one.

        Sessions and tokens contain the stamp of the time they were issued, and end when it
        changes.
        """
        return random.token(bits=64) if self.ends_tokens else current
