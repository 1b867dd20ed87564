"""The next action of a user who has authenticated in part, before they are signed in."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from idp.identity import authentication_context
from idp.identity.factors.second_factors import PASSKEY, TOTP

# The authentication context that a password reaches with this second factor.
_REACHED_WITH: Final[Mapping[str, str]] = {
    TOTP: authentication_context.TWO_FACTORS,
    PASSKEY: authentication_context.PASSKEY,
}


class ActionKind(StrEnum):
    """The kinds of actions that a sign-in requires of a user, or offers."""

    FACTOR = "factor"
    PASSWORD = "password"  # noqa: S105 - a step
    CONFIRM_CODES = "keep-codes"
    ADD = "add"
    ENROL = "enrol"
    OFFER = "offer"
    NOT_POSSIBLE = "not-possible"


class RequiredAction(Struct, frozen=True):
    """The next action of a user; `factors` are the second factors that it accepts."""

    kind: ActionKind
    factors: frozenset[str] = frozenset()


class Situation(Struct, frozen=True, kw_only=True):
    """The facts about a user and a sign-in that decide on the next action.

    `reached` is the authentication context so far (a password that is still to be chosen is
    included), `required` the one below which there is no sign-in, `requested` the one to reach if
    the user can. `factors` are the second factors that the user has set up and that are allowed;
    `addable` those that the user may set up. `offers` is whether a user without a second factor is
    asked to set one up, `is_adding` whether the user has chosen to, and `has_unconfirmed_codes`
    whether the user has not confirmed new recovery codes yet.
    """

    reached: str
    required: str = authentication_context.PASSWORD
    requested: str = authentication_context.PASSWORD
    factors: frozenset[str] = frozenset()
    addable: frozenset[str] = frozenset()
    needs_password: bool = False
    has_unconfirmed_codes: bool = False
    is_adding: bool = False
    offers: bool = False


def next_action(situation: Situation) -> RequiredAction | None:
    """Returns the next action of the user; None when the user can be signed in.

    A user with a second factor is asked for it before they can change anything of the account.
    """
    goal = authentication_context.strongest(situation.required, situation.requested)
    if situation.factors and not authentication_context.meets(
        situation.reached, authentication_context.TWO_FACTORS
    ):
        # A factor that does not reach the goal still protects the account, so one is asked for in
        # any case.
        return RequiredAction(
            ActionKind.FACTOR, _reaching(situation.factors, goal) or situation.factors
        )
    if not authentication_context.meets(situation.reached, goal) and _reaching(
        situation.factors, goal
    ):
        return RequiredAction(ActionKind.FACTOR, _reaching(situation.factors, goal))
    if situation.needs_password:
        return RequiredAction(ActionKind.PASSWORD)
    if situation.has_unconfirmed_codes:
        return RequiredAction(ActionKind.CONFIRM_CODES)
    if situation.is_adding:
        return RequiredAction(ActionKind.ADD)
    return _enrolment_action(situation)


def _enrolment_action(situation: Situation) -> RequiredAction | None:
    if not authentication_context.meets(situation.reached, situation.required):
        needed = _reaching(situation.addable, situation.required)
        return (
            RequiredAction(ActionKind.ENROL, needed)
            if needed
            else RequiredAction(ActionKind.NOT_POSSIBLE)
        )
    if situation.offers and situation.addable and not situation.factors:
        return RequiredAction(ActionKind.OFFER, situation.addable)
    return None


def _reaching(kinds: frozenset[str], acr: str) -> frozenset[str]:
    return frozenset(
        kind for kind in kinds if authentication_context.meets(_REACHED_WITH[kind], acr)
    )
