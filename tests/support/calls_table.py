"""The calls as docs/reference/management.md shows them: `python -m tests.support.calls_table`.

The tables are made of `idp.api.PARTS`. Run as a program this brings the page up to date;
`tests/handlers/management/test_management_page.py` refuses a page that is not.
"""

from __future__ import annotations

from pathlib import Path

from idp.api import PARTS
from idp.schema.reading import declared

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "management.md"
BEGIN = "<!-- calls: made by python -m tests.support.calls_table -->"
END = "<!-- end of calls -->"

_HEAD = ("| call | permission | body | what it does |", "|---|---|---|---|")


def tables() -> str:
    """A table for each part of the API."""
    lines: list[str] = []
    for part, operations in PARTS.items():
        lines += ["", f"### {part}", "", *_HEAD, *map(_row, operations)]
    return "\n".join([*lines, ""])


def _row(operation) -> str:
    fields = declared(operation.request) if operation.request else ()
    body = " ".join(f"`{field.wire_name}`" for field in fields)
    address = f"{operation.method} `{operation.path}`"
    return f"| {address} | `{operation.permission}` | {body} | {operation.summary} |"


def page() -> str:
    """The page as it has to be."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n{tables()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
