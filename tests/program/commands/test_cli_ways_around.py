"""No command is a way around the management API: at a service it makes calls like anybody, and on
a store it needs the installation's master key.

The commands come from the table of commands; each is run as its own example says.
"""

from __future__ import annotations

import asyncio
import shlex
from base64 import b64decode
from contextlib import nullcontext

import pytest
from click.testing import CliRunner

from idp.cli import event_export, main, watching
from idp.start import bootstrap, exit_codes
from tests.support.commands_table import leaves
from tests.support.management.callers import new_caller, new_organization
from tests.support.programs.shell import Shell
from tests.support.samples.policies import PNG
from tests.support.samples.users import OTHER_HUMAN
from tests.support.store.stored import everything

COMMANDS = {" ".join(path[1:]): each for path, each in leaves()}
# Commands that work on a store and on nothing else: whoever has its master key may.
WITH_THE_KEY = {
    "admin grant-owner",
    "admin reset-password",
    "admin unlock",
    "audit erase",
    "backup add",
    "backup make",
    "explain",
    "export",
    "keys master rotate",
    "keys master status",
    "schema upgrade",
}
# Commands without a caller, and why none of them is a way around one.
WITHOUT = {
    "serve": "is the service",
    "init": "creates what the service needs",
    "config show": "reads settings",
    "doctor": "changes nothing, and shows no record",
    "schema status": "reads the number of the schema",
    "audit verify": "changes nothing, and shows no event",
    "backup verify": "reads a file that only its passphrase opens",
    "store verify": "changes nothing, and shows no record",
    "restore": "fills an empty store",
    "copy-store": "copies what whoever can reach both stores can copy, sealed as it is",
    "key2jwt": "reads a file",
    "migrate auth0": "reads a file",
    "migrate csv": "reads a file",
    "migrate keycloak": "reads a file",
    "migrate ndjson": "reads a file",
    "completion": "prints a script",
}


def has(command, option) -> bool:
    return any(option in each.opts for each in command.params)


CALLS = [name for name, each in COMMANDS.items() if has(each, "--url")]


@pytest.mark.promise("lower roles: commands")
def test_every_command_makes_calls_or_is_known_to_need_the_key_or_no_caller():
    assert len(CALLS) > 150
    assert COMMANDS.keys() - CALLS == WITH_THE_KEY | WITHOUT.keys()


def example(name) -> list[str]:
    """The command line that the command's help shows, without `idp`."""
    text = " ".join(COMMANDS[name].help.split()).partition("Example: ")[2]
    return shlex.split(text)[1:]


FILES = {
    "hash": OTHER_HUMAN["hashedPassword"]["hash"].encode(),
    "red.txt": b"red",
    "acme.png": b64decode(PNG),
    "state.yaml": b"organizations: [{name: Acme}]",
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The directory of this process has the files that examples name."""
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)


@pytest.fixture
def in_a_thread(monkeypatch):
    """Commands leave signals alone, which are for the main thread."""
    monkeypatch.setattr(event_export, "stopped_by_signals", lambda _: nullcontext())
    monkeypatch.setattr(watching, "interruptible", lambda _: nullcontext())
    monkeypatch.setattr(watching, "immediately_interruptible", nullcontext)


@pytest.mark.full
@pytest.mark.promise("lower roles: commands")
async def test_a_command_at_a_service_does_what_its_caller_may_and_opens_no_store(
    server, visitor, monkeypatch, files, in_a_thread
):
    nobody = await new_caller(server, visitor, await new_organization(server, "own.example"))
    before, ended = await everything(server.store), {}
    settings = {"IDP_URL": server.issuer, "IDP_TOKEN": nobody.token}
    monkeypatch.setattr(bootstrap, "open_store", not_to_be_called)
    for name in CALLS:
        ran = await asyncio.to_thread(invoke, example(name), settings)
        if ran.exit_code != exit_codes.NOT_AUTHORISED or "permission" not in ran.stderr:
            ended[name] = (ran.exit_code, ran.stderr, ran.exception)

    assert not ended
    assert await everything(server.store) == before


def not_to_be_called(*_, **__):
    raise AssertionError("a command opened a store")


def invoke(arguments, settings):
    return CliRunner().invoke(main, arguments, input="y\n", env=settings)


@pytest.mark.full
@pytest.mark.promise("lower roles: commands")
@pytest.mark.parametrize("key", [None, b"k" * 43], ids=["none", "another"])
def test_a_command_on_a_store_does_nothing_without_its_master_key(tmp_path, files, key):
    shell = Shell(tmp_path / "data").install()
    file = shell.directory / "master.key"
    before, ended = shell.stored(), {}
    passphrase = tmp_path / "secret"
    passphrase.write_text("a passphrase that is long")
    passphrase.chmod(0o600)
    kept = file.rename(tmp_path / "kept")
    if key is not None:
        file.write_bytes(key)
        file.chmod(0o600)
    for name in sorted({*CALLS, *WITH_THE_KEY}):
        arguments = [each.replace("/var/backups/idp", str(tmp_path)) for each in example(name)]
        ran = invoke([*arguments, "--data", str(shell.directory)], {})
        if ran.exit_code == 0 or "master" not in ran.stderr:
            ended[name] = (ran.exit_code, ran.stderr, ran.exception)
    kept.replace(file)

    assert not ended
    assert shell.stored() == before
