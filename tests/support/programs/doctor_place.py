"""An installation that is stopped, for the tests of `idp doctor`."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from idp import doctor
from idp.config.settings import Config
from idp.doctor import examination
from idp.records import ALL
from storage import open_store
from tests.support.programs.in_process import run

ASKING = ("revoke", "remove")  # commands that do nothing before they are confirmed


@dataclass
class Place:
    """An installation that is stopped, in the directory `data`."""

    data: Path
    monkeypatch: object
    settings: dict = field(default_factory=dict)
    is_deep: bool = False

    def find(self, id: str):
        """The finding of the check; no other check is run."""
        config = Config(data=str(self.data), **self.settings)
        only = {
            area: [each for each in checks if each.id == id]
            for area, checks in doctor.AREAS.items()
        }
        with self.monkeypatch.context() as patch:
            patch.setattr(doctor, "AREAS", only)
            (result,) = asyncio.run(examination.run(config, is_deep=self.is_deep))
        return result.finding

    def store(self, ask):
        """The result of a coroutine function over the store."""

        async def asked():
            url = f"sqlite:///{self.data}/idp.sqlite3"
            store = open_store(url, now=lambda: datetime.now(UTC), new_id=lambda: "test")
            await store.open(ALL, None)
            try:
                return await ask(store)
            finally:
                await store.close()

        return asyncio.run(asked())

    def write(self, *writes):
        self.store(lambda store: store.commit(*writes))

    def one(self, collection, **values):
        """The first record with these values."""

        async def ask(store):
            async for each in store.scan(collection):
                if all(getattr(each, name) == value for name, value in values.items()):
                    return each
            return None

        return self.store(ask)

    def command(self, line: str) -> None:
        """Runs a printed command, in the parent of the data directory."""
        first, *words = shlex.split(line)
        if first != "idp":
            subprocess.run(line, shell=True, check=True, cwd=self.data.parent)
            return
        yes = ["--yes"] if any(word in words for word in ASKING) else []
        ended = run(self.data.parent, *words, *yes)
        assert ended.returncode == 0, ended.stderr


def by_commands(place, finding):
    """The fix of most checks: the printed commands."""
    assert finding.commands, finding
    for line in finding.commands:
        place.command(line)
