"""The options that were given to a command, as text for another command line that it prints."""

from __future__ import annotations

import shlex
from collections.abc import Container, Iterator

import click
from click.core import ParameterSource

from idp.config.urls import without_password


def options(context: click.Context, names: Container[str] | None = None) -> str:
    """Returns the options of the current command line as text; with `names`, only those of the
    parameters in it.

    The password in a store's URL is hidden, because printed text may end up in logs.
    """
    words = [
        word
        for each in context.command.params
        if isinstance(each, click.Option) and (names is None or each.name in names)
        for word in _words(context, each)
    ]
    return shlex.join(words)


def _words(context: click.Context, option: click.Option) -> Iterator[str]:
    name = option.name or ""
    if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
        return
    yield option.opts[0]
    if not option.is_flag:
        yield without_password(str(context.params[name]))
