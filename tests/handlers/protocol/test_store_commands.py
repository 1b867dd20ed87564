"""How many commands MongoDB gets for what people and applications do, as docs/scaling.md says."""

from __future__ import annotations

import pymongo.monitoring
import pytest

from storage.mongo import driver
from tests.support.mongod import fresh_database


class Commands(pymongo.monitoring.CommandListener):
    """The names of the commands that were sent, but those by which servers are watched."""

    def __init__(self):
        self.names = []

    def started(self, event):
        if event.command_name not in ("hello", "isMaster", "endSessions"):
            self.names.append(event.command_name)

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass


@pytest.fixture
def commands(monkeypatch):
    listener = Commands()
    options = {**driver._OPTIONS, "event_listeners": [listener]}
    monkeypatch.setattr(driver, "_OPTIONS", options)
    return listener


@pytest.fixture
def settings(mongod, commands):
    with fresh_database(mongod) as url:
        yield {"store": url}


async def test_a_sign_in_takes_57_commands_and_an_introspection_one(
    server, visitor, demo, commands
):
    commands.names.clear()
    tokens = await demo.tokens(visitor, *server.user)
    assert 0 < len(commands.names) <= 57

    commands.names.clear()
    await demo.userinfo(visitor, tokens["access_token"])

    assert len(commands.names) == 1
