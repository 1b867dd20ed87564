"""Checks of this machine: its limits, its kernel, its memory and its speed."""

from __future__ import annotations

import asyncio
import resource
from pathlib import Path
from time import perf_counter
from typing import Final

from idp.config.settings import Config
from idp.doctor.check import DoctorCheck, Finding, Installation, ok, skipped, warn
from idp.foundation import cpu
from idp.foundation.i18n import Message
from idp.foundation.randomness import SystemRandom
from idp.passwords import schemes

ENOUGH_DESCRIPTORS: Final = 4096
_MIGRATE_REQ: Final = Path("/proc/sys/net/ipv4/tcp_migrate_req")
_MEMORY: Final = Path("/proc/meminfo")
_MEMORY_LIMIT: Final = Path("/sys/fs/cgroup/memory.max")  # of a container
_HASH_SECONDS: Final = (0.02, 0.5)
_HASHES: Final = 3
# The memory of a process under load, without that of its hashing threads.
_PROCESS_KIB: Final = 128 * 1024


async def descriptors(installation: Installation) -> Finding:
    """Checks the limit of files and connections that a process started on this machine may have
    open.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return ok("a process that is started here may open any number of files")
    text = f"a process that is started here may open {soft} files and connections"
    if soft < ENOUGH_DESCRIPTORS:
        return warn(text, f"ulimit -n {ENOUGH_DESCRIPTORS}")
    return ok(text)


async def migrate_req(installation: Installation) -> Finding:
    """Checks that the kernel passes the waiting connections of a process that ends on to the other
    processes (`net.ipv4.tcp_migrate_req`).
    """
    if installation.config.processes == 1:
        return skipped("one process answers all connections")
    if not _MIGRATE_REQ.exists():
        return skipped("this kernel can't pass connections on to another process")
    if _MIGRATE_REQ.read_text(encoding="ascii").strip() == "1":
        return ok("waiting connections of a process that ends are passed on to the others")
    return warn(
        "waiting connections of a process that ends are reset",
        "sysctl -w net.ipv4.tcp_migrate_req=1",
    )


async def hashing_time(installation: Installation) -> Finding:
    """Checks how long the hash of a new password takes on this machine."""
    recipe = schemes.RECIPES[installation.config.password_hasher]
    min_seconds, max_seconds = _HASH_SECONDS
    seconds = float("inf")
    for _ in range(_HASHES):  # repeated, in case the machine was busy with other work
        seconds = min(seconds, await asyncio.to_thread(_hash_seconds, recipe))
        if min_seconds <= seconds <= max_seconds:
            break
    text = f"the hash of a password takes {seconds * 1000:.0f} ms ({recipe.scheme})"
    return ok(text) if min_seconds <= seconds <= max_seconds else warn(text)


def _hash_seconds(recipe: schemes.Recipe) -> float:
    begun_at = perf_counter()
    recipe.hash(b"the password of a check", SystemRandom())
    return perf_counter() - begun_at


async def memory_per_worker(installation: Installation) -> Finding:
    """Checks that the machine, or the container, has the memory that the processes of the service
    may take.
    """
    config = installation.config
    needed = _PROCESS_KIB + _hashing_kib(config)
    available = _memory_kib()
    if available is None:
        return skipped("the memory of this machine is unknown")
    share = available // config.processes
    text = (
        f"there are {share // 1024} MB of memory for each process, which may take"
        f" {needed // 1024} MB"
    )
    return warn(text) if available < needed * config.processes else ok(text)


def _hashing_kib(config: Config) -> int:
    """Returns how much memory the hashing threads of one process take, in KiB."""
    recipe = schemes.RECIPES[config.password_hasher]
    threads = config.hashing_threads or max(1, cpu.count() // config.processes)
    return threads * recipe.cost[0] if recipe.scheme.startswith("argon2") else 0


def _memory_kib() -> int | None:
    """Returns the memory of the container if it is limited, else of the machine, in KiB."""
    if not _MEMORY.exists():
        return None
    lines = _MEMORY.read_text(encoding="ascii").splitlines()
    total = next(int(each.split()[1]) for each in lines if each.startswith("MemTotal:"))
    limit = _MEMORY_LIMIT.read_text(encoding="ascii") if _MEMORY_LIMIT.exists() else "max"
    return total if limit.strip() == "max" else min(total, int(limit) // 1024)


CHECKS: Final = (
    DoctorCheck(
        id="limits.descriptors",
        area="machine",
        about=Message("A process may have at least 4,096 files and connections open."),
        fix=Message(
            "Raise the limit where the service is started; in a systemd unit, by LimitNOFILE=4096."
        ),
        run=descriptors,
    ),
    DoctorCheck(
        id="kernel.migrate_req",
        area="machine",
        about=Message(
            "With several processes, waiting connections of one that ends go to the others."
        ),
        fix=Message("Set this on the machine, as root, and in /etc/sysctl.d for its next start."),
        run=migrate_req,
    ),
    DoctorCheck(
        id="hashing.time",
        area="machine",
        about=Message("The hash of a password takes 20 to 500 ms."),
        fix=Message(
            "If it takes longer, sign-ins do, too: give the service faster or less busy cores. If"
            " it takes less, choose argon2id as the setting password_hasher."
        ),
        run=hashing_time,
    ),
    DoctorCheck(
        id="memory.per_worker",
        area="machine",
        about=Message("There is enough memory for every process and its hashing threads."),
        fix=Message("Give the machine more memory, or start fewer processes or hashing threads."),
        run=memory_per_worker,
    ),
)
