"""The API reference in docs/reference/api/: `python -m tests.support.api_pages [--check]`.

Each part of the management API has a page, made of the OpenAPI description that the service serves
at /openapi.json: every call with its permission, its parameters, an example, and the fields of its
body and its answer. With `--check` nothing is written, and a page that differs, is missing or is
left over ends the program with status 1.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from idp.api import description
from idp.config.settings import Config

FOLDER = Path(__file__).parents[2] / "docs" / "reference" / "api"
ISSUER = "https://login.example.com"
MADE = "<!-- made by python -m tests.support.api_pages -->"
FIELDS = ("| field | type | |", "|---|---|---|")

Schema = dict[str, Any]
_METHODS = ("get", "post", "put", "patch", "delete")
_NO_CONTROL_CHARACTERS = r"^[^\u0000-\u001F\u007F-\u009F\u2028\u2029]*$"
_INTEGER_TEXT = r"^-?(0|[1-9][0-9]{0,18})$"


def pages() -> dict[str, str]:
    """The text of each page by its file's name."""
    document = description.document(Config().vendor, ISSUER)
    tags = [tag["name"] for tag in document["tags"]]
    made = {f"{slug(tag)}.md": _Page(document, tag).text() for tag in tags}
    return {"index.md": _index(document, tags), **made}


def slug(title: str) -> str:
    return title.lower().replace(" ", "-")


def _index(document: Schema, tags: list[str]) -> str:
    rows = [f"* [{tag}]({slug(tag)}.md): {len(list(_calls(document, tag)))} calls" for tag in tags]
    headers = [
        f"* `{each['name']}`: {each['description']}"
        for each in document["components"]["parameters"].values()
    ]
    return "\n".join(
        (
            *("# Management API, call by call", "", MADE, ""),
            "Made of the description that the service has at `/openapi.json`. How to call, who",
            "may, and the rules that all calls share: [Management over HTTP](../management.md).",
            *("", *rows, ""),
            *("Headers of requests:", "", *headers, ""),
            *("```{toctree}", ":hidden:", ":glob:", "", "*", "```", ""),
        )
    )


def _calls(document: Schema, tag: str) -> Iterator[tuple[str, str, Schema]]:
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if method in methods and tag in methods[method]["tags"]:
                yield method.upper(), path, methods[method]


class _Page:
    """One part of the API. Types are described at the end, each once."""

    def __init__(self, document: Schema, tag: str) -> None:
        self.document, self.tag = document, tag
        self.named: list[str] = []

    def text(self) -> str:
        calls = [line for call in _calls(self.document, self.tag) for line in self._call(*call)]
        types = self._types()
        lines = [f"# {self.tag}", "", MADE, "", *calls, "## Types", "", *types]
        return "\n".join(lines).rstrip("\n") + "\n"

    def _call(self, method: str, path: str, call: Schema) -> Iterator[str]:
        yield from (f"## {method} `{path}`", "", call["summary"], "")
        yield from (call["description"], "")
        parameters = [each for each in call["parameters"] if "$ref" not in each]
        if parameters:
            yield from ("| parameter | in | type |", "|---|---|---|")
            for each in parameters:
                yield f"| `{each['name']}` | {each['in']} | {self.kind(each['schema'])} |"
            yield ""
        if "requestBody" in call:
            body = call["requestBody"]["content"]["application/json"]
            example = json.dumps(body["example"], indent=2, ensure_ascii=False)
            yield from (f"Body: {self.kind(body['schema'])}. For example:", "")
            yield from ("```json", *example.splitlines(), "```", "")
        answers = call["responses"]["200"]["content"]
        others = [f"`{each}`" for each in answers if each != "application/json"]
        also = f"; with `Accept`, {' or '.join(others)}" if others else ""
        yield from (f"Answer: {self.kind(answers['application/json']['schema'])}{also}.", "")

    def _types(self) -> list[str]:
        lines: list[str] = []
        done: set[str] = set()
        while waiting := [name for name in self.named if name not in done]:
            done.add(waiting[0])
            lines += self._type(waiting[0])
        return lines

    def _type(self, name: str) -> Iterator[str]:
        schema = self.document["components"]["schemas"][name]
        yield from (f"### `{name}`", "")
        if "description" in schema:
            yield from (_cell(schema["description"]), "")
        properties = schema.get("properties", {})
        required = schema.get("required", ())
        if properties:
            yield from FIELDS
        for field, kind in properties.items():
            notes = ["required"] if field in required else []
            notes += _notes(kind)
            yield f"| `{field}` | {self.kind(kind)} | {'; '.join(notes)} |"
        yield from ([""] if properties else ["No fields of its own.", ""])

    def kind(self, schema: Schema) -> str:
        """The type of a value in words, with links to the types that it refers to."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            if name not in self.named:
                self.named.append(name)
            return f"[`{name}`](#{_anchor(name)})"
        if "anyOf" in schema:
            return " or ".join(self.kind(each) for each in schema["anyOf"])
        if "enum" in schema or "const" in schema:
            values = schema.get("enum", [schema.get("const")])
            return "one of " + ", ".join(f"`{json.dumps(value)}`" for value in values)
        if schema["type"] == "array":
            return f"list of {self.kind(schema['items'])}{_bounds(schema, 'Items', 'entries')}"
        if isinstance(schema.get("additionalProperties"), dict):
            return f"object, each value: {self.kind(schema['additionalProperties'])}"
        return _plain(schema)


def _anchor(name: str) -> str:
    return re.sub(r"[^\w-]", "", name.lower())


def _plain(schema: Schema) -> str:
    pattern = schema.get("pattern", "")
    if pattern == _INTEGER_TEXT:
        return "integer as a string"
    kind = schema.get("contentEncoding") or schema.get("format") or schema["type"]
    words = f"{kind}{_bounds(schema, 'Length', 'characters')}{_range(schema)}"
    if pattern and pattern != _NO_CONTROL_CHARACTERS:
        words += f", pattern `{_cell(pattern)}`"
    return words


def _bounds(schema: Schema, of: str, unit: str) -> str:
    least, most = schema.get(f"min{of}", 0), schema.get(f"max{of}")
    if most is None:
        return ""
    return f", {least} to {most} {unit}" if least else f", at most {most} {unit}"


def _range(schema: Schema) -> str:
    if "minimum" not in schema:
        return ""
    return f", {schema['minimum']} to {schema['maximum']}"


def _notes(schema: Schema) -> Iterator[str]:
    if "description" in schema:
        yield _cell(schema["description"]).rstrip(".")
    if "default" in schema:
        yield f"default `{_cell(json.dumps(schema['default'], ensure_ascii=False))}`"


def _cell(text: str) -> str:
    """Text of one line, in which no character ends a cell."""
    return re.sub(r"\s+", " ", text).replace("|", r"\|")


def differing() -> list[str]:
    """The names of pages that are not as they have to be, missing or left over."""
    made, there = pages(), {path.name: path for path in FOLDER.glob("*.md")}
    return sorted(
        name
        for name in made.keys() | there.keys()
        if name not in made
        or name not in there
        or there[name].read_text(encoding="utf-8") != made[name]
    )


def main(arguments: list[str]) -> int:
    """Writes the pages, or with `--check` prints which differ; returns 1 if one does."""
    if "--check" in arguments:
        for name in (found := differing()):
            print(f"docs/reference/api/{name}: run python -m tests.support.api_pages")
        return int(bool(found))
    FOLDER.mkdir(exist_ok=True)
    for name in differing():
        (FOLDER / name).unlink(missing_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
