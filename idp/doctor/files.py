"""Checks of the files on this machine: their owners, their modes, and the free space."""

from __future__ import annotations

import shlex
import shutil
import ssl
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from idp.config.settings import Config
from idp.doctor.check import MAX_NAMED, DoctorCheck, Finding, Installation, fail, ok, skipped, warn
from idp.foundation import private_files
from idp.foundation.i18n import Message
from idp.keys.key_files import KEY_FILE, OLD_KEY_FILE

_SQLITE: Final = "sqlite:///"
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_MAX_FILES: Final = 1_000
_MOUNTS: Final = Path("/proc/self/mountinfo")
# Where SQLite's locks or its shared memory are not reliable.
_REMOTE: Final = frozenset({"9p", "afs", "ceph", "cifs", "lustre", "nfs", "nfs4", "smb3", "smbfs"})
_GIGABYTE: Final = 1024**3


async def key_mode(installation: Installation) -> Finding:
    """Checks that only the owner of the files of master keys can read them."""
    config = installation.config
    old_files = [*map(Path, config.old_master_key_files), config.data_dir / OLD_KEY_FILE]
    findings = [_mode_finding(path) for path in old_files if path.exists()]
    if config.master_key:
        findings.append(skipped("the master key is a setting, not a file"))
    else:
        present = config.master_key_file or config.data_dir / KEY_FILE
        findings.append(_mode_finding(Path(present)))
    return next((each for each in findings if each.state == "fail"), findings[-1])


async def pat_mode(installation: Installation) -> Finding:
    """Checks that only the owner of the file with the administrator's token can read it."""
    if installation.config.admin_pat is None:
        return skipped("admin_pat is not set")
    return _mode_finding(Path(installation.config.admin_pat))


def _mode_finding(path: Path) -> Finding:
    if not path.exists():
        return skipped(f"there is no file {path}")
    status = path.stat()
    if private_files.is_open_to_others(status):
        mode = stat.S_IMODE(status.st_mode)
        return fail(f"{path} is open to others (mode {mode:04o})", f"chmod 600 {_quoted(path)}")
    return ok(f"{path} is accessible to its owner only")


async def data_owner(installation: Installation) -> Finding:
    """Checks that the data directory and its files belong to one user, and that no other user can
    open it.
    """
    directory = installation.config.data_dir
    if not directory.is_dir():
        return skipped(f"there is no directory {directory}")
    status = directory.stat()
    files = _files(installation.config)
    foreign_files = [str(path) for path in files if _owner(path) not in (status.st_uid, None)]
    if foreign_files:
        owner, named_files = f"{status.st_uid}:{status.st_gid}", foreign_files[:MAX_NAMED]
        return Finding(
            "fail",
            f"files that do not belong to the owner of {directory}",
            names=named_files,
            count=len(foreign_files),
            commands=[f"chown {owner} {shlex.quote(each)}" for each in named_files],
        )
    mode = stat.S_IMODE(status.st_mode)
    if mode & _OTHERS:
        text = f"{directory} is open to others (mode {mode:04o})"
        return warn(
            text, f"chmod 700 {_quoted(directory)}", fix="Restrict the directory to its owner."
        )
    return ok(f"all files in {directory} belong to its owner, and only its owner can access it")


def _owner(path: Path) -> int | None:
    """Returns the user id of the owner; None for a broken link, or a file deleted meanwhile."""
    try:
        return path.stat().st_uid
    except FileNotFoundError:
        return None


def _files(config: Config) -> Iterator[Path]:
    """Yields the files in the data directory, and those of a SQLite store elsewhere."""
    yield from islice(config.data_dir.iterdir(), _MAX_FILES)
    if config.store.startswith(_SQLITE):
        store = Path(config.store.removeprefix(_SQLITE))
        if store.parent.absolute() != config.data_dir.absolute():
            # SQLite's own files in WAL mode, and the store's lock file.
            each = (store.with_name(store.name + end) for end in ("", "-wal", "-shm", "-lock"))
            yield from (path for path in each if path.exists())


async def disk_free(installation: Installation) -> Finding:
    """Checks the free space of the disks with the data directory and the store."""
    findings = [_free_space(path) for path in _directories(installation.config) if path.is_dir()]
    if not findings:
        return skipped(f"there is no directory {installation.config.data_dir}")
    order = ("fail", "warn", "ok")  # the worst one is reported
    return min(findings, key=lambda each: order.index(each.state))


def _directories(config: Config) -> list[Path]:
    directories = [config.data_dir]
    if config.store.startswith(_SQLITE):
        directories.append(Path(config.store.removeprefix(_SQLITE)).parent)
    return directories


def _free_space(directory: Path) -> Finding:
    usage = shutil.disk_usage(directory)
    share = usage.free / usage.total
    text = f"{usage.free / _GIGABYTE:.1f} GB ({share:.0%}) of the disk of {directory} are free"
    command = f"df -h {_quoted(directory)}"
    if share < 0.01:
        return fail(text, command)
    if share < 0.1 or usage.free < _GIGABYTE:
        return warn(text, command)
    return ok(text)


async def data_filesystem(installation: Installation) -> Finding:
    """Checks that the file of a SQLite store is on a disk of this machine: on a network file
    system, or one in user space, its locks do not keep processes apart, and it can be destroyed.
    """
    config = installation.config
    if not config.store.startswith(_SQLITE):
        return skipped("the store is not a file")
    directory = Path(config.store.removeprefix(_SQLITE)).parent
    if not directory.is_dir() or not _MOUNTS.exists():
        return skipped(f"the file system of {directory} is not known")
    kind = _filesystem(directory.resolve())
    text = f"the file system of {directory} is {kind}"
    return fail(text) if kind in _REMOTE or kind.startswith("fuse") else ok(text)


def _filesystem(directory: Path) -> str:
    """Returns the type of the file system of a directory, by the table of mounts, proc(5)."""
    types = {}
    for line in _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
        mount, _, source = line.partition(" - ")
        point = mount.split(" ")[4].encode().decode("unicode_escape")  # a space is \\040
        # Of two mounts at one place, the last one is in effect.
        types[Path(point)] = source.split(" ")[0]
    mounted_types = (types[each] for each in (directory, *directory.parents) if each in types)
    return next(mounted_types, "unknown")


async def tls_files(installation: Installation) -> Finding:
    """Checks that the files of the certificate can be used: a service that runs keeps the pair
    that it loaded before, but it can't be started with these.
    """
    chain, key = installation.config.tls_cert, installation.config.tls_key
    if chain is None:
        return skipped("tls_cert is not set")
    try:
        # Without a password, OpenSSL would ask for the one of an encrypted key.
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(chain, key, "")
    except OSError as error:
        return warn(f"{chain} and {key} can't be used: {error.strerror or error}")
    return ok(f"{chain} and {key} are a certificate and its key")


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


CHECKS: Final = (
    DoctorCheck(
        id="key.mode",
        area="files",
        about=Message("Only its owner can read the master key."),
        fix=Message("Restrict the file to its owner."),
        run=key_mode,
    ),
    DoctorCheck(
        id="pat.mode",
        area="files",
        about=Message("Only its owner can read the token in admin_pat."),
        fix=Message("Restrict the file to its owner."),
        run=pat_mode,
    ),
    DoctorCheck(
        id="data.owner",
        area="files",
        about=Message("The data directory and its files belong to one user only."),
        fix=Message("Give them to the user that the service runs as, as root."),
        run=data_owner,
    ),
    DoctorCheck(
        id="disk.free",
        area="files",
        about=Message(
            "The disk has free space: less than 10 % or 1 GB is a warning, 1 % a failure."
        ),
        fix=Message("Free space on the disk, or use a larger one."),
        run=disk_free,
    ),
    DoctorCheck(
        id="data.filesystem",
        area="files",
        about=Message("A SQLite store is on a disk of this machine: not NFS, CIFS or FUSE."),
        fix=Message("Move the data directory to a local disk, or use MongoDB."),
        run=data_filesystem,
    ),
    DoctorCheck(
        id="tls.files",
        area="files",
        about=Message("The files tls_cert and tls_key are a certificate and its key."),
        fix=Message(
            "Write both files of one pair. A running service uses them within 35 seconds, and"
            " the previous pair until then."
        ),
        run=tls_files,
    ),
)
