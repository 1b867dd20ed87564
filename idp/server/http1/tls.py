"""TLS on a connection, between the transport, which has the encrypted bytes, and the stream of
requests and responses.

The event loops implement TLS too, but do not report how much of a response they buffer for a
client that does not read, nor whether a handshake is in progress, and uvloop differs from asyncio.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

_READ_BYTES: Final = 64 * 1024
_DISTRUST: Final = "the client does not trust the certificate"
# What the reasons of OpenSSL mean; others are logged as they are.
_CAUSES: Final[Mapping[str, str]] = {
    "HTTP_REQUEST": "the client sent HTTP without TLS",
    "WRONG_VERSION_NUMBER": "the client sent something else than TLS",
    "UNSUPPORTED_PROTOCOL": "the client speaks older versions of TLS only",
    "NO_SHARED_CIPHER": "the client has none of the accepted cipher suites",
    "TLSV1_ALERT_UNKNOWN_CA": _DISTRUST,
    "SSLV3_ALERT_BAD_CERTIFICATE": _DISTRUST,
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": _DISTRUST,
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": _DISTRUST,
}


class TlsLayer(asyncio.Protocol):
    """The server's side of a TLS connection: a protocol for the transport below it, and a
    transport for the protocol above it, which gets no data before the handshake is complete.

    `on_refusal` is called with the cause if the handshake fails, but not if the client only
    disconnects.
    """

    def __init__(
        self, context: ssl.SSLContext, above: asyncio.Protocol, on_refusal: Callable[[str], None]
    ) -> None:
        self.is_handshaking = True
        self._above = above
        self._on_refusal = on_refusal
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._has_client_ended = False

    # The protocol.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._below: asyncio.Transport = transport  # type: ignore[assignment]
        self._above.connection_made(self)  # type: ignore[arg-type]

    def data_received(self, data: bytes) -> None:
        self._incoming.write(data)
        try:
            if self.is_handshaking:
                self._tls.do_handshake()
                self.is_handshaking = False
                self._send_encrypted()
            self._read()
        except ssl.SSLWantReadError:
            self._send_encrypted()
        except ssl.SSLError as error:
            self._fail(error)

    def _read(self) -> None:
        while not self._has_client_ended and not self._below.is_closing():
            data = self._tls.read(_READ_BYTES)
            if data:
                self._above.data_received(data)
            else:
                self._end()

    def _fail(self, error: ssl.SSLError) -> None:
        """Ends the connection, with the alert that states the cause (RFC 8446 6.2)."""
        if self.is_handshaking:
            reason = error.reason or type(error).__name__
            self._on_refusal(_CAUSES.get(reason, reason))
        self._send_encrypted()
        self._below.close()

    def _end(self) -> None:
        """Reports to the protocol above that the client sends no more."""
        self._has_client_ended = True
        if not self._above.eof_received():
            self.close()

    def eof_received(self) -> bool:
        if self.is_handshaking:
            return False
        if not self._has_client_ended:
            self._end()
        return not self._below.is_closing()

    def connection_lost(self, error: Exception | None) -> None:
        self._above.connection_lost(error)
        self._above = asyncio.Protocol()  # the protocol refers to this layer: the cycle is broken

    def pause_writing(self) -> None:
        self._above.pause_writing()

    def resume_writing(self) -> None:
        self._above.resume_writing()

    # The transport.

    def write(self, data: bytes) -> None:
        """Sends bytes, encrypted."""
        if data and not self._below.is_closing():
            self._tls.write(data)
            self._send_encrypted()

    def write_eof(self) -> None:
        """Ends the sending side, after the alert close_notify (RFC 8446 6.1)."""
        self._send_close_notify()
        self._below.write_eof()

    def close(self) -> None:
        """Closes the connection when everything that was written has been sent."""
        if not self._below.is_closing():
            self._send_close_notify()
            self._below.close()

    def abort(self) -> None:
        """Closes the connection immediately."""
        self._below.abort()

    def is_closing(self) -> bool:
        return self._below.is_closing()

    def pause_reading(self) -> None:
        self._below.pause_reading()

    def resume_reading(self) -> None:
        self._below.resume_reading()

    def get_write_buffer_size(self) -> int:
        return self._below.get_write_buffer_size()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._below.get_extra_info(name, default)

    def _send_close_notify(self) -> None:
        with suppress(ssl.SSLError):  # the client's own close_notify is not waited for
            self._tls.unwrap()
        self._send_encrypted()

    def _send_encrypted(self) -> None:
        encrypted = self._outgoing.read()
        if encrypted and not self._below.is_closing():
            self._below.write(encrypted)
