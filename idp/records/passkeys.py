"""Passkeys: the public keys of users' devices (WebAuthn)."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from storage import Collection, Record


class Passkey(Record):
    """A passkey of a user; the id is the digest of the credential's id, so that it is registered
    once.

    `credential_id` and `public_key` (a COSE key, RFC 9052) are base64url. `sign_count` is the
    device's counter at the last use. A key that `is_backup_eligible` may leave its device, one
    that `is_backed_up` has been copied, usually to the user's account at the device's vendor.
    """

    user_id: str
    credential_id: str
    public_key: str
    name: str
    created_at: datetime
    changed_at: datetime
    aaguid: str = ""
    transports: list[str] = []
    sign_count: int = 0
    is_backup_eligible: bool = False
    is_backed_up: bool = False
    last_used_at: datetime | None = None
    sequence: int = 1


PASSKEYS: Final = Collection("passkeys", Passkey, lists=(("user_id", "created_at"),))
