"""Refuses empty values of options and arguments that name something.

`--org "$ORG"` in a script whose variable is unset would otherwise mean "not given", and the
command would act on another organization or another store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # generic since click 8.4

_METAVARS: Final = frozenset({"ID", "FILE", "DIR", "URL", "HOST", "IN", "OUT", "NAME"})


class NonEmptyName(_ParamType):
    """A click parameter type that refuses empty values, and converts others by the parameter's
    original type."""

    def __init__(self, inner: _ParamType) -> None:
        self._inner = inner
        self.name = inner.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Converts the value by the original type. Raises click.BadParameter for an empty one."""
        if value == "":
            self.fail("the value is empty, so nothing was done", param, ctx)
        return self._inner.convert(value, param, ctx)


def refuse_empty_names(command: click.Command) -> click.Command:
    """Makes the parameters of a command and of its subcommands refuse empty names, and returns the
    command."""
    for parameter in command.params:
        if is_name(parameter) and not isinstance(parameter.type, NonEmptyName):
            parameter.type = NonEmptyName(parameter.type)
    if isinstance(command, click.Group):
        for each in command.commands.values():
            refuse_empty_names(each)
    return command


def is_name(parameter: click.Parameter) -> bool:
    """Returns whether the parameter's value is a name, such as an id, a file or an address."""
    if isinstance(parameter.type, click.Choice) or parameter.default == "":
        return False
    if isinstance(parameter, click.Argument):
        return True
    is_id = (parameter.name or "").endswith("_id")
    return is_id or (isinstance(parameter, click.Option) and parameter.metavar in _METAVARS)
