"""What the events about connections state of a change. No payload holds a secret."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from idp.management.connections import trust, views
from idp.records.connections import ProviderConnection

_MAX_VALUE: Final = 1000  # characters; settings may be much longer


def of_change(before: ProviderConnection, after: ProviderConnection) -> Mapping[str, str]:
    """Returns the old and the new value of each setting that differs, by its name in the API and
    `before` or `after`; of the client secret, that it was changed."""
    payload = _differences(dict(_settings(before)), dict(_settings(after)))
    if before.sealed_secrets != after.sealed_secrets:
        payload["clientSecret"] = "changed"
    return {**payload, **trust.changes(before.settings, after.settings)}


def of_list(before: Sequence[str], after: Sequence[str]) -> dict[str, str]:
    """Returns which ids a list has got and lost, with spaces between them."""
    added = " ".join(each for each in after if each not in before)
    removed = " ".join(each for each in before if each not in after)
    named = {"added": added, "removed": removed}
    return {name: ids for name, ids in named.items() if ids}


def _differences(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    payload: dict[str, str] = {}
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            payload[f"{name}.before"] = old.get(name, "")[:_MAX_VALUE]
            payload[f"{name}.after"] = new.get(name, "")[:_MAX_VALUE]
    return payload


def _settings(connection: ProviderConnection) -> Iterator[tuple[str, str]]:
    return _flat("", views.settings_of(connection))


def _flat(path: str, members: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the values of nested objects, each with the names that lead to it."""
    for name, value in members.items():
        if isinstance(value, dict):
            yield from _flat(f"{path}{name}.", value)
        else:
            yield f"{path}{name}", value if isinstance(value, str) else json.dumps(value)
