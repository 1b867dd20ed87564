"""The kernel's state of a client's socket: unacknowledged bytes, and a reset at closing."""

from __future__ import annotations

import fcntl
import socket
import struct
import termios
from contextlib import suppress


def unacknowledged(connection: socket.socket) -> int:
    """Returns how many bytes the kernel has of this connection that the other side has not
    acknowledged; 0 where the kernel does not report it."""
    try:
        answer = fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4))
    except OSError:
        return 0
    return int(struct.unpack("i", answer)[0])


def reset_at_close(connection: socket.socket) -> None:
    """Has the connection reset when it is closed. What the other side has not received is
    discarded, and it gets an error instead of the end of the data."""
    with suppress(OSError):  # it is closed already
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
