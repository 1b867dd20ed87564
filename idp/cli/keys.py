"""`idp keys`: the keys that sign and seal tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click
import msgspec

from idp.cli.admin import ACTOR
from idp.cli.settings import store_flags
from idp.cli.working import on_store
from idp.records import SigningKey
from idp.service import Service

_COLUMNS: Final = ("keyId", "algorithm", "state", "since")


@click.group(short_help="The keys that sign and seal tokens.")
def keys() -> None:
    """Look at the keys that sign and seal tokens, rotate them, or remove one at once."""


@keys.command("list")
@store_flags
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_keys(as_json: bool, config_file: Path | None, **flags: object) -> None:
    """Print every key with its state, the oldest first. Example: idp keys list"""

    async def listed(service: Service) -> None:
        from idp.oauth import rotation

        rows = [_described(key) for key in await rotation.every(service)]
        click.echo(msgspec.json.encode({"keys": rows}) if as_json else _table(rows))

    on_store(listed, config_file, flags)


@keys.command()
@store_flags
def rotate(config_file: Path | None, **flags: object) -> None:
    """Let the waiting keys sign from now on, and print their ids. What the old ones have signed
    goes on to count. Safe at any time: too early, it is refused. Example: idp keys rotate
    """

    async def rotated(service: Service) -> None:
        from idp.oauth import rotation

        signing = await rotation.rotate(service, actor=ACTOR)
        for algorithm, key in sorted(signing.items()):
            click.echo(f"{key.id}  {algorithm}")

    on_store(rotated, config_file, flags)


@keys.command()
@store_flags
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.argument("key_id")
def remove(key_id: str, yes: bool, config_file: Path | None, **flags: object) -> None:
    """End all trust in a key that others may know: every token that it signed or sealed is void
    at once. Another takes over. Example: idp keys remove 5xTpVw0mJqk3Yb9cD2eF1g
    """
    if not yes:
        question = f"All that the key {key_id} signed or sealed will be void. Remove it?"
        click.confirm(question, abort=True, err=True)

    async def removed(service: Service) -> None:
        from idp.oauth import rotation

        await rotation.remove(service, key_id, actor=ACTOR)
        click.echo(f"the key {key_id} is removed", err=True)

    on_store(removed, config_file, flags)


def _described(key: SigningKey) -> dict[str, Any]:
    return {
        "keyId": key.id,
        "algorithm": key.algorithm,
        "use": key.use,
        "state": key.state,
        "since": key.changed_at,
        "creationDate": key.created_at,
    }


def _table(rows: list[dict[str, Any]]) -> str:
    shown = [{**row, "since": row["since"].isoformat(sep=" ", timespec="seconds")} for row in rows]
    widths = {name: max(len(row[name]) for row in shown) for name in _COLUMNS}
    return "\n".join(
        "  ".join(f"{row[name]:<{widths[name]}}" for name in _COLUMNS).rstrip() for row in shown
    )
