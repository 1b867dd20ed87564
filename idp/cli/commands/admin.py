"""`idp admin`: regains access to an installation, for a person who can read its store."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from idp.cli.settings import store_flags
from idp.cli.working import on_store
from idp.service import Service

ACTOR: Final = "command line"


@click.group(short_help="Ways back in.")
def admin() -> None:
    """Work on the store directly: access to this machine is the permission."""


@admin.command("reset-password")
@store_flags
@click.argument("login_name")
def reset_password(login_name: str, config_file: Path | None, **flags: object) -> None:
    """Give a person a one-time password. Example: idp admin reset-password admin@localhost"""

    async def reset(service: Service) -> None:
        from idp.identity.users import admin_recovery

        click.echo(await admin_recovery.reset_password(service, login_name, actor=ACTOR))

    on_store(reset, config_file, flags)


@admin.command()
@store_flags
@click.argument("login_name")
def unlock(login_name: str, config_file: Path | None, **flags: object) -> None:
    """Let a user who was locked out try again. Example: idp admin unlock admin@localhost"""

    async def unlocked(service: Service) -> None:
        from idp.identity.users import admin_recovery

        was_locked = await admin_recovery.unlock(service, login_name, actor=ACTOR)
        _say(f"{login_name} may sign in" if was_locked else f"nothing barred {login_name}")

    on_store(unlocked, config_file, flags)


@admin.command("grant-owner")
@store_flags
@click.argument("login_name")
def grant_owner(login_name: str, config_file: Path | None, **flags: object) -> None:
    """Make a user an owner of the instance. Example: idp admin grant-owner admin@localhost"""

    async def granted(service: Service) -> None:
        from idp.identity.users import admin_recovery

        is_new = await admin_recovery.grant_owner(service, login_name, actor=ACTOR)
        _say(f"{login_name} owns the instance" + ("" if is_new else " already"))

    on_store(granted, config_file, flags)


def _say(sentence: str) -> None:
    click.echo(sentence, err=True)  # stdout is for data
