"""Disks of a test's own: a small one that gets full, and one that stalls. Only root mounts them,
and not on each machine; elsewhere the tests that need them are skipped.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import disk_usage

from tests.support.programs import debian
from tests.support.skips import skip

MIB = 2**20


class SmallDisk:
    """A file system in memory, of `size` bytes, at the directory `path`, which is made."""

    def __init__(self, path: Path, size: int) -> None:
        debian.need_root("mounts a file system")
        self.path = path
        path.mkdir()
        self._filler = path / "filler"
        _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path))

    def fill(self) -> None:
        """Fills the file system."""
        with self._filler.open("ab", buffering=0) as file:
            for size in (MIB, 4096, 1):
                _write_until_full(file, size)

    def empty(self) -> None:
        """Frees the space that `fill` took."""
        self._filler.unlink()

    def resize(self, size: int) -> None:
        """Sets the capacity to this number of bytes."""
        _mount("-o", f"remount,size={size}", str(self.path))

    @property
    def used(self) -> int:
        return disk_usage(self.path).used

    def close(self) -> None:
        subprocess.run(["umount", "--lazy", str(self.path)], check=True)


def _write_until_full(file, size: int) -> None:
    try:
        while file.write(bytes(size)) == size:
            pass
    except OSError:
        pass


@contextmanager
def small_disk(path: Path, size: int) -> Iterator[SmallDisk]:
    disk = SmallDisk(path, size)
    try:
        yield disk
    finally:
        disk.close()


class StallingDisk:
    """A disk with a file system (ext4) at the directory `path`, which is made. While it stalls,
    whoever writes there waits, and so does whoever changes memory that is mapped to a file there.
    """

    def __init__(self, path: Path, size: int) -> None:
        debian.need_root("mounts a file system")
        debian.need(**{"mkfs.ext4": "e2fsprogs", "fsfreeze": "util-linux"})
        self.path = path
        path.mkdir()
        image = path.with_suffix(".image")
        with image.open("wb") as file:
            os.truncate(file.fileno(), size)
        subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
        _mount("-o", "loop", str(image), str(path))

    @contextmanager
    def stalled(self, seconds: float) -> Iterator[subprocess.Popen]:
        """Have it stall for so long, whatever the block does. The value is the process that ends
        the stall, also if this one dies: what waits for the disk can't be killed."""
        script = 'fsfreeze --freeze "$0" && echo && sleep "$1"; fsfreeze --unfreeze "$0"'
        command = ["/bin/sh", "-c", script, str(self.path), f"{seconds}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as stall:
            assert stall.stdout.readline(), "the disk does not stall"
            yield stall

    def close(self) -> None:
        subprocess.run(["umount", "--lazy", str(self.path)], check=True)


def _mount(*arguments: str) -> None:
    """Mounts a file system, or skips the test where that is not allowed."""
    ran = subprocess.run(["mount", *arguments], capture_output=True, text=True)
    if ran.returncode:
        skip(f"no file system can be mounted here: {ran.stderr.strip()}")
