"""`idp admin`: regains access to an installation, for a person who can read its store."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from idp.cli.settings import store_flags
from idp.cli.working import on_store
from idp.service import Service

ACTOR: Final = "command line"


@click.group(short_help="Regain access to the installation.")
def admin() -> None:
    """Regain access. These commands work on the store directly and need no account."""


@admin.command("reset-password")
@store_flags
@click.argument("login_name")
def reset_password(login_name: str, config_file: Path | None, **flags: object) -> None:
    """Set a one-time password for a user. Example: idp admin reset-password admin@localhost"""

    async def run(service: Service) -> None:
        from idp.identity.users import admin_recovery

        click.echo(await admin_recovery.reset_password(service, login_name, actor=ACTOR))

    on_store(run, config_file, flags)


@admin.command()
@store_flags
@click.argument("login_name")
def unlock(login_name: str, config_file: Path | None, **flags: object) -> None:
    """Unlock a user. Example: idp admin unlock admin@localhost"""

    async def run(service: Service) -> None:
        from idp.identity.users import admin_recovery

        was_locked = await admin_recovery.unlock(service, login_name, actor=ACTOR)
        _say(f"{login_name} is unlocked" if was_locked else f"{login_name} was not locked")

    on_store(run, config_file, flags)


@admin.command("grant-owner")
@store_flags
@click.argument("login_name")
def grant_owner(login_name: str, config_file: Path | None, **flags: object) -> None:
    """Make a user an owner of the instance. Example: idp admin grant-owner admin@localhost"""

    async def run(service: Service) -> None:
        from idp.identity.users import admin_recovery

        is_new = await admin_recovery.grant_owner(service, login_name, actor=ACTOR)
        _say(f"{login_name} is {'now' if is_new else 'already'} an owner of the instance")

    on_store(run, config_file, flags)


def _say(sentence: str) -> None:
    click.echo(sentence, err=True)  # stdout is for data
