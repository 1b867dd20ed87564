"""`idp keys master`: the master key of the store, and its replacement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from idp.cli.output import say
from idp.cli.settings import store_flags
from idp.cli.working import on_store
from idp.config.settings import Config
from idp.foundation.errors import AlreadyExists, ConfigError
from idp.service import Service

if TYPE_CHECKING:
    from idp.start.resealing import Status

_FILE_MEANT = (
    "the settings name the master key: give a file for the new one, --to FILE, and then change"
    " them as it prints"
)
_NO_FILE_MEANT = (
    "the master key is in the data directory, where the new one will be: leave out --to"
)
_WHAT_TO_DO = """\
The new master key is in {to}. Nothing has changed yet:
1. Bring it to every machine, and restart the service there with
   old_master_key_files = ["{to}"] and the present master key.
2. When all are restarted, do so again with
   master_key_file = "{to}" and the former key in old_master_key_files.
3. Wait until `idp keys master status` says that nothing needs the former key."""


@click.group(short_help="The master key of the store.")
def master() -> None:
    """The master key, which encrypts secrets in the store: its replacement by a new one."""


@master.command()
@store_flags
@click.option(
    "--to", metavar="FILE", type=click.Path(path_type=Path), help="The file for the new key."
)
def rotate(to: Path | None, config_file: Path | None, **flags: object) -> None:
    """Replace the master key in the data directory, while the service may run. Where settings name
    the key, only make a new one, and say which settings to change.
    Example: idp keys master rotate
    """

    async def run(service: Service) -> None:
        from idp.start import master_keys

        if _is_in_settings(service.config):
            _make(service, to)
            return
        if to is not None:
            raise ConfigError([_NO_FILE_MEANT])
        await master_keys.replace_in_data_dir(service)
        say("the new master key is in charge; the former one is in master.key.old until the")
        say("service has removed it. `idp keys master status` shows how far it is")

    on_store(run, config_file, flags)


def _is_in_settings(config: Config) -> bool:
    return bool(config.master_key or config.master_key_file)


def _make(service: Service, to: Path | None) -> None:
    """Writes a new key into the file `to`, and prints what to do with it."""
    from idp.keys import key_files

    if to is None:
        raise ConfigError([_FILE_MEANT])
    try:
        key_files.create(to, service.random)
    except FileExistsError:
        raise AlreadyExists(f"{to} exists already: name a new file") from None
    except OSError as error:
        raise ConfigError([f"{to} can't be written: {error.strerror}"]) from error
    say(_WHAT_TO_DO.format(to=to.absolute()))


@master.command()
@store_flags
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(as_json: bool, config_file: Path | None, **flags: object) -> None:
    """Print the fingerprints of the master keys, and how many records only a former one can open.
    Reads every record that has a secret. Example: idp keys master status
    """

    async def run(service: Service) -> None:
        from idp.start import resealing

        found = await resealing.status(service)
        click.echo(msgspec.json.encode(found) if as_json else "\n".join(_lines(found)))

    on_store(run, config_file, flags)


def _lines(found: Status) -> list[str]:
    rows = [("in charge", found.in_charge)]
    if found.former is not None:
        rows += [
            ("former", found.former),
            ("re-encryption", f"from {found.begins_at:%Y-%m-%d %H:%M} UTC on"),
        ]
    rows += [("replaced", each) for each in found.replaced]
    rows += [("to re-encrypt", f"{count} in {name}") for name, count in found.counts.items()]
    if not found.counts:
        rows.append(("to re-encrypt", "nothing"))
    return [f"{label:<18}{text}" for label, text in rows]
