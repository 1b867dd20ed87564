"""The glossary of the code: `python -m tests.support.glossary` writes docs/style/glossary.md.

Its source is docs/style/words.toml: terms with their meanings, and words that are replaced.
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


def words() -> list[dict[str, str]]:
    """The words that are replaced in code."""
    return [each for each in _source()["words"] if "code" in each["scopes"]]


def page() -> str:
    """The glossary as a page."""
    source = _source()
    lines = ["# Glossary", "", "One word, one meaning, in code, comments and developer documents."]
    lines += ["", "| term | meaning |", "|---|---|"]
    lines += [f"| {each['term']} | {each['meaning']} |" for each in source["terms"]]
    lines += [
        "",
        "Words that are replaced:",
        "",
        "| instead of | say | because |",
        "|---|---|---|",
    ]
    lines += [
        f"| {each['old'].replace('|', ', ')} | {each['new'] or '(nothing)'} | {each['why']} |"
        for each in source["words"]
    ]
    return "\n".join([*lines, ""])


def used(old: str) -> int:
    """How often a word stands in names and public docstrings of the product."""
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
    """What a node names, as words, and its docstring if others may read it."""
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
