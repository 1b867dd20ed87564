"""`idp completion`: the script with which a shell completes command lines."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command(short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    Example: idp completion bash > ~/.local/share/bash-completion/completions/idp
    """
    from idp.cli import main

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"there is no completion for {shell}")
    click.echo(kind(main, {}, "idp", "_IDP_COMPLETE").source())
