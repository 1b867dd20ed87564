"""The words of code, pages, mails, API errors and documents, as docs/style/words.toml has them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from tests.support import glossary

ROOT = glossary.ROOT
SCOPES = ("ui", "api", "mail", "docs")
WITHOUT_SPACES = ("ja", "zh-Hans")
# A sentence of a page or mail has at most so many words.
LONGEST = 20
LONGEST_IN_DOCUMENTS = 25
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

_PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]")
_CODE = re.compile(r"```.*?```|`[^`]*`|<!--.*?-->|\]\([^)]*\)", re.DOTALL)
_ALLOWED = re.compile(r"<!-- words: allow ([^:]+): (.+?) -->")
_SENTENCE_END = re.compile(r"(?<=[.?!:;])\s+")
# Cells of tables and points of lists end one, too.
_DOCUMENT_SENTENCE_END = re.compile(r"(?<=[.?!:;])\s+|\s\|\s|\s\|$|^\| |\s\* |\s\d\. ")


def problems() -> Iterator[str]:
    """Each use of a word that is replaced, and each sentence that is too long."""
    for word in glossary.words():
        if (used := glossary.used(word["old"])) > LEFT.get(word["old"], 0):
            yield f"names and docstrings have {word['old']} {used} times: write {word['new']}"
    yield from _examples()
    for scope in SCOPES:
        texts = list(_texts(scope))
        for word in glossary.words(scope):
            yield from _uses(word, texts)
    for word in glossary.translations_words():
        yield from _uses(word, list(_translations(word["language"])))
    yield from _long_sentences()


def _pattern(word: dict[str, str]) -> re.Pattern[str]:
    """Whole words, in any case; a part of a compound with a hyphen is no whole word. Chinese and
    Japanese are written without spaces."""
    if word.get("language") in WITHOUT_SPACES:
        return re.compile(word["old"])
    return re.compile(rf"(?<![\w:-])(?:{word['old']})(?![\w-])", re.IGNORECASE)


def _examples() -> Iterator[str]:
    """The words whose own examples, which the glossary shows, say something else."""
    for word in (*glossary.texts_words(), *glossary.translations_words()):
        if not _pattern(word).search(word["fails"]) or _pattern(word).search(word["passes"]):
            yield f"docs/style/words.toml: the examples of {word['old']} are wrong"


def _uses(word: dict[str, str], texts: list[str]) -> Iterator[str]:
    for text in texts:
        for match in _pattern(word).finditer(text):
            around = text[max(0, match.start() - 60) : match.end() + 60]
            yield f"“{match[0]}” in “{around}”: write {word['new']}"


def _texts(scope: str) -> Iterator[str]:
    if scope == "docs":
        for path in _documents():
            yield from _prose(path.read_text(encoding="utf-8"))
    elif scope == "api":
        yield from (_CODE.sub("", text) for text in _error_texts())
    else:
        for context, text in _catalog_texts():
            if (context == "mail") == (scope == "mail"):
                yield _PLACEHOLDER.sub("", text)


def _documents() -> list[Path]:
    """The documents that users read; the conformance page is made of names of tests."""
    left_out = {"architecture.md", "conformance.md", "glossary.md"}
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return [ROOT / "README.md", *(page for page in pages if page.name not in left_out)]


def _prose(text: str) -> Iterator[str]:
    """The paragraphs of a document, without code, addresses of links and allowed words."""
    allowed = [found[1] for found in _ALLOWED.finditer(text)]
    for paragraph in re.split(r"\n\s*\n", _CODE.sub("", text)):
        joined = " ".join(paragraph.split())
        for word in allowed:
            joined = joined.replace(word, "")
        yield joined


def _error_texts() -> Iterator[str]:
    """The texts of the error catalogue."""
    for path in sorted((ROOT / "idp" / "error_catalogue").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                for each in ast.walk(node):
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        yield each.value


def _catalog(name: str) -> Iterator[Message]:
    with (ROOT / "locales" / name).open("rb") as file:
        yield from (entry for entry in read_po(file) if entry.id)


def _catalog_texts() -> Iterator[tuple[str, str]]:
    """Each text of the sources with its context."""
    for entry in _catalog("messages.pot"):
        for text in [entry.id] if isinstance(entry.id, str) else entry.id:
            yield entry.context or "", text


def _translations(language: str) -> Iterator[str]:
    for entry in _catalog(f"{language}.po"):
        for text in [entry.string] if isinstance(entry.string, str) else entry.string:
            yield _PLACEHOLDER.sub("", text)


def _long_sentences() -> Iterator[str]:
    """Those of pages and mails, and of the documents that a new reader meets first."""
    docs = ROOT / "docs"
    first = [ROOT / "README.md", *docs.glob("tutorials/*.md"), *docs.glob("**/index.md")]
    first += [
        docs / "explanation" / f"{name}.md"
        for name in ("comparison", "organizations-and-projects", "sessions-and-tokens")
    ]
    for path in first:
        for paragraph in _prose(path.read_text(encoding="utf-8")):
            for sentence in _DOCUMENT_SENTENCE_END.split(paragraph):
                if len(sentence.split()) > LONGEST_IN_DOCUMENTS:
                    yield f"{path.relative_to(ROOT)}: too long: {sentence}"
    for _, text in _catalog_texts():
        for sentence in _SENTENCE_END.split(text):
            if len(sentence.split()) > LONGEST:
                yield f"too long: {sentence}"
