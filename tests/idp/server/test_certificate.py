"""New certificate files are noticed, and a pair that does not fit changes nothing."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import subprocess
import sys
import termios

import pytest
from cryptography.hazmat.primitives import serialization

from idp.server import certificate
from idp.server.certificate import CertificateWatch
from tests.support import patience
from tests.support.patience import until
from tests.support.servers.certificate import self_signed


class Log:
    def __init__(self):
        self.lines = []

    def info(self, event, **fields):
        self.lines.append(event)

    error = info


@pytest.fixture
def log(monkeypatch):
    made = Log()
    monkeypatch.setattr(certificate, "_log", made)
    return made


@pytest.fixture
def used():
    return []


@pytest.fixture
def watch(tmp_path, used, log):
    chain, key = self_signed(tmp_path)
    return CertificateWatch(str(tmp_path / chain), str(tmp_path / key), used.append)


async def test_files_that_have_not_changed_are_not_read(watch, used):
    await watch.check()

    assert used == []


async def test_a_new_pair_is_used_once(watch, used, log, tmp_path):
    self_signed(tmp_path)
    await watch.check()
    await watch.check()

    assert len(used) == 1
    assert log.lines == ["a new certificate is in use"]


async def test_a_pair_behind_a_symbolic_link_that_moves_is_noticed(used, log, tmp_path):
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        self_signed(tmp_path / name)
    (tmp_path / "live").symlink_to("old")
    live = tmp_path / "live"
    watch = CertificateWatch(str(live / "chain.pem"), str(live / "key.pem"), used.append)
    (tmp_path / "next").symlink_to("new")
    os.replace(tmp_path / "next", live)
    await watch.check()

    assert len(used) == 1


async def test_a_pair_that_is_being_written_is_used_once_it_fits(watch, used, log, tmp_path):
    (tmp_path / "key.pem").write_text("")
    await watch.check()
    await watch.check()
    self_signed(tmp_path)
    await watch.check()

    assert len(used) == 1
    assert log.lines == ["a new certificate is in use"]


async def test_a_pair_that_never_fits_is_reported_once(watch, used, log, tmp_path):
    (tmp_path / "key.pem").unlink()
    for _ in range(certificate.MAX_ATTEMPTS + 3):
        await watch.check()

    assert used == []
    assert log.lines == ["the new certificate can't be used; the previous one stays in use"]


async def test_it_looks_again_soon_after_a_pair_that_does_not_fit(
    watch, used, log, tmp_path, monkeypatch
):
    monkeypatch.setattr(certificate, "RETRY_SECONDS", 0.01)
    (tmp_path / "key.pem").write_text("half")
    running = asyncio.create_task(watch.run())
    watch.check_now()
    async with asyncio.timeout(patience.SECONDS):
        await until(lambda: log.lines)
    running.cancel()

    assert log.lines == ["the new certificate can't be used; the previous one stays in use"]


@pytest.mark.full
def test_an_encrypted_key_is_refused_and_nobody_is_asked_for_its_password(tmp_path):
    chain, key = (tmp_path / name for name in self_signed(tmp_path))
    encryption = serialization.BestAvailableEncryption(b"secret")
    private = serialization.load_pem_private_key(key.read_bytes(), None)
    form = serialization.PrivateFormat.PKCS8
    key.write_bytes(private.private_bytes(serialization.Encoding.PEM, form, encryption))
    load = (
        "from sys import argv; from idp.server import certificate; certificate._context(*argv[1:])"
    )
    terminal, inside = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-P", "-c", load, str(chain), str(key)],
        stdin=inside,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY),
    ) as loading:
        try:
            _, said = loading.communicate(timeout=patience.SECONDS)
        finally:
            loading.kill()
            os.close(terminal)
            os.close(inside)

    assert b"SSLError" in said
