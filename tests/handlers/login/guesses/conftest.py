"""What of guesses at passwords is compared."""

from __future__ import annotations

import pytest


@pytest.fixture
def compared(server, monkeypatch):
    """The passwords that were compared with a stored hash."""
    found, real = [], server.service.hasher.verify

    async def verify(password, encoded):
        found.append(password)
        return await real(password, encoded)

    monkeypatch.setattr(server.service.hasher, "verify", verify)
    return found
