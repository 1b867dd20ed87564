"""Second factors: which a person has set up, and which their organization lets count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.records import PASSKEYS, LoginRules, User
from idp.service import Service

TOTP: Final = "totp"
PASSKEY: Final = "passkey"
RECOVERY_CODES: Final = "recovery-codes"
ADDABLE: Final = frozenset({TOTP})  # those that people can set up in a sign-in


def allowed(rules: LoginRules) -> frozenset[str]:
    """What counts as a second factor there."""
    switches: Mapping[str, bool] = {
        TOTP: "otp" in rules.second_factors,
        PASSKEY: "u2f" in (*rules.second_factors, *rules.multi_factors),
    }
    return frozenset(kind for kind, is_on in switches.items() if is_on)


async def of_user(service: Service, user: User) -> frozenset[str]:
    """What the person has set up, whether it counts or not."""
    passkeys = await service.store.find(
        PASSKEYS, {"user_id": user.id}, order="created_at", limit=1
    )
    held = {TOTP: user.totp is not None, PASSKEY: bool(passkeys.records)}
    return frozenset(kind for kind, is_held in held.items() if is_held)
