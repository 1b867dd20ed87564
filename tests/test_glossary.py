"""The words of the code: the glossary is what its source says."""

from __future__ import annotations

import re

from tests.support import glossary


def test_the_glossary_is_made_from_its_source():
    text = glossary.PAGE.read_text(encoding="utf-8")

    assert text == glossary.page(), "run python -m tests.support.glossary"


def test_every_word_that_is_replaced_says_why():
    for word in glossary.words():
        re.compile(word["old"])
        assert word["why"].endswith("."), word
