"""The TLS certificate: how its files become a context, and how a new one is noticed."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from idp.config.settings import Config
from idp.foundation import logs
from idp.foundation.errors import ConfigError

LOOK_SECONDS: Final = 30.0
RETRY_SECONDS: Final = 1.0  # a pair that does not fit is probably being written
TRIES: Final = 3
_TLS_1_2_SUITES: Final = "ECDHE+AESGCM:ECDHE+CHACHA20"

_log: Final = logs.logger(__name__)

_State = tuple[tuple[int, int, int], ...]


def context(config: Config) -> ssl.SSLContext | None:
    """Returns the context for the configured certificate; None without one.

    Raises ConfigError if the files can't be used.
    """
    if config.tls_cert is None:
        return None
    try:
        return _context(config.tls_cert, config.tls_key)
    except OSError as error:
        raise ConfigError([f"tls_cert and tls_key can't be used: {error}"]) from error


def _context(chain: str, key: str | None) -> ssl.SSLContext:
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    # Without a password, OpenSSL would ask for the one of an encrypted key, and wait.
    made.load_cert_chain(chain, key, "")
    # Of TLS 1.2, suites with authenticated encryption and forward secrecy only (RFC 9325 4.2);
    # those of TLS 1.3 all have both, and are not chosen here.
    made.set_ciphers(_TLS_1_2_SUITES)
    return made


class CertificateWatch:
    """Checks the files of the certificate, and calls `use` with a TLS context when a new pair of
    certificate and key is there.

    `chain` and `key` are the paths of the files. A pair that can't be used changes nothing: it is
    tried again, and logged after three tries.
    """

    def __init__(self, chain: str, key: str | None, use: Callable[[ssl.SSLContext], None]) -> None:
        self._chain = chain
        self._key = key
        self._use = use
        self._seen = self._state()
        self._tries = 0
        self._asked = asyncio.Event()

    def look_now(self) -> None:
        """Makes `run` check the files at once."""
        self._asked.set()

    async def run(self) -> None:
        """Calls `look` every LOOK_SECONDS, and whenever `look_now` was called, until it is
        cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(RETRY_SECONDS if self._tries else LOOK_SECONDS):
                    await self._asked.wait()
            self._asked.clear()
            await self.look()

    async def look(self) -> None:
        """Checks the files once: if one has changed since the pair that was last used or given up,
        uses the new pair."""
        state = await asyncio.to_thread(self._state)
        if state == self._seen:
            return
        try:
            made = await asyncio.to_thread(_context, self._chain, self._key)
        except OSError as error:
            self._failed(state, error)
            return
        self._seen, self._tries = state, 0
        self._use(made)
        _log.info("a new certificate is in use", file=self._chain)

    def _failed(self, state: _State, error: OSError) -> None:
        self._tries += 1
        if self._tries >= TRIES:
            self._seen, self._tries = state, 0
            _log.error(
                "the new certificate can't be used; the one before stays in use",
                file=self._chain,
                cause=str(error),
            )

    def _state(self) -> _State:
        """Returns what changes when a file is written or replaced, also behind symbolic links."""
        return tuple(_stat(file) for file in (self._chain, self._key) if file)


def _stat(file: str) -> tuple[int, int, int]:
    try:
        found = os.stat(file)
    except OSError:
        return (0, 0, 0)
    return (found.st_ino, found.st_size, found.st_mtime_ns)
