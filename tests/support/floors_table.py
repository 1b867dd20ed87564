"""Writes the floors of the code into documents: `python -m tests.support.floors_table`.

Order and names come from the import contract `floors` in setup.cfg, the purpose of a package from
the first sentence of its docstring. Run as a program, this module updates docs/architecture.md;
`tox -e docs` fails if a page is not up to date.
"""

from __future__ import annotations

import ast
import configparser
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ("docs/architecture.md",)
BEGIN = "<!-- floors: made by python -m tests.support.floors_table -->"
END = "<!-- end of floors -->"

# Packages of markup and texts, which import no other package and are imported by none.
_DATA = ("templates", "locales")


def floors() -> list[list[str]]:
    """The modules and packages of each floor, the lowest first; those of one floor may not import
    each other."""
    settings = configparser.ConfigParser(interpolation=None)
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    lines = settings["importlinter:contract:floors"]["layers"].split("\n")
    return [[name.strip() for name in line.split("|")] for line in reversed(lines) if line.strip()]


def table() -> str:
    """The floors as a table: each imports only floors above it in the table."""
    rows = ["| package | what is in it |", "|---|---|"]
    for floor in [*floors(), list(_DATA)]:
        rows += [f"| `{_path(name)}` | {_purpose(name)} |" for name in floor]
    return "\n".join(rows)


def replaced(page: str) -> str:
    """The page with the current table."""
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    return pattern.sub(lambda _: f"{BEGIN}\n\n{table()}\n\n{END}", page)


def _path(name: str) -> str:
    path = name.replace(".", "/")
    return f"{path}/" if (ROOT / path).is_dir() else f"{path}.py"


def _purpose(name: str) -> str:
    path = ROOT / name.replace(".", "/")
    module = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    sentence = " ".join(text.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")
    return sentence.replace("|", "\\|")


if __name__ == "__main__":
    for name in PAGES:
        page = ROOT / name
        page.write_text(replaced(page.read_text(encoding="utf-8")), encoding="utf-8")
