"""What a later start makes of what it finds: expired secrets, names that are taken."""

from __future__ import annotations

import stat
from datetime import timedelta

import msgspec
import pytest

from idp.foundation.errors import ConfigError
from idp.identity.users import memberships
from idp.records import INSTANCE_ID, INSTANCES, MEMBERSHIPS, USERS
from idp.server import listener
from idp.start import announcement, first_start
from storage import Insert
from tests.program.first_starts.starts import again, make_ready
from tests.support.measured.logged import logged
from tests.support.service import Server


async def test_after_the_one_time_password_has_expired_a_start_makes_no_other(
    server, new_visitor, demo
):
    first = server.start.admin
    server.clock.advance(timedelta(minutes=61))
    before = [user async for user in server.store.scan(USERS)]
    second = (await make_ready(server)).admin
    after = [user async for user in server.store.scan(USERS)]
    refused = await new_visitor().sign_in(demo.authorize_url(), first.login_name, first.password)

    assert (second.login_name, second.password) == (first.login_name, None)
    assert refused.name == "password"
    assert after == before


async def test_only_the_first_start_shows_the_one_time_password(server):
    later = await make_ready(server)
    first = msgspec.structs.replace(later, is_first=True)

    assert later.admin.password in announcement.banner(first, 0.1, "0")
    assert later.admin.password not in announcement.banner(later, 0.1, "0")
    assert "idp admin reset-password admin@" in announcement.banner(later, 0.1, "0")


async def test_a_json_log_names_the_command_instead_of_the_password(server):
    start = msgspec.structs.replace(server.start, is_first=True)
    with logged() as lines:
        listener.announce_as_text(0.0)(start)

    assert "idp admin reset-password admin@" in lines.getvalue()
    assert start.admin.password not in lines.getvalue()


async def test_an_expired_token_in_the_file_is_replaced(server, tmp_path, visitor):
    file = tmp_path / "pat"
    server = again(server, admin_pat=str(file))
    first = (await make_ready(server)).admin_pat
    server.clock.advance(timedelta(hours=23))
    same = (await make_ready(server)).admin_pat
    server.clock.advance(timedelta(hours=2))
    second = (await make_ready(server)).admin_pat
    statuses = [
        (
            await visitor.get("/oidc/v1/userinfo", headers={"Authorization": f"Bearer {token}"})
        ).status
        for token in (first, second)
    ]

    assert first == same != second
    assert file.read_text() == second + "\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert statuses == [401, 200]


async def add_user(server: Server, kind: str, name: str, *, role: str | None = None):
    instance = await server.store.get(INSTANCES, INSTANCE_ID)
    organization = await first_start.find_default_organization(server.service, instance)
    now = server.clock.now()
    user = first_start.new_user(server.service, organization, kind, name, name, now)
    writes = [Insert(USERS, user)]
    if role:
        owner = memberships.new(user.id, organization.id, [role], now)
        writes.append(Insert(MEMBERSHIPS, owner))
    await server.store.commit(*writes)
    return user


@pytest.mark.parametrize(
    ("kind", "role"), [("human", None), ("machine", None), ("machine", "IAM_OWNER")]
)
async def test_the_script_gets_no_token_of_a_user_who_took_its_name(server, tmp_path, kind, role):
    await add_user(server, kind, "admin-pat", role=role)  # a role in an organization only
    file = tmp_path / "pat"

    with pytest.raises(ConfigError, match="login name admin-pat"):
        await make_ready(again(server, admin_pat=str(file)))
    assert not file.exists()


@pytest.mark.parametrize(
    ("store", "shown"),
    [
        ("memory://", "memory://"),
        ("sqlite:////srv/idp.sqlite3", "sqlite:////srv/idp.sqlite3"),
        ("mongodb://idp:s3cret@db/idp?w=1", "mongodb://idp:***@db/idp?w=1"),
    ],
)
def test_the_store_is_shown_without_its_password(server, store, shown):
    config = msgspec.structs.replace(server.service.config, store=store)
    told = msgspec.structs.replace(server.start, config=config).as_json()

    assert told["store"] == shown
    assert "s3cret" not in str(told)


class TestAnInstallationWithoutDemo:
    @pytest.fixture
    def settings(self) -> dict:
        return {"issuer": "https://login.example.com"}

    async def test_a_real_user_keeps_the_demos_name(self, server):
        assert server.start.demo is None
        somebody = await add_user(server, "human", "Demo")
        told = await make_ready(again(server, issuer="http://localhost:8080"))
        kept = await server.store.get(USERS, somebody.id)

        assert told.demo.login_name != "demo"
        assert told.demo.login_name.startswith("demo-")
        assert kept == somebody
