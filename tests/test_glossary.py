"""The words of the code: the glossary is what its source says."""

from __future__ import annotations

import re

from tests.support import glossary

# How often words that are replaced still stand in names and public docstrings. A number may only
# become smaller. Some stay:
# - fields of stored records: `agent_id`, `proven_*`, `proves`, `told`, `told_at`, `reason_slug`,
#   and the collection `leftovers` with its record
# - docstrings of requests and answers, which are the description of the API, and help texts of
#   commands: `letter`, "kept", "Tell"
# - "letter" for a character
LEFT = {
    "told|tell|tells|telling": 4,
    "letter|letters": 6,
    "proven|prove|proves|proof|proofs": 10,
    "agent|agents": 7,
    "slug|slugs": 1,
    "kept": 1,
}


def test_the_glossary_is_made_from_its_source():
    text = glossary.PAGE.read_text(encoding="utf-8")

    assert text == glossary.page(), "run python -m tests.support.glossary"


def test_every_word_that_is_replaced_says_why():
    for word in glossary.words():
        re.compile(word["old"])
        assert word["why"].endswith("."), word


def test_words_that_are_replaced_become_fewer():
    more = {
        word["old"]: found
        for word in glossary.words()
        if (found := glossary.used(word["old"])) > LEFT.get(word["old"], 0)
    }

    assert not more, "say it with the words of docs/style/glossary.md"
