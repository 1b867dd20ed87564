"""The authentication of a user: its strength (`acr`) and its methods (`amr`, RFC 8176).

Methods are recorded by their `amr` values: `pwd` for a password; `fed` for a sign-in at another
identity provider, which is as strong as a password; `otp` for a code of an
authenticator app or a recovery code; `hwk` or `swk` with `user` for a passkey, and `mfa` if its
device verified the user. Clients get `mfa` also if two kinds of methods were used.
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
AMR_FEDERATED: Final = "fed"
AMR_CODE: Final = "otp"
AMR_SEVERAL: Final = "mfa"
AMR_KEYS: Final = frozenset({"hwk", "swk"})

# The methods that a second factor is added to.
FIRST_FACTORS: Final = frozenset({AMR_PASSWORD, AMR_FEDERATED})
# From the weakest to the strongest; each meets all that precede it.
CLASSES: Final = (PASSWORD, TWO_FACTORS, PASSKEY)


def acr_of(methods: Iterable[str]) -> str:
    """Returns the authentication context class (`acr`) that these methods reach; an empty string
    if they are not enough to sign in."""
    distinct = set(methods)
    if distinct & AMR_KEYS and AMR_SEVERAL in distinct:
        return PASSKEY
    if not distinct & FIRST_FACTORS:
        return ""
    return TWO_FACTORS if distinct & {AMR_CODE, *AMR_KEYS} else PASSWORD


def amr(methods: Sequence[str]) -> list[str]:
    """Returns the `amr` claim for these methods: with `mfa` added if they reach two factors."""
    additional_methods = [AMR_SEVERAL] if meets(acr_of(methods), TWO_FACTORS) else []
    return list(dict.fromkeys([*methods, *additional_methods]))


def methods_of(amr: Iterable[str], acr: str) -> list[str]:
    """Returns the methods that a session or token was made from, from its `amr` and `acr`.

    The value `mfa` is left out if `amr()` added it for two factors; the `mfa` of a passkey
    remains.
    """
    return [each for each in amr if acr == PASSKEY or each != AMR_SEVERAL]


def weakest(classes: Iterable[str]) -> str:
    """Returns the weakest of the `acr` classes; that of a password if none of them is in
    `CLASSES`."""
    return min((each for each in classes if each in CLASSES), key=CLASSES.index, default=PASSWORD)


def strongest(*classes: str) -> str:
    """Returns the strongest of the `acr` classes; that of a password if none of them is in
    `CLASSES`."""
    return max((each for each in classes if each in CLASSES), key=CLASSES.index, default=PASSWORD)


def acr_claim(reached: str, requested: Sequence[str]) -> str:
    """Returns the `acr` claim for a client: the first of the `requested` classes that a sign-in of
    the class `reached` meets, else `reached`."""
    return next((each for each in requested if meets(reached, each)), reached)


def meets(reached: str, requested: str) -> bool:
    """Returns whether a sign-in of the class `reached` is at least as strong as the class
    `requested`. Only an equal class meets one outside `CLASSES`."""
    if reached not in CLASSES:
        return reached == requested
    return requested in CLASSES[: CLASSES.index(reached) + 1]


def offered(config: Config) -> tuple[str, ...]:
    """Returns the `acr` classes that users can reach in this installation, the weakest first."""
    has_passkeys = webauthn.relying_party(config) is not None
    return CLASSES if has_passkeys else CLASSES[: CLASSES.index(PASSKEY)]


def can_meet(config: Config, requested: Sequence[str]) -> bool:
    """Returns whether a sign-in here can meet one of the `requested` classes."""
    return any(
        meets(each, each_requested) for each in offered(config) for each_requested in requested
    )
