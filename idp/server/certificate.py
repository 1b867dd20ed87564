"""The TLS certificate: loads its files into a context, and detects when they are replaced."""

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

CHECK_SECONDS: Final = 30.0
RETRY_SECONDS: Final = 1.0  # files that do not match are probably being written
MAX_ATTEMPTS: Final = 3
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
    tls_context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    # Without a password, OpenSSL would ask for the one of an encrypted key, and wait.
    tls_context.load_cert_chain(chain, key, "")
    # Of TLS 1.2, suites with authenticated encryption and forward secrecy only (RFC 9325 4.2);
    # those of TLS 1.3 all have both, and are not chosen here.
    tls_context.set_ciphers(_TLS_1_2_SUITES)
    return tls_context


class CertificateWatch:
    """Checks the files of the certificate, and calls `use` with a TLS context when a new pair of
    certificate and key has been written.

    `chain` and `key` are the paths of the files. A pair that can't be used changes nothing: it is
    loaded again at the next checks, and logged as an error after three attempts.
    """

    def __init__(self, chain: str, key: str | None, use: Callable[[ssl.SSLContext], None]) -> None:
        self._chain = chain
        self._key = key
        self._use = use
        self._seen_state = self._state()
        self._attempts = 0
        self._check_requested = asyncio.Event()

    def check_now(self) -> None:
        """Makes `run` check the files immediately."""
        self._check_requested.set()

    async def run(self) -> None:
        """Calls `check` every CHECK_SECONDS, and whenever `check_now` was called, until it is
        cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(RETRY_SECONDS if self._attempts else CHECK_SECONDS):
                    await self._check_requested.wait()
            self._check_requested.clear()
            await self.check()

    async def check(self) -> None:
        """Checks the files once, and uses the pair in them if a file has changed. After too many
        attempts, a pair is not loaded again until a file changes."""
        state = await asyncio.to_thread(self._state)
        if state == self._seen_state:
            return
        try:
            tls_context = await asyncio.to_thread(_context, self._chain, self._key)
        except OSError as error:
            self._failed(state, error)
            return
        self._seen_state, self._attempts = state, 0
        self._use(tls_context)
        _log.info("a new certificate is in use", file=self._chain)

    def _failed(self, state: _State, error: OSError) -> None:
        self._attempts += 1
        if self._attempts >= MAX_ATTEMPTS:
            self._seen_state, self._attempts = state, 0
            _log.error(
                "the new certificate can't be used; the previous one stays in use",
                file=self._chain,
                cause=str(error),
            )

    def _state(self) -> _State:
        """Returns a value that changes when a file is written or replaced, also behind symbolic
        links."""
        return tuple(_stat(file) for file in (self._chain, self._key) if file)


def _stat(file: str) -> tuple[int, int, int]:
    try:
        status = os.stat(file)
    except OSError:
        return (0, 0, 0)
    return (status.st_ino, status.st_size, status.st_mtime_ns)
