"""The names that the operator has put into /etc/hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Final

PATH: Final = Path("/etc/hosts")
Names = Mapping[str, Sequence[str]]


class HostsFile:
    """The addresses of names in a file of hosts(5), which is read again when it has changed."""

    def __init__(self, path: Path = PATH) -> None:
        self._path = path
        self._version: tuple[int, int] | None = None
        self._names: Names = {}

    def addresses(self, name: str) -> Sequence[str]:
        """Returns the addresses of a name, in their order in the file."""
        try:
            found = self._path.stat()
        except OSError:
            return ()
        version = found.st_mtime_ns, found.st_size
        if version != self._version:
            self._names = _read(self._path)
            self._version = version
        return self._names.get(name, ())


def _read(path: Path) -> Names:
    names: dict[str, list[str]] = {}
    with suppress(OSError):
        for line in path.read_text("utf-8", "replace").splitlines():
            address, *hosts = line.partition("#")[0].split() or [""]
            if _is_address(address):
                for each in hosts:
                    names.setdefault(each.lower(), []).append(address)
    return names


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
