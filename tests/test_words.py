"""The words of pages, mails, API errors and documents, as docs/style/words.toml has them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from tests.support import glossary

ROOT = glossary.ROOT
SCOPES = ("ui", "api", "mail", "docs")
WITHOUT_SPACES = ("ja", "zh-Hans")
# A sentence of a page or mail has at most so many words.
LONGEST = 20
LONGEST_IN_DOCUMENTS = 25

_PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]")
_CODE = re.compile(r"```.*?```|`[^`]*`|<!--.*?-->|\]\([^)]*\)", re.DOTALL)
_ALLOWED = re.compile(r"<!-- words: allow ([^:]+): (.+?) -->")
_SENTENCE_END = re.compile(r"(?<=[.?!:;])\s+")
# Cells of tables and points of lists end one, too.
_DOCUMENT_SENTENCE_END = re.compile(r"(?<=[.?!:;])\s+|\s\|\s|\s\|$|^\| |\s\* |\s\d\. ")


def pattern(word: dict[str, str]) -> re.Pattern[str]:
    """Whole words, in any case; a part of a compound with a hyphen is no whole word. Chinese and
    Japanese are written without spaces.
    """
    if word.get("language") in WITHOUT_SPACES:
        return re.compile(word["old"])
    return re.compile(rf"(?<![\w:-])(?:{word['old']})(?![\w-])", re.IGNORECASE)


@cache
def catalog(name: str) -> tuple[Message, ...]:
    with (ROOT / "locales" / name).open("rb") as file:
        return tuple(entry for entry in read_po(file) if entry.id)


def catalog_texts() -> Iterator[tuple[str, str]]:
    """Each text of the sources with its context."""
    for entry in catalog("messages.pot"):
        for text in [entry.id] if isinstance(entry.id, str) else entry.id:
            yield entry.context or "", text


def translations(language: str) -> Iterator[str]:
    for entry in catalog(f"{language}.po"):
        for text in [entry.string] if isinstance(entry.string, str) else entry.string:
            yield _PLACEHOLDER.sub("", text)


def error_texts() -> Iterator[str]:
    """The causes of API errors, and how to resolve them."""
    for path in sorted((ROOT / "idp" / "error_catalogue").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield from (
                    each.value
                    for each in ast.walk(node)
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                )


def documents() -> list[Path]:
    """The documents that users read; the conformance page is made of names of tests."""
    left_out = {"architecture.md", "conformance.md", "glossary.md"}
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return [ROOT / "README.md", *(page for page in pages if page.name not in left_out)]


def texts(scope: str) -> Iterator[str]:
    if scope == "docs":
        for path in documents():
            yield from _prose(path.read_text(encoding="utf-8"))
    elif scope == "api":
        yield from (_CODE.sub("", text) for text in error_texts())
    else:
        for context, text in catalog_texts():
            if (context == "mail") == (scope == "mail"):
                yield _PLACEHOLDER.sub("", text)


def _prose(text: str) -> Iterator[str]:
    """The paragraphs of a document, without code, addresses of links and allowed words."""
    allowed = [found[1] for found in _ALLOWED.finditer(text)]
    for paragraph in re.split(r"\n\s*\n", _CODE.sub("", text)):
        joined = " ".join(paragraph.split())
        for word in allowed:
            joined = joined.replace(word, "")
        yield joined


@pytest.mark.parametrize("scope", SCOPES)
def test_no_text_has_a_word_that_is_replaced(scope):
    patterns = [(word["new"], pattern(word)) for word in glossary.words(scope)]

    found = [
        f"“{match[0]}” in “{text[max(0, match.start() - 60) : match.end() + 60]}”: write {new}"
        for text in texts(scope)
        for new, words in patterns
        for match in words.finditer(text)
    ]

    assert not found, "\n".join(found)


@pytest.mark.parametrize("word", glossary.texts_words(), ids=lambda word: word["fails"])
def test_a_word_is_found_in_its_bad_example_and_not_in_its_good_one(word):
    assert pattern(word).search(word["fails"])
    assert not pattern(word).search(word["passes"])
    assert set(word["scopes"]) <= set(SCOPES)
    assert word["why"].endswith(".")


@pytest.mark.parametrize(
    "word", glossary.translations_words(), ids=lambda word: f"{word['language']}: {word['old']}"
)
def test_no_translation_has_a_word_that_is_replaced(word):
    words = pattern(word)

    assert words.search(word["fails"])
    assert not words.search(word["passes"])
    found = [text for text in translations(word["language"]) if words.search(text)]
    assert not found, f"write {word['new']}"


def test_no_good_example_has_another_word_that_is_replaced():
    found = [
        (word["passes"], other["old"])
        for word in glossary.texts_words()
        for other in glossary.texts_words()
        if set(word["scopes"]) & set(other["scopes"]) and pattern(other).search(word["passes"])
    ]

    assert found == []


def test_the_list_is_long_enough_to_matter():
    assert len(glossary.texts_words()) >= 60


def test_an_allowed_word_is_in_its_document_and_has_a_reason():
    for path in documents():
        text = path.read_text(encoding="utf-8")
        for word, reason in _ALLOWED.findall(text):
            assert word in _CODE.sub("", text), (path, word)
            assert len(reason.split()) > 2, (path, word)


def short_documents() -> list[Path]:
    """The documents whose sentences are held to the limit: those that a new reader meets first."""
    found = [ROOT / "README.md", *(ROOT / "docs" / "tutorials").glob("*.md")]
    found += [*(ROOT / "docs").glob("index.md"), *(ROOT / "docs").glob("*/index.md")]
    return found + [
        ROOT / "docs" / "explanation" / f"{name}.md"
        for name in ("comparison", "organizations-and-projects", "sessions-and-tokens")
    ]


def test_sentences_of_first_documents_are_short():
    sentences = [
        sentence
        for path in short_documents()
        for paragraph in _prose(path.read_text(encoding="utf-8"))
        for sentence in _DOCUMENT_SENTENCE_END.split(paragraph)
    ]

    assert len(sentences) > 300
    assert [each for each in sentences if len(each.split()) > LONGEST_IN_DOCUMENTS] == []


def test_sentences_of_pages_and_mails_are_short():
    too_long = [
        sentence
        for _, text in catalog_texts()
        for sentence in _SENTENCE_END.split(text)
        if len(sentence.split()) > LONGEST
    ]

    assert too_long == []
