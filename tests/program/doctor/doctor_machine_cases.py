"""What provokes each check of the files and the machine by `idp doctor`, and what cures it."""

from __future__ import annotations

import itertools
import resource
import shutil
import tempfile
from collections import namedtuple

from idp.doctor import files, machine
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


def few_descriptors(place):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))


def more_descriptors(place, finding):
    (line,) = finding.commands
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(line.removeprefix("ulimit -n ")), hard))


def network_disk(place, kind="nfs4"):
    mounts = place.data.parent / "mountinfo"
    mounts.write_text(
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        f"23 22 0:50 / {place.data} rw,relatime shared:2 - {kind} server:/idp rw\n"
    )
    place.monkeypatch.setattr(files, "_MOUNTS", mounts)


def local_disk(place, finding):
    network_disk(place, "xfs")


def no_temporary_directory(place):
    place.monkeypatch.setattr(tempfile, "tempdir", str(place.data.parent / "tmp"))


def make_temporary_directory(place, finding):
    (place.data.parent / "tmp").mkdir()


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


def connections_reset(place):
    place.settings["processes"] = 2
    setting = place.data.parent / "tcp_migrate_req"
    setting.write_text("0\n")
    place.monkeypatch.setattr(machine, "_MIGRATE_REQ", setting)


def connections_passed_on(place, finding):
    assert finding.commands == ("sysctl -w net.ipv4.tcp_migrate_req=1",)
    (place.data.parent / "tcp_migrate_req").write_text("1\n")


def slow_hash(place, seconds=0.6):
    read = itertools.count(0.0, seconds)
    place.monkeypatch.setattr(machine, "perf_counter", lambda: next(read))


def hash_in_time(place, finding):
    slow_hash(place, 0.3)


def little_memory(place, kib=262_144):
    place.settings |= {"processes": 2, "hashing_threads": 2}
    memory = place.data.parent / "meminfo"
    memory.write_text(f"MemTotal:       {kib} kB\nMemFree:         1000 kB\n")
    place.monkeypatch.setattr(machine, "_MEMORY", memory)
    place.monkeypatch.setattr(machine, "_MEMORY_LIMIT", place.data.parent / "memory.max")


def more_memory(place, finding):
    little_memory(place, 524_288)


CASES = {
    "key.mode": ("fail", open_key, by_commands),
    "pat.mode": ("fail", open_pat, by_commands),
    "data.owner": ("warn", open_directory, by_commands),
    "disk.free": ("warn", fill_disk, empty_disk),
    "data.filesystem": ("fail", network_disk, local_disk),
    "tmp.writable": ("fail", no_temporary_directory, make_temporary_directory),
    "tls.files": ("warn", certificate_of_another_key, write_a_pair),
    "limits.descriptors": ("warn", few_descriptors, more_descriptors),
    "kernel.migrate_req": ("warn", connections_reset, connections_passed_on),
    "hashing.time": ("warn", slow_hash, hash_in_time),
    "memory.per_worker": ("warn", little_memory, more_memory),
}
