"""Updates the catalogues from the sources: `python -m locales.extract`.

It writes the template, `messages.pot`. In each language, new messages are added with an empty
translation, obsolete ones are removed, and the others are unchanged. Run it in the root of the
source tree, then translate the empty messages; a test fails for untranslated ones."""

from __future__ import annotations

import ast
import io
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_keywords, parse_mapping_cfg
from babel.messages.pofile import read_po, write_po

KEYWORDS = parse_keywords(["_", "ngettext:1,2", "pgettext:1c,2", "npgettext:1c,2,3"])
COMMENT = "TRANSLATORS:"
SOURCE = "en"  # the language of the msgids, as in idp/foundation/i18n.py

TEMPLATE_COMMENT = "# Every text of the sources, made by `python -m locales.extract`: not edited."

HEAD = """\
{comment}
msgid ""
msgstr ""
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plural_forms}\\n"

"""

Extracted = tuple[int, str, tuple[str | None, ...], list[str]]


def from_python(
    file: IO[bytes],
    keywords: Iterable[str],
    comment_tags: Iterable[str],
    options: Mapping[str, object],
) -> Iterator[Extracted]:
    """Yields the texts of a Python file: those of `message(…, context=…, plural=…)` and of the
    gettext functions.

    It is an extractor of Babel, whose own reads tokens and cannot distinguish named arguments.
    """
    source = file.read().decode()
    lines = source.splitlines()
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    for node in sorted(calls, key=lambda node: node.lineno):
        if call := _call(node):
            yield (node.lineno, *call, _comments(lines, node.lineno))


def from_presets(
    file: IO[bytes],
    keywords: Iterable[str],
    comment_tags: Iterable[str],
    options: Mapping[str, object],
) -> Iterator[Extracted]:
    """Yields the notes of presets and the reasons of choices (`idp/clients/presets/preset.py`)."""
    for table in tomllib.load(file).values():
        notes = table.get("notes", ())
        reasons = [each["reason"] for each in table.values() if isinstance(each, dict)]
        for text in (*notes, *reasons):
            yield 0, "pgettext", ("presets", text), []


def from_sentences(
    file: IO[bytes],
    keywords: Iterable[str],
    comment_tags: Iterable[str],
    options: Mapping[str, object],
) -> Iterator[Extracted]:
    """Yields the sentences of events (`idp/audit/event_sentences.py`)."""
    for table in tomllib.load(file).values():
        for sentences in table.values():
            for text in [sentences] if isinstance(sentences, str) else sentences:
                yield 0, "pgettext", ("events", text), []


def _call(node: ast.Call) -> tuple[str, tuple[str | None, ...]] | None:
    name = _name(node.func)
    texts = tuple(_literal(value) for value in node.args)
    if name == "message" and texts and texts[0] is not None:
        return _message(texts[0], {word.arg: _literal(word.value) for word in node.keywords})
    return (name, texts) if name in KEYWORDS and texts else None


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _message(
    msgid: str, keywords: Mapping[str | None, str | None]
) -> tuple[str, tuple[str | None, ...]]:
    context, plural = keywords.get("context"), keywords.get("plural")
    if plural is None:
        return ("_", (msgid,)) if context is None else ("pgettext", (context, msgid))
    if context is None:
        return "ngettext", (msgid, plural)
    return "npgettext", (context, msgid, plural)


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _comments(lines: list[str], lineno: int) -> list[str]:
    """Returns the translators' comment in the lines immediately above, if there is one."""
    comment_lines: list[str] = []
    for line in reversed(lines[: lineno - 1]):
        if not line.strip().startswith("#"):
            return []
        comment_lines.insert(0, line.strip().lstrip("# "))
        if comment_lines[0].startswith(COMMENT):
            return comment_lines
    return []


def extracted(root: Path) -> Catalog:
    """Returns every text of the source tree as the template for the languages."""
    with (root / "locales" / "babel.cfg").open() as file:
        methods, options = parse_mapping_cfg(file)  # type: ignore[no-untyped-call]
    catalog = Catalog(locale=SOURCE, header_comment=TEMPLATE_COMMENT)
    for path, _, msgid, comments, context in extract_from_dir(
        root, methods, options, KEYWORDS, (COMMENT,), strip_comment_tags=True
    ):
        catalog.add(msgid, locations=[(path, 0)], auto_comments=comments, context=context)
    return catalog


def written(catalog: Catalog) -> bytes:
    """Returns the file of a catalogue: sorted, without positions and dates, so that differences
    are small.
    """
    body = io.BytesIO()
    write_po(body, catalog, width=0, no_location=True, sort_by_file=True, omit_header=True)
    head = HEAD.format(
        comment=catalog.header_comment,
        language=str(catalog.locale_identifier).replace("_", "-"),
        plural_forms=catalog.plural_forms,
    )
    return head.encode() + body.getvalue()


def main() -> None:
    root = Path.cwd()
    template = extracted(root)
    replace(root / "locales" / "messages.pot", template)
    for path in sorted((root / "locales").glob("*.po")):
        with path.open("rb") as file:
            catalog = read_po(file, locale=path.stem.replace("-", "_"))
        catalog.update(template, no_fuzzy_matching=True)
        catalog.obsolete.clear()
        replace(path, catalog)


def replace(path: Path, catalog: Catalog) -> None:
    """Replaces the file of a catalogue."""
    new_path = path.with_suffix(".new")
    new_path.write_bytes(written(catalog))
    new_path.replace(path)  # a reader sees the old file or the new one, never a part


if __name__ == "__main__":
    main()
