"""How a person proved who they are: `acr` (how strongly) and `amr` (by what, RFC 8176)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

PASSWORD: Final = "urn:idp:acr:password"  # noqa: S105 - a name, not a secret
TWO_FACTORS: Final = "urn:idp:acr:two-factors"
PASSKEY: Final = "urn:idp:acr:passkey"
AMR_PASSWORD: Final = "pwd"  # noqa: S105 - a name, not a secret

CLASSES: Final = (PASSWORD, TWO_FACTORS, PASSKEY)  # each is as good as all those before it
OFFERED: Final = (PASSWORD,)  # those that people can reach here


def told(reached: str, wanted: Sequence[str]) -> str:
    """The class that a client is told: its first wish that is met, else what was reached."""
    return next((each for each in wanted if meets(reached, each)), reached)


def meets(reached: str, wanted: str) -> bool:
    """Whether a sign-in of the class `reached` is as good as one of the class `wanted`."""
    if reached not in CLASSES:
        return reached == wanted
    return wanted in CLASSES[: CLASSES.index(reached) + 1]


def can_meet(wanted: Sequence[str]) -> bool:
    """Whether somebody can sign in here so that one of the `wanted` classes is met."""
    return any(meets(each, one) for each in OFFERED for one in wanted)
