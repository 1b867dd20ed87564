"""What provokes each check of the files by `idp doctor`, and what cures it."""

from __future__ import annotations

import shutil
from collections import namedtuple

from idp.doctor import files
from tests.support.programs.doctor_place import by_commands
from tests.support.servers.certificate import self_signed

Usage = namedtuple("Usage", "total used free")


def open_key(place):
    (place.data / "master.key").chmod(0o644)


def open_pat(place):
    file = place.data / "admin.pat"
    file.write_text("a token")
    file.chmod(0o640)
    place.settings["admin_pat"] = str(file)


def open_directory(place):
    place.data.chmod(0o755)


def fill_disk(place):
    place.monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**11, 0, 5 * 10**9))


def empty_disk(place, finding):
    assert finding.commands == (f"df -h {place.data}",)
    place.monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**12, 0, 5 * 10**11))


def network_disk(place, kind="nfs4"):
    mounts = place.data.parent / "mountinfo"
    mounts.write_text(
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        f"23 22 0:50 / {place.data} rw,relatime shared:2 - {kind} server:/idp rw\n"
    )
    place.monkeypatch.setattr(files, "_MOUNTS", mounts)


def local_disk(place, finding):
    network_disk(place, "xfs")


def certificate_of_another_key(place):
    directory = place.data.parent / "tls"
    directory.mkdir()
    chain, key = self_signed(directory)
    before = (directory / key).read_bytes()
    place.settings |= {"tls_cert": str(directory / chain), "tls_key": str(directory / key)}
    assert place.find("tls.files").state == "ok"
    self_signed(directory)
    (directory / key).write_bytes(before)


def write_a_pair(place, finding):
    assert "key values mismatch" in finding.sentence
    self_signed(place.data.parent / "tls")


CASES = {
    "key.mode": ("fail", open_key, by_commands),
    "pat.mode": ("fail", open_pat, by_commands),
    "data.owner": ("warn", open_directory, by_commands),
    "disk.free": ("warn", fill_disk, empty_disk),
    "data.filesystem": ("fail", network_disk, local_disk),
    "tls.files": ("warn", certificate_of_another_key, write_a_pair),
}
