"""What each type of event says, as one sentence: "Ada Byron locked the user Max Braun."

The placeholders are `%(editor)s`, the name of who made the change (or the text in `BY_SERVICE`);
`%(object)s`, the name or the id of the record that the event is about; and in some sentences
members of the payload, each the id of a record, but for `domain` and `key`, which are names:
`client`, `connection_id`, `grantedOrganization`, `group`, `owner`, `project`, `subject`, `user`.

An event may be without such a member: if its payload was erased, or the change was part of the
deletion of another record. So `sentence` chooses by the payload.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from importlib import resources
from typing import Final

import msgspec

from idp.foundation.i18n import Message, message

_CONTEXT: Final = "events"  # as in locales/extract.py
_PLACEHOLDER: Final = re.compile(r"%\((\w+)\)s")
_Tables = dict[str, dict[str, str | list[str]]]


def _read() -> Iterator[tuple[str, list[Message]]]:
    """Yields each type with its sentences, the most detailed one first."""
    file = resources.files(__package__).joinpath("event_sentences.toml")
    for name, changes in msgspec.toml.decode(file.read_bytes(), type=_Tables).items():
        for change, texts in changes.items():
            texts = [texts] if isinstance(texts, str) else texts
            yield f"{name}.{change}", [Message(text, _CONTEXT) for text in texts]


_ALL: Final = dict(_read())
# Those that need no payload, and those that name members of it.
SENTENCES: Final[Mapping[str, Message]] = {name: texts[-1] for name, texts in _ALL.items()}
DETAILED: Final[Mapping[str, Message]] = {
    name: texts[0] for name, texts in _ALL.items() if len(texts) > 1
}

# By the actor of an event that no user has caused.
BY_SERVICE: Final[Mapping[str, Message]] = {
    "anonymous": message("An unknown client", context="events"),
    "command line": message("The command line", context="events"),
    "lockout": message("The lockout policy", context="events"),
    "restore": message("The restore of a backup", context="events"),
    "retention": message("The service", context="events"),
    "schedule": message("The service", context="events"),
    "set-up": message("Setup", context="events"),
}


def sentence(event_type: str, payload: Collection[str]) -> Message | None:
    """Returns the most detailed sentence of this type whose placeholders are members of the
    payload; None for a type of another release."""
    detailed = DETAILED.get(event_type)
    if detailed is not None and placeholders(detailed) <= {"editor", "object", *payload}:
        return detailed
    return SENTENCES.get(event_type)


def placeholders(text: Message) -> frozenset[str]:
    """Returns the names of a sentence's placeholders."""
    return frozenset(_PLACEHOLDER.findall(text.msgid))
