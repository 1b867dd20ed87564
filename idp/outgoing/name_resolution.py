"""Addresses of host names: from /etc/hosts, or from the machine's name servers.

The operating system's look-up (`getaddrinfo`) can't be interrupted, and takes half a minute if the
servers of a name do not answer. So names are looked up without it, for two seconds at most, and a
failure is repeated from memory for a short time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from socket import inet_aton
from typing import Final

from idp.outgoing import name_servers

HOSTS: Final = Path("/etc/hosts")
FAILURE_SECONDS: Final = 10.0
MAX_FAILURES: Final = 1000
_LOCAL: Final = ("127.0.0.1", "::1")  # RFC 6761 6.3
_TYPES: Final = ("A", "AAAA")

Address = IPv4Address | IPv6Address
AskServers = Callable[[str], Awaitable[Sequence[str]]]


class NotResolved(OSError):
    """The name has no address, or no server answered; the text is the reason, for the log."""


class NameResolution:
    """The look-ups of a process, with those that failed a short time ago.

    `ask` returns the addresses that name servers give, or raises OSError.
    """

    def __init__(
        self,
        ask: AskServers | None = None,
        hosts: HostsFile | None = None,
        seconds: float = name_servers.SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask or ask_servers
        self._hosts = hosts or HostsFile()
        self._seconds = seconds
        self._failures = _Failures(now)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        """Returns the addresses of a host. Raises OSError."""
        address = literal_address(host)
        if address is not None:
            return [str(address)]
        name = host.rstrip(".").lower()
        return self._hosts.addresses(name) or _local(name) or await self._look_up(host.lower())

    async def _look_up(self, name: str) -> Sequence[str]:
        self._failures.refuse(name)
        try:
            async with asyncio.timeout(self._seconds):
                return await self._ask(name)
        except OSError as error:  # TimeoutError is one
            reason = str(error) or f"{name}: no name server answered within {self._seconds:g} s"
            self._failures.add(name, reason)
            raise NotResolved(reason) from error


class HostsFile:
    """The addresses of names in a file of hosts(5), which is read again when it has changed."""

    def __init__(self, path: Path = HOSTS) -> None:
        self._path = path
        self._version: tuple[int, int] | None = None
        self._names: Mapping[str, Sequence[str]] = {}

    def addresses(self, name: str) -> Sequence[str]:
        """Returns the addresses of a name, in their order in the file."""
        try:
            found = self._path.stat()
        except OSError:
            return ()
        version = found.st_mtime_ns, found.st_size
        if version != self._version:
            self._names = _hosts(self._path)
            self._version = version
        return self._names.get(name, ())


def _hosts(path: Path) -> Mapping[str, Sequence[str]]:
    names: dict[str, list[str]] = {}
    with suppress(OSError):
        for line in path.read_text("utf-8", "replace").splitlines():
            address, *hosts = line.partition("#")[0].split() or [""]
            with suppress(ValueError):
                ip_address(address)
                for name in hosts:
                    names.setdefault(name.lower(), []).append(address)
    return names


class _Failures:
    """The names whose look-up has failed, the oldest first, with the reason."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._reasons: dict[str, tuple[float, str]] = {}

    def refuse(self, name: str) -> None:
        """Raises NotResolved if the look-up of this name failed a short time ago."""
        failed_at, reason = self._reasons.get(name, (None, ""))
        if failed_at is not None and self._now() - failed_at < FAILURE_SECONDS:
            raise NotResolved(reason)

    def add(self, name: str, reason: str) -> None:
        self._reasons.pop(name, None)
        if len(self._reasons) >= MAX_FAILURES:
            del self._reasons[next(iter(self._reasons))]
        self._reasons[name] = self._now(), reason


def literal_address(host: str) -> Address | None:
    """Returns the address that a host consists of, without resolving it, also in the forms of IPv4
    that the operating system understands (127.1, 2130706433, 0x7f000001); None for a name."""
    name = host.rstrip(".")
    with suppress(ValueError):
        return ip_address(name)
    with suppress(OSError, UnicodeError):
        return IPv4Address(inet_aton(name))
    return None


def _local(name: str) -> Sequence[str]:
    return _LOCAL if name == "localhost" or name.endswith(".localhost") else ()


async def ask_servers(name: str) -> Sequence[str]:
    """Returns the addresses that the machine's name servers give: IPv4 first, with the search
    domains of resolv.conf(5). Raises NotResolved."""
    resolver = await name_servers.resolver()
    from dns.exception import DNSException

    look_ups = [resolver.resolve(name, each, search=True) for each in _TYPES]
    answers = await asyncio.gather(*look_ups, return_exceptions=True)
    failed = [each for each in answers if isinstance(each, BaseException)]
    for error in failed:
        if not isinstance(error, DNSException | OSError):
            raise error
    if len(failed) == len(_TYPES):
        raise NotResolved(f"{name}: {type(failed[0]).__name__}") from failed[0]
    found = [each for each in answers if not isinstance(each, BaseException)]
    return [record.address for answer in found for record in answer]
