"""The glossary: `python -m tests.support.glossary` writes docs/style/glossary.md.

Its source is docs/style/words.toml: terms with their meanings, and words that are replaced, in the
code and in the texts that users read.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORDS = ROOT / "docs" / "style" / "words.toml"
PAGE = ROOT / "docs" / "style" / "glossary.md"
CODE = ("idp", "handlers", "storage")

_PART = re.compile(r"_|(?<=[a-z])(?=[A-Z])")


def words(scope: str = "code") -> list[dict[str, str]]:
    """The words that are replaced in a scope."""
    return [each for each in _source()["words"] if scope in each["scopes"]]


def texts_words() -> list[dict[str, str]]:
    """The words that are replaced in pages, mails or documents."""
    return [each for each in _source()["words"] if "fails" in each]


def translations_words() -> list[dict[str, str]]:
    """The words that are replaced in the translations of a language."""
    return _source()["translations"]


def page() -> str:
    """The glossary as a page."""
    source = _source()
    lines = [
        "# Glossary",
        "",
        "One word, one meaning, in code, comments, documents, pages and mails.",
    ]
    lines += ["", "| term | meaning |", "|---|---|"]
    lines += [f"| {each['term']} | {each['meaning']} |" for each in source["terms"]]
    lines += [
        "",
        "Words that are replaced in code:",
        "",
        "| instead of | say | because |",
        "|---|---|---|",
    ]
    lines += [
        f"| {each['old'].replace('|', ', ')} | {each['new'] or '(nothing)'} | {each['why']} |"
        for each in words()
    ]
    lines += [
        "",
        "Words that are replaced in texts of pages, API errors, mails and documents, by examples:",
        "",
        "| in | instead of | write | because |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {', '.join(each['scopes'])} | {each['fails']} | {each['passes']} | {each['why']} |"
        for each in texts_words()
    ]
    lines += [
        "",
        "Words that are replaced in translations:",
        "",
        "| language | instead of | write |",
        "|---|---|---|",
    ]
    lines += [
        f"| {each['language']} | {each['fails']} | {each['passes']} |"
        for each in translations_words()
    ]
    return "\n".join([*lines, ""])


def used(old: str) -> int:
    """The number of occurrences of a word in names and public docstrings of the product."""
    pattern = re.compile(rf"\b(?:{old})\b", re.IGNORECASE)
    return sum(len(pattern.findall(text)) for text in _texts())


def _source() -> dict[str, list[dict[str, str]]]:
    return tomllib.loads(WORDS.read_text(encoding="utf-8"))


@cache
def _texts() -> tuple[str, ...]:
    return tuple(_read())


def _read() -> Iterator[str]:
    for name in CODE:
        for path in sorted((ROOT / name).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                yield from _texts_of(node)


def _texts_of(node: ast.AST) -> Iterator[str]:
    """The name that a node defines, as words, and its docstring if the name is public."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield _as_words(node.name)
        if not node.name.startswith("_"):
            yield ast.get_docstring(node) or ""
    elif isinstance(node, ast.Module):
        yield ast.get_docstring(node) or ""
    elif isinstance(node, ast.arg):
        yield _as_words(node.arg)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield _as_words(node.id)


def _as_words(name: str) -> str:
    return " ".join(_PART.split(name))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
