"""`idp schema`: shows the version of the stored records, and upgrades them to this program's."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click
import msgspec

from idp.cli.opening import open_store_service
from idp.cli.settings import load_for_store, store_flags
from idp.config.loading import LoadedSettings
from idp.config.settings import Config
from idp.start import exit_codes
from storage import MetaRecord
from storage.upgrades import late, opening, pending


@click.group(short_help="The schema version of the store.")
def schema() -> None:
    """Show the schema version of the store, or upgrade it. `idp serve` upgrades automatically."""


@schema.command()
@store_flags
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(as_json: bool, config_file: Path | None, **flags: object) -> None:
    """Print the versions and the pending upgrade steps; nothing is changed.

    Exits with code 1 if the store is too new for this program. Example: idp schema status
    """
    from idp.records import SCHEMA

    config = load_for_store(config_file, flags).config

    def print_status() -> None:
        record = _schema_record(config)
        versions = schema_versions(record)
        click.echo(msgspec.json.encode(versions) if as_json else "\n".join(_lines(versions)))
        opening(record, SCHEMA)  # raises TooNew

    raise SystemExit(exit_codes.guarded(print_status))


@schema.command()
@store_flags
def upgrade(config_file: Path | None, **flags: object) -> None:
    """Run the pending upgrade steps, and print their names. It can be repeated at any time, and
    run on several machines concurrently. Example: idp schema upgrade
    """
    loaded = load_for_store(config_file, flags)
    config = loaded.config

    def run() -> None:
        before = schema_versions(_schema_record(config))
        asyncio.run(_upgrade(loaded))
        for name in before["pending"]:
            click.echo(name)
        click.echo(f"the store has version {_schema_record(config).version}", err=True)

    raise SystemExit(exit_codes.guarded(run))


async def _upgrade(loaded: LoadedSettings) -> None:
    async with open_store_service(loaded):
        pass  # opening a store upgrades it


def _schema_record(config: Config) -> MetaRecord:
    from idp.start import bootstrap

    return asyncio.run(bootstrap.read_schema_version(config))


def schema_versions(record: MetaRecord) -> dict[str, Any]:
    """Returns the versions of the store (`record`) and of this program, and the upgrade steps that
    are pending, as `idp schema status` prints them.
    """
    from idp.records import SCHEMA

    return {
        "storeVersion": record.version,
        "oldestReader": record.oldest_reader,
        "programVersion": SCHEMA.version,
        "pending": [step.name for step in pending(record, SCHEMA)],
        "late": [step.name for step in late(record, SCHEMA)],
        "heldUntil": record.held_until,
    }


def _lines(versions: dict[str, Any]) -> list[str]:
    rows = [
        ("store", f"version {versions['storeVersion']}"),
        ("readable by", f"version {versions['oldestReader']} and later"),
        ("this program", f"version {versions['programVersion']}"),
        ("pending", ", ".join(versions["pending"]) or "nothing"),
        ("a day later", ", ".join(versions["late"]) or "nothing"),
    ]
    if versions["heldUntil"]:
        rows.append(("in progress", f"another process holds it until {versions['heldUntil']}"))
    return [f"{label:<14}{text}" for label, text in rows]
