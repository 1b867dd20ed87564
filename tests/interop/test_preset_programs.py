"""The program that a preset hands out is started as it stands, and a person signs in to it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from idp.clients import presets
from tests.interop import node
from tests.interop.test_presets import registered
from tests.support.visitor import Visitor

START_SECONDS = 30
SECRETS = {"SECRET_KEY": "k" * 40, "SESSION_SECRET": "s" * 40}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


class Running:
    """The program of a preset, in a directory of its own."""

    def __init__(self, command: list[str], directory: Path, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait_for(self, port: int) -> None:
        ends_at = time.monotonic() + START_SECONDS
        while time.monotonic() < ends_at and self.process.poll() is None:
            with socket.socket() as asking:
                if asking.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError(f"the program does not listen: {self.stop()}")

    def stop(self) -> str:
        self.process.kill()
        return self.process.communicate()[0]


@pytest.fixture
def start(tmp_path, request):
    started = []

    def begin(name: str, text: str, secret: str) -> Running:
        environment = os.environ | SECRETS | {"CLIENT_SECRET": secret}
        file = presets.find(name).file
        if name == "flask":
            directory, command = tmp_path, [sys.executable, file]
        else:
            found, packages = request.getfixturevalue("npm")
            directory, command = tmp_path / name, [str(found.program), file]
            directory.mkdir()
            (directory / "node_modules").symlink_to(packages / "node_modules")
            environment |= node.environment(found) | SECRETS | {"CLIENT_SECRET": secret}
        (directory / file).write_text(text, encoding="utf-8")
        started.append(Running(command, directory, environment))
        return started[-1]

    yield begin
    for one in started:
        one.stop()
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.mark.gen_test(timeout=90)
@pytest.mark.parametrize(
    ("name", "login"), [("flask", "/auth/login"), ("express", "/login"), ("node", "/login")]
)
async def test_a_person_signs_in_to_the_program_of_a_preset(
    place, api, open_browser, start, name, login
):
    port = free_port()
    base = f"http://localhost:{port}"
    made, text = await registered(place, api, name, f"localhost:{port}")
    running = start(name, text, made["clientSecret"])
    running.wait_for(port)
    browser: Visitor = open_browser(place)
    async with httpx.AsyncClient(base_url=base, timeout=20) as at_application:
        before = await at_application.get("/")
        begun = await at_application.get(login)
        page = await browser.sign_in(begun.headers["Location"], *place.user)
        back = urlsplit(page.location)
        finished = await at_application.get(f"{back.path}?{back.query}")
        after = await at_application.get("/")

    assert (before.status_code, "Sign in" in before.text) == (200, True)
    assert f"{back.scheme}://{back.netloc}" == base
    assert finished.status_code in (302, 303), finished.text
    assert "Hello " in after.text, (after.text, running.stop())
