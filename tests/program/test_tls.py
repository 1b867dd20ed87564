"""The program speaking TLS itself, with a certificate that it was given."""

from __future__ import annotations

import asyncio
import os
import ssl
import subprocess
from urllib.parse import urlsplit

import pytest

from tests.support import patience
from tests.support.programs.program import run
from tests.support.servers.certificate import self_signed


@pytest.fixture
def certificate(tmp_path):
    """A self-signed certificate for localhost: the names of its file and of its key's."""
    return self_signed(tmp_path)


@pytest.mark.promise("discovery: addresses", "session: cookies")
@pytest.mark.parametrize("processes", ["1", "2"])
async def test_with_a_certificate_everything_is_https(
    start_program, open_browser, certificate, tmp_path, processes
):
    chain, key = certificate
    program = start_program(
        *("--tls-cert", chain, "--tls-key", key, "--processes", processes, "--admin-pat", "pat")
    )
    trusting = ssl.create_default_context(cafile=tmp_path / chain)
    visitor, demo = open_browser(program, verify=trusting), program.demo()
    page = await visitor.get(demo.authorize_url())
    cookies = page.headers.get_list("Set-Cookie")
    tokens = await demo.tokens(visitor, *program.user)
    found = await visitor.get("/.well-known/openid-configuration")

    assert program.issuer.startswith("https://localhost:")
    assert cookies
    assert all(cookie.startswith("__Host-") for cookie in cookies)
    assert all({"Secure", "HttpOnly", "Path=/"} <= set(cookie.split("; ")) for cookie in cookies)
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert (await demo.userinfo(visitor, tokens["access_token"])).status == 200
    addresses = [
        value for name, value in found.json().items() if name.endswith(("_endpoint", "_uri"))
    ]
    assert len(addresses) == 9
    assert all(address.startswith(program.issuer) for address in addresses)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for line in program.announcement["curl"]:
        ran = subprocess.run(
            ["bash", "-c", line],
            cwd=elsewhere,
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            timeout=patience.SECONDS,
        )
        assert ran.returncode == 0, (line, ran.stderr)


async def test_the_demo_page_works_behind_the_certificate(
    start_program, open_browser, certificate, tmp_path
):
    chain, key = certificate
    program = start_program("--tls-cert", chain, "--tls-key", key)
    visitor = open_browser(program, verify=ssl.create_default_context(cafile=tmp_path / chain))
    page = await visitor.get("/demo/sign-in")
    page = await visitor.sign_in(page.location, *program.user)
    page = await visitor.open(page.location)

    assert page.url == f"{program.issuer}/demo"
    assert "dana@example.com" in page.text


async def handshake(program, context):
    """The version and the suite that a client with these settings and the program agree on."""
    port = urlsplit(program.issuer).port
    _, writer = await asyncio.open_connection("localhost", port, ssl=context)
    agreed = writer.get_extra_info("ssl_object")
    found = agreed.version(), agreed.cipher()[0]
    writer.close()
    await writer.wait_closed()
    return found


def client_of_tls_1_2(chain, suites):
    context = ssl.create_default_context(cafile=chain)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(suites)
    return context


@pytest.mark.promise("security: TLS 1.2")
@pytest.mark.smoke
async def test_tls_1_2_is_spoken_with_authenticated_encryption_and_forward_secrecy_only(
    start_program, certificate, tmp_path
):
    chain, key = certificate
    program = start_program("--tls-cert", chain, "--tls-key", key)
    for suites in ("ECDHE+AES:!AESGCM:!AESCCM", "ECDHE+AESCCM:ECDHE+ARIA", "RSA+AESGCM"):
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await handshake(program, client_of_tls_1_2(tmp_path / chain, suites))
    agreed = {
        suites: await handshake(program, client_of_tls_1_2(tmp_path / chain, suites))
        for suites in ("ECDHE+AESGCM", "ECDHE+CHACHA20")
    }
    newest = await handshake(program, ssl.create_default_context(cafile=tmp_path / chain))

    assert agreed["ECDHE+AESGCM"][0] == agreed["ECDHE+CHACHA20"][0] == "TLSv1.2"
    assert "GCM" in agreed["ECDHE+AESGCM"][1]
    assert "CHACHA20" in agreed["ECDHE+CHACHA20"][1]
    assert newest[0] == "TLSv1.3"


@pytest.mark.full
@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_certificate_that_is_none_is_refused_once(certificate, tmp_path, processes):
    (tmp_path / "chain.pem").write_text("no certificate\n")
    ran = run(
        tmp_path,
        *("serve", "--json", "--port", "0", "--processes", processes),
        *("--tls-cert", "chain.pem", "--tls-key", "key.pem"),
    )

    assert ran.returncode == 2
    assert ran.stderr.count("tls_cert and tls_key can't be used") == 1
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / "idp-data").exists()


@pytest.mark.full
def test_a_certificate_without_its_key_is_refused(tmp_path):
    ran = run(tmp_path, "serve", "--json", "--port", "0", "--tls-cert", "chain.pem")

    assert ran.returncode == 2
    assert "tls_cert and tls_key must be given together" in ran.stderr
