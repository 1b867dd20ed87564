"""Other people's clients against the running program.

Fixtures::

    place    the program with two processes, as a `tests.support.service.Server`
    api      its management API, as an HTTP client of an administrator
    new_key  makes a key of a client: its id and, as PEM, the private half
    npm      Node, and the directory with the parties that are written for it
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import httpx
import pytest

from idp.records import APPLICATIONS
from tests.flows.conftest import at
from tests.interop import node
from tests.support import patience
from tests.support.programs.program import Program
from tests.support.skips import skip


@pytest.fixture(scope="package")
def service(tmp_path_factory):
    directory = tmp_path_factory.mktemp("service")
    running = Program(directory, "--processes", "2", "--admin-pat", "admin.pat").start()
    yield running
    try:
        running.stop()
    finally:
        running.kill()


@pytest.fixture
def place(io_loop, service):
    server = io_loop.run_sync(lambda: at(service))
    yield server
    io_loop.run_sync(server.store.close)


@pytest.fixture
def api(io_loop, service):
    headers = {"Authorization": f"Bearer {(service.directory / 'admin.pat').read_text().strip()}"}
    base = f"{service.issuer}/management/v1"
    client = httpx.AsyncClient(base_url=base, headers=headers, timeout=patience.SECONDS)
    yield client
    io_loop.run_sync(client.aclose)


@pytest.fixture
def new_key(place, api):
    async def make(client):
        app = await place.store.get(APPLICATIONS, client.client_id)
        made = await api.post(
            f"/projects/{app.project_id}/apps/{app.id}/keys", json={"type": "KEY_TYPE_JSON"}
        )
        file = json.loads(base64.b64decode(made.raise_for_status().json()["keyDetails"]))
        return {"kid": file["keyId"], "pem": file["key"]}

    return make


@pytest.fixture(scope="package")
def npm():
    try:
        found = node.find()
        return found, node.install(found, Path(__file__).parent / "npm")
    except node.NoNode as error:
        skip(error)
