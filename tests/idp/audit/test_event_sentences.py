"""The sentences of events: one for each type, about what its events have."""

from __future__ import annotations

from pathlib import Path

import idp
from idp.audit import event_details, failure_events, retention
from idp.audit.event_sentences import BY_SERVICE, DETAILED, SENTENCES, placeholders, sentence
from idp.audit.event_types import TYPES, object_of
from idp.backup import restoring
from idp.cli.commands import admin
from idp.identity.guesses import lock_ends
from idp.oauth import key_rotation
from idp.start import first_start

MAX_WORDS = 12
ALWAYS = {"editor", "object"}
TEXTS = [*SENTENCES.values(), *DETAILED.values()]


def test_each_type_has_a_sentence_and_there_are_no_others():
    assert set(SENTENCES) == set(TYPES)
    assert set(DETAILED) < set(TYPES)


def test_a_sentence_is_short_and_ends_with_a_period():
    texts = [text.msgid for text in TEXTS]

    assert [text for text in texts if len(text.split()) > MAX_WORDS or text[-1] != "."] == []


def test_a_sentence_without_payload_names_at_most_editor_and_object():
    assert {name for text in SENTENCES.values() for name in placeholders(text)} == ALWAYS


def test_the_sentence_of_a_refused_attempt_names_no_editor():
    refused = [SENTENCES[name] for name in event_details.SENTENCES]

    assert [text for text in refused if "editor" in placeholders(text)] == []


def test_a_sentence_names_members_of_the_payload_that_the_event_is_written_with():
    sources = [path.read_text() for path in Path(idp.__file__).parent.rglob("*.py")]
    unknown = [
        (event_type, name)
        for event_type, text in DETAILED.items()
        for name in placeholders(text) - ALWAYS
        if not any(f'"{name}": ' in each for each in sources if writes(each, event_type))
    ]

    assert unknown == []


def writes(source, event_type):
    is_key = object_of(event_type) in ("app_key", "user_key")
    return ("_event_object(owner)}.created" if is_key else f'"{event_type}"') in source


def test_a_member_of_the_payload_is_named_unless_it_was_erased():
    assert sentence("pat.created", {"user": "1"}) == DETAILED["pat.created"]
    assert sentence("pat.created", {}) == SENTENCES["pat.created"]


def test_all_members_that_a_sentence_names_have_to_be_there():
    assert sentence("group_member.created", {"user": "1"}) == SENTENCES["group_member.created"]


def test_a_type_of_another_release_has_no_sentence():
    assert sentence("user.abducted", {"user": "1"}) is None


def test_each_actor_that_is_no_user_has_a_name():
    assert set(BY_SERVICE) == {
        admin.ACTOR,
        failure_events.ACTOR,
        first_start.ACTOR,
        key_rotation.SCHEDULE,
        lock_ends.ACTOR,
        restoring.ACTOR,
        retention.ACTOR,
    }
