"""The same connection, encrypted."""

from __future__ import annotations

import asyncio
import socket
import ssl

import pytest

from idp.config.settings import Config
from idp.server import certificate
from tests.idp.server.http1.serving import request, served, until_end_of_body
from tests.support import patience
from tests.support.patience import until
from tests.support.servers.certificate import self_signed

MEGABYTE = 1024 * 1024


@pytest.fixture(name="pair")
def pair_fixture(tmp_path):
    """What the server uses, and what its clients trust."""
    chain, key = (str(tmp_path / name) for name in self_signed(tmp_path))
    return certificate.context(Config(tls_cert=chain, tls_key=key)), trusting(chain)


def trusting(chain):
    return ssl.create_default_context(cafile=chain)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_requests_are_answered_in_their_order(pair, version):
    server, client_side = pair
    client_side.minimum_version = client_side.maximum_version = version
    async with served(server) as service, service.client(ssl=client_side) as client:
        client.send(request("POST", "/", body=b"one") + request("POST", "/", body=b"two"))

        assert (await client.answer()).body == b"1:one"
        assert (await client.answer()).body == b"2:two"


async def test_large_bodies_pass_in_both_directions(pair):
    server, client_side = pair
    body = bytes(range(256)) * (4 * MEGABYTE // 256)
    async with served(server) as service, service.client(ssl=client_side) as client:
        client.send(request("POST", "/", body=body))
        assert (await client.answer()).body == b"1:" + body

        client.send(request("GET", "/streaming?pieces=300"))
        assert (await client.answer()).body == bytes(300 * 16 * 1024)


@pytest.mark.full
async def test_who_does_not_read_stops_who_writes(pair):
    server, client_side = pair
    async with served(server) as service:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
        client.connect(("127.0.0.1", service.port))
        reader, writer = await asyncio.open_connection(
            sock=client, ssl=client_side, server_hostname="localhost", limit=1024
        )
        writer.write(request("GET", "/streaming?pieces=2000"))
        await until(
            lambda: any(each.is_sending() for each in service.server._connection_of_stream)
        )
        await asyncio.sleep(0.3)
        assert service.seen.written < 2000

        await until_end_of_body(reader)
        assert service.seen.written == 2000
        writer.close()


async def test_an_answer_that_ends_the_connection_arrives_whole(pair):
    server, client_side = pair
    async with served(server) as service, service.client(ssl=client_side) as client:
        client.send(request("POST", "/early", "Content-Length: 4000000") + bytes(100_000))

        assert (await client.answer()).body == b"no"
        assert await client.rest() == b""


@pytest.mark.full
async def test_a_client_that_leaves_before_the_answer_is_noticed(pair):
    server, client_side = pair
    async with served(server) as service:
        async with service.client(ssl=client_side) as client:
            client.send(request("GET", "/late"))
            await service.seen.begun.wait()

        async with asyncio.timeout(patience.SECONDS):
            await service.seen.left.wait()
        await until(lambda: not service.server._connection_of_stream)


async def test_bytes_that_are_not_encrypted_end_the_connection(pair):
    server, _ = pair
    async with served(server) as service, service.client() as client:
        client.send(request("GET", "/"))

        assert b"HTTP" not in await client.rest()
        assert not service.seen.read


async def test_a_broken_record_ends_the_connection(pair):
    server, client_side = pair
    async with served(server) as service:
        raw_reader, raw_writer = await asyncio.open_connection("127.0.0.1", service.port)
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = client_side.wrap_bio(incoming, outgoing, server_hostname="localhost")
        for _ in range(3):
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                raw_writer.write(outgoing.read())
                incoming.write(await raw_reader.read(65536))
        tls.write(request("GET", "/"))
        spoilt = bytearray(outgoing.read())
        spoilt[-1] ^= 1
        raw_writer.write(spoilt)
        async with asyncio.timeout(patience.SECONDS):
            await raw_reader.read()
        raw_writer.close()
        await until(lambda: not service.server._connection_of_stream)

    assert not service.seen.read


async def test_the_next_connection_uses_the_next_certificate(pair, tmp_path):
    server, client_side = pair
    (tmp_path / "other").mkdir()
    chain, key = (str(tmp_path / "other" / name) for name in self_signed(tmp_path / "other"))
    async with served(server) as service, service.client(ssl=client_side) as before:
        service.server.use_certificate(certificate.context(Config(tls_cert=chain, tls_key=key)))
        before.send(request("GET", "/"))
        assert (await before.answer()).status == 200

        async with service.client(ssl=trusting(chain)) as client:
            client.send(request("GET", "/"))
            assert (await client.answer()).status == 200
        with pytest.raises(ssl.SSLCertVerificationError):
            async with service.client(ssl=client_side):
                pass
