"""How a person proved who they are: `acr` (how strongly) and `amr` (by what, RFC 8176).

Proofs are written as their `amr`: `pwd`, a password; `otp`, a code that counts once, of an
authenticator app or of a list that was kept; `hwk` or `swk` with `user`, a passkey, and with `mfa`
one whose device made sure of its owner. Where two kinds came together, `mfa` is told, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from idp.config.settings import Config
from idp.identity.factors import webauthn

PASSWORD: Final = "urn:idp:acr:password"  # noqa: S105 - a name, not a secret
TWO_FACTORS: Final = "urn:idp:acr:two-factors"
PASSKEY: Final = "urn:idp:acr:passkey"
AMR_PASSWORD: Final = "pwd"  # noqa: S105 - a name, not a secret
AMR_CODE: Final = "otp"
AMR_SEVERAL: Final = "mfa"
AMR_KEYS: Final = frozenset({"hwk", "swk"})

CLASSES: Final = (PASSWORD, TWO_FACTORS, PASSKEY)  # each is as good as all those before it


def reached(proofs: Iterable[str]) -> str:
    """The class of whoever gave these proofs; none, when nothing of it opens an account."""
    given = set(proofs)
    if given & AMR_KEYS and AMR_SEVERAL in given:
        return PASSKEY
    if AMR_PASSWORD not in given:
        return ""
    return TWO_FACTORS if given & {AMR_CODE, *AMR_KEYS} else PASSWORD


def amr(proofs: Sequence[str]) -> list[str]:
    """What is told of these proofs."""
    several = [AMR_SEVERAL] if meets(reached(proofs), TWO_FACTORS) else []
    return list(dict.fromkeys([*proofs, *several]))


def proofs_of(amr: Iterable[str], acr: str) -> list[str]:
    """The proofs that were told so: without `mfa`, where it only says that there were several."""
    return [each for each in amr if acr == PASSKEY or each != AMR_SEVERAL]


def weakest(classes: Iterable[str]) -> str:
    """The class that is the easiest to reach; a password's, where there is none."""
    return min((each for each in classes if each in CLASSES), key=CLASSES.index, default=PASSWORD)


def strongest(*classes: str) -> str:
    """The class that is as good as all of these."""
    return max((each for each in classes if each in CLASSES), key=CLASSES.index, default=PASSWORD)


def told(reached: str, wanted: Sequence[str]) -> str:
    """The class that a client is told: its first wish that is met, else what was reached."""
    return next((each for each in wanted if meets(reached, each)), reached)


def meets(reached: str, wanted: str) -> bool:
    """Whether a sign-in of the class `reached` is as good as one of the class `wanted`."""
    if reached not in CLASSES:
        return reached == wanted
    return wanted in CLASSES[: CLASSES.index(reached) + 1]


def offered(config: Config) -> tuple[str, ...]:
    """The classes that people can reach here."""
    has_passkeys = webauthn.relying_party(config) is not None
    return CLASSES if has_passkeys else CLASSES[: CLASSES.index(PASSKEY)]


def can_meet(config: Config, wanted: Sequence[str]) -> bool:
    """Whether somebody can sign in here so that one of the `wanted` classes is met."""
    return any(meets(each, one) for each in offered(config) for one in wanted)
