"""Keys over several processes, seen by a client that keeps the key set for as long as it may."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import httpx
import pytest
from jwcrypto.jwk import JWK
from jwcrypto.jwt import JWT

from tests.support import patience
from tests.support.browsers.visitor import Visitor
from tests.support.programs.program import eventually, run

KEYS = "/oauth/v2/keys"
MAX_AGE = timedelta(seconds=300)
EACH_PROCESS = 6  # connections of their own, so that each of two processes gets some
STALE_SECONDS = 5  # what another process may know of a change, and room for a busy machine
PATIENCE = STALE_SECONDS + 10


class Client:
    """Verifies ID tokens by a key set that it reads anew when `max-age` is over, and only then."""

    def __init__(self, program, visitor: Visitor) -> None:
        self.program, self.visitor, self.demo = program, visitor, program.demo()
        self.read_at, self.keys, self.kids = None, {}, set()

    async def sign_in(self):
        tokens = await self.demo.tokens(self.visitor, *self.program.user)
        self.refresh_token = tokens["refresh_token"]
        return self

    def advance(self, by: str) -> None:
        """Set the clock of the service ahead, by which caches of the key set expire too."""
        answer = httpx.post(f"{self.program.issuer}/test/clock", json={"advance": by})
        now = datetime.fromisoformat(answer.raise_for_status().json()["now"])
        if self.read_at is None or now - self.read_at >= MAX_AGE:
            self.read_at, self.keys = now, published(self.program)

    async def verify_new_tokens(self) -> None:
        for _ in range(EACH_PROCESS):
            answer = await self.demo.refresh(self.visitor, self.refresh_token)
            assert answer.status == 200, answer.text
            self.refresh_token = answer.json()["refresh_token"]
            kid = kid_of(answer.json()["id_token"])
            assert kid in self.keys, "signed by a key that a client may not know yet"
            JWT(jwt=answer.json()["id_token"], key=JWK(**self.keys[kid]))
            self.kids.add(kid)


def published(program) -> dict[str, dict]:
    """The key set by kid: each of these is unique, and nothing in it is private."""
    keys = httpx.get(program.issuer + KEYS).raise_for_status().json()["keys"]
    by_kid = {key["kid"]: key for key in keys}
    assert len(by_kid) == len(keys)
    assert not [key for key in keys if set(key) & {"d", "p", "q", "dp", "dq", "qi", "k"}]
    return by_kid


def kid_of(token: str) -> str:
    return JWT(jwt=token).token.jose_header["kid"]


def call(program, path: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {program.announcement['adminPat']}"}
    return httpx.post(program.issuer + path, json={}, headers=headers)


def userinfo_statuses(program, token: str) -> set[int]:
    headers = {"Authorization": f"Bearer {token}"}
    url = f"{program.issuer}/oidc/v1/userinfo"
    return {httpx.get(url, headers=headers).status_code for _ in range(2 * EACH_PROCESS)}


@pytest.fixture
def start(start_program, open_browser):
    async def start(**settings):
        program = start_program("--test", "--processes", "2", "--admin-pat", "pat", **settings)
        no_reuse = httpx.Limits(max_keepalive_connections=0)
        return program, await Client(program, open_browser(program, limits=no_reuse)).sign_in()

    return start


@pytest.mark.promise("keys: rotation")
@pytest.mark.load
async def test_rotations_on_demand_as_often_as_possible_fail_no_verification(start):
    program, client = await start()
    rotations = 0
    for _ in range(30):
        client.advance("100s")
        await client.verify_new_tokens()
        rotated = call(program, "/admin/v1/keys/_rotate")
        rotations += rotated.status_code == 200
        assert rotated.status_code == 200 or "keys.too_soon" in rotated.text
        await client.verify_new_tokens()

    assert rotations >= 8
    assert len(client.kids) >= 8


@pytest.mark.promise("keys: rotation")
async def test_rotations_on_schedule_fail_no_verification(start):
    program, client = await start(IDP_KEY_ROTATION_SECONDS=86400)
    for _ in range(4):
        before = set(published(program))
        client.advance("24h")
        await client.verify_new_tokens()
        eventually(
            lambda before=before: set(published(program)) - before, "a rotation", patience.SECONDS
        )
        await client.verify_new_tokens()

    assert len(client.kids) >= 4


async def test_an_emergency_removal_ends_a_key_s_tokens_in_every_process(start):
    program, client = await start()
    tokens = await client.demo.tokens(client.visitor, *program.user, prompt="login")
    sealing, signing = tokens["access_token"].split(".")[1], kid_of(tokens["id_token"])
    before = userinfo_statuses(program, tokens["access_token"])
    # The one that is watched last: a process that knows of it knows of the other.
    removed = [call(program, f"/admin/v1/keys/{kid}/_remove") for kid in (signing, sealing)]

    assert before == {200}
    assert [each.status_code for each in removed] == [200, 200]
    assert {signing in published(program) for _ in range(EACH_PROCESS)} == {False}
    eventually(
        lambda: userinfo_statuses(program, tokens["access_token"]) == {401},
        "the end of the tokens",
        PATIENCE,
    )
    client.read_at = None
    client.advance("0s")
    eventually(lambda: signing not in client.keys, "the end of the key")
    await client.verify_new_tokens()
    assert signing not in client.kids


async def test_the_commands_work_beside_a_service_that_runs(start_program, open_browser, tmp_path):
    program = start_program("--test", "--store", "sqlite:///mine.sqlite3")
    data = program.announcement["dataDir"]
    place = ("--data", data, "--store", f"sqlite:///{tmp_path}/mine.sqlite3")

    def listed():
        told = run(tmp_path, "keys", "list", "--format", "json", *place)
        assert (told.returncode, told.stderr) == (0, "")
        return {
            (key["algorithm"], key["state"]): key["keyId"]
            for key in json.loads(told.stdout)["result"]
        }

    before = listed()
    rotated = run(tmp_path, "keys", "rotate", *place)
    early = run(tmp_path, "keys", "rotate", *place)
    kid = before["RS256", "next"]
    unasked = run(tmp_path, "keys", "remove", kid, *place)
    between = listed()
    removed = run(tmp_path, "keys", "remove", kid, "--yes", *place)
    unknown = run(tmp_path, "keys", "remove", "nobody", "--yes", *place)
    table = run(tmp_path, "keys", "list", *place).stdout

    assert (rotated.returncode, rotated.stderr) == (0, "")
    assert rotated.stdout.split() == ["keyId", kid]
    assert (early.returncode, early.stdout) == (6, "")
    assert "can be rotated again from" in early.stderr
    assert unasked.returncode == 1
    assert between["RS256", "active"] == kid
    assert (removed.returncode, removed.stdout) == (0, "")
    assert unknown.returncode == 5
    assert listed()["RS256", "removed"] == kid
    assert [line for line in table.splitlines() if kid in line and "removed" in line]
    assert kid not in published(program)
