"""Reloads, new certificates and a stop while clients go on asking: no request of theirs fails."""

from __future__ import annotations

import asyncio
import signal
import ssl
import time
from collections import Counter
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.program.test_reload import lines
from tests.support import patience
from tests.support.programs.program import eventually
from tests.support.servers.certificate import self_signed

ROOT = Path(__file__).parents[2]
KEPT, FRESH = httpx.Limits(), httpx.Limits(max_keepalive_connections=0)
RELOADS = 100
SECONDS = 2  # between a request to stop and the end of listening


@asynccontextmanager
async def clients(work, number=4):
    """Within the block, so many clients do their work again and again; one that fails ends it."""
    over = asyncio.Event()

    async def go_on(client):
        while not over.is_set():
            await work(client)

    async with asyncio.TaskGroup() as tasks:
        for client in range(number):
            tasks.create_task(go_on(client))
        try:
            yield
        finally:
            over.set()


@asynccontextmanager
async def introspecting(program, visitor):
    """Within the block, clients ask about a token, on connections that they keep and on new ones.
    The value counts the answers."""
    demo = program.demo()
    tokens = await demo.tokens(visitor, *program.user)
    options = {"auth": (demo.client_id, demo.client_secret), "timeout": 20}
    answers = Counter()
    async with (
        httpx.AsyncClient(base_url=program.issuer, limits=KEPT, **options) as kept,
        httpx.AsyncClient(base_url=program.issuer, limits=FRESH, **options) as fresh,
    ):

        async def ask(client):
            http = (kept, fresh)[client % 2]
            answer = await http.post(
                "/oauth/v2/introspect", data={"token": tokens["access_token"]}
            )
            answers[answer.status_code, answer.json().get("active")] += 1

        async with clients(ask):
            yield answers


@pytest.mark.load
@pytest.mark.parametrize("processes", [1, 2])
async def test_no_request_fails_during_a_hundred_reloads(
    start_program, open_browser, tmp_path, processes
):
    file = tmp_path / "idp.toml"
    file.write_text("")
    program = start_program("--config", str(file), "--processes", str(processes))
    async with introspecting(program, open_browser(program)) as answers:
        for n in range(RELOADS):
            before = len(lines(program, "reloaded"))
            file.write_text(f'log_level = "{("info", "debug")[n % 2 == 0]}"\n')
            program.signal(signal.SIGHUP)
            await asyncio.sleep(0.06)  # more than 20 a second would be logged as repetitions
            await until(lambda before=before: len(lines(program, "reloaded")) > before)
        asked = answers.total()
        await until(lambda: answers.total() > asked)

    assert set(answers) == {(200, True)}
    assert answers.total() > RELOADS
    changed = [line["changed"] for line in lines(program, "reloaded")]
    assert changed == [["log_level"]] * RELOADS


async def until(what):
    """Return when it holds."""
    await asyncio.to_thread(eventually, what, "it", 20)


# Certificates


class Handshakes:
    """Connections to a service that speaks TLS, and the certificates that it has shown."""

    def __init__(self, program) -> None:
        self._program = program
        self._tls = ssl.create_default_context()
        self._tls.check_hostname, self._tls.verify_mode = False, ssl.CERT_NONE
        self.shown = Counter()

    async def one(self, client=0) -> bytes:
        """The certificate that a new connection is shown, on which a request is then answered."""
        async with asyncio.timeout(patience.SECONDS):
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", self._program.port, ssl=self._tls
            )
            found = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
            head = b"GET /healthz HTTP/1.1\r\nHost: localhost:%d\r\nConnection: close\r\n\r\n"
            writer.write(head % self._program.port)
            assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
            writer.close()
            await writer.wait_closed()
        self.shown[found] += 1
        return found

    async def until_all_are(self, certificate: bytes) -> None:
        """Return when each of several new connections is shown this certificate."""
        while {await self.one() for _ in range(8)} != {certificate}:
            await asyncio.sleep(0.1)


def write_by_halves(directory: Path, chain: bytes, key: bytes):
    """Write a new pair as a slow program does; pauses at each `yield`."""
    (directory / "chain.pem").write_bytes(chain[: len(chain) // 2])
    yield
    (directory / "key.pem").write_bytes(key)
    yield
    (directory / "chain.pem").write_bytes(chain)


@pytest.mark.load
@pytest.mark.gen_test(timeout=400)
@pytest.mark.parametrize(
    ("module", "changes", "pause", "seconds"),
    [("idp", 1, 1.0, 35), ("tests.program.often_looking", 19, 1.2, 10)],
)
async def test_new_certificates_are_used_and_no_handshake_fails(
    start_program, tmp_path, module, changes, pause, seconds
):
    self_signed(tmp_path)
    tls = ("--tls-cert", "chain.pem", "--tls-key", "key.pem")
    program = start_program(*tls, "--processes", "2", module=module, PYTHONPATH=ROOT)
    handshakes, known = Handshakes(program), set()
    await handshakes.until_all_are(encoded(tmp_path))
    async with clients(handshakes.one):
        for _ in range(changes):
            known.add(encoded(tmp_path))
            other = tmp_path / "other"
            other.mkdir(exist_ok=True)
            self_signed(other)
            pair = (other / "chain.pem").read_bytes(), (other / "key.pem").read_bytes()
            for _ in write_by_halves(tmp_path, *pair):
                await asyncio.sleep(pause)
            async with asyncio.timeout(seconds):
                await handshakes.until_all_are(encoded(tmp_path))

    assert set(handshakes.shown) == known | {encoded(tmp_path)}
    assert len(known) == changes


def encoded(directory: Path) -> bytes:
    """The certificate in a directory, in DER."""
    return ssl.PEM_cert_to_DER_cert((directory / "chain.pem").read_text())


# A stop


async def ready(program) -> str:
    """What a probe gets: a status, or the name of the error."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", program.port)
        head = b"GET /readyz HTTP/1.1\r\nHost: localhost:%d\r\nConnection: close\r\n\r\n"
        writer.write(head % program.port)
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
    except OSError as error:
        return type(error).__name__
    return answer.partition(b"\r\n")[0].decode()


@pytest.mark.load
@pytest.mark.parametrize("processes", [1, 2])
async def test_a_probe_every_5_ms_is_answered_to_the_end_of_the_delay(start_program, processes):
    program = start_program("--processes", str(processes), IDP_SHUTDOWN_DELAY_SECONDS=SECONDS)
    assert await ready(program) == "HTTP/1.1 200 OK"
    began, probes = time.monotonic(), []
    program.signal()
    while (passed := time.monotonic() - began) < SECONDS + 1:
        probes.append((passed, asyncio.create_task(ready(program))))
        await asyncio.sleep(0.005)
    within = Counter([await probe for passed, probe in probes if passed < SECONDS])
    last = await probes[-1][1]

    assert set(within) <= {"HTTP/1.1 200 OK", "HTTP/1.1 503 Service Unavailable"}
    assert within["HTTP/1.1 503 Service Unavailable"] >= 100
    assert last == "ConnectionRefusedError"
    assert await asyncio.to_thread(program.wait) == 0
