"""The command line in this process, on a store of its own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from idp.cli import main
from idp.config.settings import Config
from idp.start import bootstrap
from tests.support.store.stored import everything


class Ran(NamedTuple):
    """The exit code of a command, and its output."""

    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)

    @property
    def word(self) -> str:
        """The output of `--get`."""
        return self.out.strip()


class Shell:
    """A shell in `directory`, whose commands work on the store that `install` made there."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def install(self) -> Shell:
        asyncio.run(self._with_service(bootstrap.make_ready))
        return self

    def __call__(self, *arguments: str, input: str = "", code: int | None = 0, **settings) -> Ran:
        """Runs `idp` with these arguments; it has to end with this exit code."""
        place = [] if "IDP_URL" in settings else ["--data", str(self.directory)]
        done = CliRunner().invoke(main, [*arguments, *place], input=input, env=settings)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        ran = Ran(done.exit_code, done.stdout, done.stderr)
        assert code is None or ran.code == code, ran
        return ran

    def get(self, *arguments: str, **settings) -> str:
        """The output of the command for its `--get`."""
        return self(*arguments, **settings).word

    def stored(self) -> dict[str, dict]:
        """Every record of the store."""
        return asyncio.run(self._with_service(lambda service: everything(service.store)))

    async def _with_service(self, work):
        config = Config(data=str(self.directory), store=f"sqlite:///{self.directory}/idp.sqlite3")
        service = await bootstrap.open_service(config)
        try:
            return await work(service)
        finally:
            await bootstrap.close_service(service)
