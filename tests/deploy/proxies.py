"""nginx, haproxy and Caddy in front of a service, with the configurations of
docs/how-to/running.md."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support.programs import debian
from tests.support.repository import read

# What Debian's own configuration has around a server. One process, which is not a daemon.
_AROUND_NGINX = """
daemon off;
master_process off;
pid {place}/pid;
error_log {place}/errors;
events {{}}
http {{
    access_log {place}/requests;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
    {server}
}}
"""
_AROUND_CADDY = (
    "{{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\tauto_https disable_redirects\n}}\n{site}"
)
# The buffers that nginx has without a setting, and which a package of Debian does not change.
_SIZES = re.compile(r"^ *(large_client_header_buffers|proxy_buffer_size|proxy_buffers) .*\n", re.M)


@contextmanager
def running(proxy: str, place: Path, port: int, service_port: int) -> Iterator[None]:
    """Runs a proxy at the port, with a certificate for localhost (chain.pem and key.pem in
    `place`), in front of the service at `service_port`."""
    command = _COMMANDS[proxy](place, port, service_port)
    environment = os.environ | {"HOME": str(place), "XDG_DATA_HOME": str(place)}
    with (
        (place / "proxy.log").open("wb") as log,
        subprocess.Popen(command, env=environment, stdout=log, stderr=log) as process,
    ):
        try:
            yield
        finally:
            process.terminate()


def _documented(language: str, changes: Mapping[str, str]) -> str:
    """The block of the documentation in this language, with these changes."""
    page = read("docs/how-to/running.md")
    (text,) = re.findall(rf"^```{language}\n(.+?)^```$", page, re.S | re.M)
    for named, replaced in changes.items():
        assert named in text, named
        text = text.replace(named, replaced)
    return text


def _nginx(place: Path, port: int, service_port: int, *, has_sizes: bool = True) -> list[str]:
    debian.need(nginx="nginx-light")
    server = _documented(
        "nginx",
        {
            "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
            "server_name login.example.com": "server_name localhost",
            "/etc/ssl/login/fullchain.pem": f"{place}/chain.pem",
            "/etc/ssl/login/privkey.pem": f"{place}/key.pem",
            "http://127.0.0.1:8080": f"http://127.0.0.1:{service_port}",
        },
    )
    server = server if has_sizes else _SIZES.sub("", server)
    file = place / "nginx.conf"
    file.write_text(_AROUND_NGINX.format(place=place, server=server))
    return ["nginx", "-p", str(place), "-c", str(file)]


def _nginx_by_default(place: Path, port: int, service_port: int) -> list[str]:
    return _nginx(place, port, service_port, has_sizes=False)


def _haproxy(place: Path, port: int, service_port: int) -> list[str]:
    debian.need("haproxy")
    pem = place / "login.pem"
    pem.write_text((place / "chain.pem").read_text() + (place / "key.pem").read_text())
    file = place / "haproxy.cfg"
    file.write_text(
        _documented(
            "haproxy",
            {
                "bind :443": f"bind 127.0.0.1:{port}",
                "/etc/ssl/login/login.pem": str(pem),
                "127.0.0.1:8080": f"127.0.0.1:{service_port}",
            },
        )
    )
    return ["haproxy", "-db", "-f", str(file)]


def _caddy(place: Path, port: int, service_port: int) -> list[str]:
    debian.need("caddy")
    site = _documented(
        "caddy",
        {
            "login.example.com": f"https://localhost:{port}",
            "/etc/ssl/login/fullchain.pem": f"{place}/chain.pem",
            "/etc/ssl/login/privkey.pem": f"{place}/key.pem",
            "127.0.0.1:8080": f"127.0.0.1:{service_port}",
        },
    )
    file = place / "Caddyfile"
    file.write_text(_AROUND_CADDY.format(site=site))
    return ["caddy", "run", "--config", str(file), "--adapter", "caddyfile"]


_COMMANDS = {
    "nginx": _nginx,
    "nginx with its default buffers": _nginx_by_default,
    "haproxy": _haproxy,
    "caddy": _caddy,
}
PROXIES = list(_COMMANDS)
