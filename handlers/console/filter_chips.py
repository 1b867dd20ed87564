"""The filters of a list that are in use: each can be removed by a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from handlers.forms.fields import FormField
from idp.foundation.i18n import Message


class FilterChip(Struct, frozen=True):
    """A filter in use: its label, its value, and the address of the list without it."""

    label: Message
    value: Message | str
    url: str


def used(fields: Sequence[FormField], values: Mapping[str, str]) -> dict[str, str]:
    """Returns the values of the filters that are in use: those that differ from the default."""
    return {
        field.path: values[field.path]
        for field in fields
        if values[field.path] not in ("", field.default)
    }


def chips(
    fields: Sequence[FormField], values: Mapping[str, str], page_url: Callable[..., str]
) -> list[FilterChip]:
    """Returns a chip for each filter in use; `page_url` makes the address of the list with the
    other ones."""
    in_use = used(fields, values)
    return [
        FilterChip(
            field.label,
            dict(field.options).get(value, value),
            page_url(**{name: other for name, other in in_use.items() if name != field.path}),
        )
        for field in fields
        if (value := in_use.get(field.path))
    ]
