"""The port that the processes of the service share.

The supervisor holds a socket that reserves the port and never listens, so that no other service
gets it while workers are replaced. Each worker has a socket of its own (SO_REUSEPORT), which
listens once its store is open.

A socket that the service manager listens on (sd_listen_fds(3)) is shared by all workers instead.
It listens on while no service runs, so that a restart refuses no connection.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from ipaddress import ip_address
from typing import Final

from idp.config.loading import pop_from_environment
from idp.foundation.errors import ConfigError

BACKLOG: Final = 1024  # connections that the kernel queues before they are accepted
_FIRST_PASSED_DESCRIPTOR: Final = 3  # SD_LISTEN_FDS_START


class ManagersSocket(socket.socket):
    """A socket that the service manager listens on as well, before and after this service."""


def socket_from_manager() -> ManagersSocket | None:
    """Returns the listening socket that the service manager has passed to this process; None
    without one. Raises ConfigError if it can't be used.

    The variables are removed from the environment, so that no child takes the socket as its own.
    """
    process, count = pop_from_environment("LISTEN_PID"), pop_from_environment("LISTEN_FDS")
    pop_from_environment("LISTEN_FDNAMES")
    if count is None or process != str(os.getpid()):
        return None
    if count != "1":
        raise ConfigError([f"the service manager passes {count} sockets: name one ListenStream"])
    passed = ManagersSocket(fileno=_FIRST_PASSED_DESCRIPTOR)
    is_listening = passed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    if passed.family not in (socket.AF_INET, socket.AF_INET6) or not is_listening:
        raise ConfigError(["the service manager's socket must be a ListenStream of TCP"])
    passed.set_inheritable(False)
    passed.setblocking(False)
    return passed


class Port:
    """The host and port of the service, reserved for this process and its children. With
    `is_shared`, each worker has its own socket (SO_REUSEPORT), else there is one socket. `passed`
    is that of the service manager, if there is one."""

    def __init__(
        self, host: str, port: int, *, is_shared: bool, passed: ManagersSocket | None = None
    ) -> None:
        """Raises ConfigError if the address is in use or not one of this machine's, or if the
        manager's socket has another address."""
        self.host = host
        self._is_shared = is_shared
        try:
            if passed is not None:
                _check_address(passed, host, port)
            self._reservation = passed or self._reserve(port)
            self.number: int = self._reservation.getsockname()[1]
        except OSError as error:
            reason = f"{host}:{port} can't be listened on: {error.strerror}"
            raise ConfigError([reason]) from error

    def _reserve(self, port: int) -> socket.socket:
        """Returns the socket that reserves the port.

        A socket with SO_REUSEPORT can be bound to a port that another program of the same user
        already shares. Therefore a socket without it is bound first, which fails if the port is in
        use. It listens until the reservation is bound; otherwise two services that start at the
        same moment could both see the port as free.
        """
        exclusive = self._bind(port, is_shared=False)
        try:
            exclusive.listen(BACKLOG)
            if not self._is_shared:
                return exclusive
            exclusive.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            reservation = self._bind(exclusive.getsockname()[1], is_shared=True)
        except OSError:
            exclusive.close()
            raise
        # Without SO_REUSEADDR, no other user's socket can listen on the port, even while no worker
        # does.
        reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        exclusive.close()
        return reservation

    def worker_socket(self) -> socket.socket:
        """Returns the socket on which a worker is to serve: a new one, which does not listen yet,
        if the port is shared, else the only one."""
        if isinstance(self._reservation, ManagersSocket):
            return self._reservation.dup()
        return self._bind(self.number, is_shared=True) if self._is_shared else self._reservation

    def close(self) -> None:
        """Closes the reserving socket in this process; other processes that hold it are not
        affected."""
        self._reservation.close()

    def _bind(self, port: int, *, is_shared: bool) -> socket.socket:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if is_shared:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            sock.bind((self.host, port))
        except OSError:
            sock.close()
            raise
        sock.setblocking(False)
        return sock


def _check_address(passed: ManagersSocket, host: str, port: int) -> None:
    address, number = passed.getsockname()[:2]
    if not _is_address_of(address, host) or number != port:
        raise ConfigError(
            [
                f"the service manager listens on {address}, port {number}, and the settings host"
                f" and port are {host} and {port}: let both be the same"
            ]
        )


def _is_address_of(address: str, host: str) -> bool:
    try:
        return ip_address(address) == ip_address(host)
    except ValueError:  # a name
        return host == "localhost" and ip_address(address).is_loopback


def stop_listening(listening_socket: socket.socket) -> None:
    """Makes the socket stop listening in every process that holds it; connections that no process
    has accepted yet are reset. The service manager's socket is left as it is."""
    if isinstance(listening_socket, ManagersSocket):
        return
    with suppress(OSError):  # it did not listen yet
        listening_socket.shutdown(socket.SHUT_RDWR)
