"""The checks of `idp doctor` in docs/how-to/observing.md: `python -m tests.support.checks_table`.

The table comes from the checks themselves. Run as a program this brings the page up to date;
`tox -e docs` refuses a page that is not.
"""

from __future__ import annotations

from pathlib import Path

from idp.doctor import AREAS

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "observing.md"
BEGIN = "<!-- checks: made by python -m tests.support.checks_table -->"
END = "<!-- end of checks -->"


def table() -> str:
    """A row for each check."""
    rows = [
        f"| {area} | `{check.id}` | {check.about.msgid} | {check.fix.msgid} |"
        for area, checks in AREAS.items()
        for check in checks
    ]
    head = ["| area | check | holds when | else |", "|---|---|---|---|"]
    return "\n".join(["", *head, *rows, ""])


def replaced(page: str) -> str:
    """The page with the checks of today."""
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


def main() -> None:
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
