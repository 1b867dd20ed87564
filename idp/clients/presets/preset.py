"""The parts of a preset, which are data: `*.toml` in this package.

Each table is a preset. The table's `chosen` names tables of `choices.toml`, whose settings it
has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any, Final, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from idp.foundation.i18n import Message

Kind = Literal["web", "user_agent", "native", "api"]
T = TypeVar("T")

GROUPS: Final = "groups"
# In the order in which presets are listed.
_FILES: Final = ("flask", "django", "frameworks", "libraries", "products", "devices")
_CONTEXT: Final = "presets"  # as in locales/extract.py


class PresetChoice(NamedTuple):
    """A setting other than the default, and the reason for it."""

    value: Any
    reason: Message


class _Tool(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    title: str
    kind: Kind
    redirect_uris: tuple[str, ...] = ()
    post_logout_redirect_uris: tuple[str, ...] = ()
    back_channel_logout_uri: str = ""
    pkce: bool = True
    file: str
    configuration: str


class Preset(_Tool, frozen=True, kw_only=True):
    """The preset of one tool.

    `redirect_uris`, `post_logout_redirect_uris` and `back_channel_logout_uri` contain `{base}` in
    the place of the tool's own address, or `{app}` for the scheme that a native application
    derives from its host name. `pkce` is whether the tool sends PKCE in this configuration.
    `configuration` is the content of `file`; `presets.configuration` replaces the names between
    `<` and `>` in it. `notes` name frequent mistakes.
    """

    chosen: Mapping[str, PresetChoice]
    notes: tuple[Message, ...]

    @property
    def needs_host(self) -> bool:
        """Whether the redirect URIs depend on the tool's host name."""
        return any("{" in each for each in self.redirect_uris)

    @property
    def has_secret(self) -> bool:
        return self.kind in ("web", "api")


class _PresetTable(_Tool, frozen=True, kw_only=True):
    chosen: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class _ChoiceTable(Struct, frozen=True, forbid_unknown_fields=True):
    value: Any
    reason: str


def read() -> Iterator[tuple[str, Preset]]:
    """Yields the name and the preset of each table in the files of this package."""
    choices = _tables("choices", dict[str, dict[str, _ChoiceTable]])
    for file in _FILES:
        for name, table in _tables(file, dict[str, _PresetTable]).items():
            chosen = {
                field: PresetChoice(choice.value, Message(choice.reason, _CONTEXT))
                for group in table.chosen
                for field, choice in choices[group].items()
            }
            notes = tuple(Message(note, _CONTEXT) for note in table.notes)
            yield (
                name,
                Preset(**msgspec.structs.asdict(table) | {"chosen": chosen, "notes": notes}),
            )


def _tables(name: str, kind: type[T]) -> T:
    file = resources.files(__package__).joinpath(f"{name}.toml")
    return msgspec.toml.decode(file.read_bytes(), type=kind)
