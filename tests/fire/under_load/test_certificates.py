"""A certificate is replaced while clients connect: no handshake fails."""

from __future__ import annotations

import asyncio
import json
import ssl
import time

import pytest

from tests.support.programs.program import run
from tests.support.servers.certificate import self_signed

PROCESSES = 2
NOTICED_SECONDS = 35
UNUSABLE = "the new certificate can't be used; the previous one stays in use"


class Clients:
    """Open one TLS connection after the other; `shown` is each certificate that they saw."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._context = ssl.create_default_context()
        self._context.check_hostname, self._context.verify_mode = False, ssl.CERT_NONE
        self.shown: list[bytes] = []

    async def connect_until(self, over: asyncio.Event) -> None:
        while not over.is_set():
            _, writer = await asyncio.open_connection("127.0.0.1", self._port, ssl=self._context)
            self.shown.append(writer.get_extra_info("ssl_object").getpeercert(binary_form=True))
            writer.close()
            await writer.wait_closed()
            await asyncio.sleep(0.02)


async def until(what, name: str) -> float:
    """The seconds until it is true."""
    began = time.monotonic()
    while not what():
        assert time.monotonic() < began + NOTICED_SECONDS, name
        await asyncio.sleep(0.05)
    return time.monotonic() - began


def errors(program) -> int:
    return sum(UNUSABLE in line for line in list(program.errors))


async def examined(program) -> str:
    """What `idp doctor` says of the files."""
    settings = program.environment
    ran = await asyncio.to_thread(run, program.directory, "doctor", "--json", **settings)
    return {each["id"]: each["state"] for each in json.loads(ran.stdout)["result"]}["tls.files"]


@pytest.mark.load
async def test_after_a_wrong_pair_the_one_before_goes_on_and_the_doctor_warns(
    start_program, tmp_path, record_property
):
    chain, key = self_signed(tmp_path)
    files = {"IDP_TLS_CERT": tmp_path / chain, "IDP_TLS_KEY": tmp_path / key}
    program = start_program("--processes", str(PROCESSES), **files)
    clients, over = Clients(program.port), asyncio.Event()
    connecting = asyncio.ensure_future(clients.connect_until(over))
    own_key = (tmp_path / key).read_bytes()
    await until(lambda: clients.shown, "a connection")
    self_signed(tmp_path)
    new_key = (tmp_path / key).read_bytes()
    (tmp_path / key).write_bytes(own_key)
    noticed = await until(lambda: errors(program) == PROCESSES, "an error line of each process")
    warned = await examined(program)
    before, shown = clients.shown[0], set(clients.shown)
    (tmp_path / key).write_bytes(new_key)
    used = await until(lambda: set(clients.shown[-40:]).isdisjoint({before}), "the new one")
    right = await examined(program)
    over.set()
    await connecting
    record_property(
        "counts",
        f"the wrong pair was noticed after {noticed:.1f} s, the right one used after {used:.1f} s;"
        f" {len(clients.shown)} handshakes, none failed",
    )

    assert shown == {before}
    assert (warned, right) == ("warn", "ok")
    assert errors(program) == PROCESSES
