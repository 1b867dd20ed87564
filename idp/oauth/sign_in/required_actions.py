"""What is still due of a person who has proven something, before they are signed in."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from idp.identity import authentication_context
from idp.identity.factors.second_factors import PASSKEY, TOTP

# What a factor makes of a password.
_MAKES: Final[Mapping[str, str]] = {
    TOTP: authentication_context.TWO_FACTORS,
    PASSKEY: authentication_context.PASSKEY,
}


class What(StrEnum):
    """What a person has to do, or may be asked to."""

    FACTOR = "factor"
    PASSWORD = "password"  # noqa: S105 - a step
    KEEP_CODES = "keep-codes"
    ADD = "add"
    ENROL = "enrol"
    OFFER = "offer"
    NOT_POSSIBLE = "not-possible"


class Due(Struct, frozen=True):
    """The next of it; `factors` are those that will do."""

    what: What
    factors: frozenset[str] = frozenset()


class Situation(Struct, frozen=True, kw_only=True):
    """Where a person stands. `reached` is the class of what was proven (a password that is still
    to be chosen counts), `demanded` the one without which there is no sign-in, `wished` one that
    they go for if they can.

    `factors` are those that they have set up and that count; `addable` those that they may set up;
    `offers` says that they are asked to if they have none. `is_adding`: they want to set one up
    now; `holds_codes`: recovery codes are shown to them.
    """

    reached: str
    demanded: str = authentication_context.PASSWORD
    wished: str = authentication_context.PASSWORD
    factors: frozenset[str] = frozenset()
    addable: frozenset[str] = frozenset()
    needs_password: bool = False
    holds_codes: bool = False
    is_adding: bool = False
    offers: bool = False


def due(about: Situation) -> Due | None:
    """What comes next; None when they can be signed in.

    Whoever has a factor is asked for it before they can change anything of their account.
    """
    goal = authentication_context.strongest(about.demanded, about.wished)
    if about.factors and not authentication_context.meets(
        about.reached, authentication_context.TWO_FACTORS
    ):
        return Due(What.FACTOR, _reaching(about.factors, goal) or about.factors)
    if not authentication_context.meets(about.reached, goal) and _reaching(about.factors, goal):
        return Due(What.FACTOR, _reaching(about.factors, goal))
    if about.needs_password:
        return Due(What.PASSWORD)
    if about.holds_codes:
        return Due(What.KEEP_CODES)
    if about.is_adding:
        return Due(What.ADD)
    return _of_setting_up(about)


def _of_setting_up(about: Situation) -> Due | None:
    if not authentication_context.meets(about.reached, about.demanded):
        needed = _reaching(about.addable, about.demanded)
        return Due(What.ENROL, needed) if needed else Due(What.NOT_POSSIBLE)
    if about.offers and about.addable and not about.factors:
        return Due(What.OFFER, about.addable)
    return None


def _reaching(kinds: frozenset[str], wanted: str) -> frozenset[str]:
    return frozenset(kind for kind in kinds if authentication_context.meets(_MAKES[kind], wanted))
