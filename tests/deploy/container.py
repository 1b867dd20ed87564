"""The program of an image as a container runs it: process 1, not root, on a read-only root."""

from __future__ import annotations

import os
import signal
import socket
from contextlib import suppress
from pathlib import Path

from tests.support.programs.program import Program, children

# In a mount namespace of its own, so that nothing is left of it. What a container gives beside the
# image: /proc, some devices, a directory for temporary files, and the volume.
_ENTER = """
set -e
root="$1" data="$2" user="$3"; shift 3
mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro,nosuid "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777,size=64m tmpfs "$root/tmp"
mount -t tmpfs -o mode=755,size=1m tmpfs "$root/dev"
for device in null zero full random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount --bind "$data" "$root/data"
exec chroot --userspec="$user" "$root" "$@"
"""
_UNSHARE = ("unshare", "--mount", "--pid", "--fork")
_TOOLS = "/usr/sbin:/usr/bin:/sbin:/bin"


class Container(Program):
    """One container. `config` is the image's."""

    def __init__(self, root: Path, config: dict, data: Path, **settings: object) -> None:
        super().__init__(root.parent, **settings)
        self.root = root
        self.config = config
        self.data = data

    def spawn(self) -> Container:
        image = self.config
        entered = [*_UNSHARE, "sh", "-c", _ENTER, "sh", str(self.root), str(self.data)]
        program = [image["User"], *image["Entrypoint"], *image["Cmd"], "--json"]
        variables = dict(each.split("=", 1) for each in image["Env"])
        self._open(entered + program, variables | {"PATH": _TOOLS} | self.environment)
        return self

    @property
    def pid(self) -> int:
        """Of the program itself, as this machine counts."""
        (pid,) = children(self.process.pid)
        return pid

    def signal(self, number: int = signal.SIGTERM) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        for pid in children(self.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.wait()


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]
