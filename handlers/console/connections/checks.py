"""The list of checks on the console's pages of a connection's check and test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from handlers.forms import cells
from handlers.forms.run_operation import Document
from idp.foundation.i18n import Message, message

_CHECK: Final = message("Check", context="safety")
_OUTCOME: Final = message("Result", context="connections")
_OUTCOMES: Final[Mapping[str, tuple[Message, str | None]]] = {
    "passed": (message("Passed", context="connections"), "good"),
    "failed": (message("Failed", context="connections"), "danger"),
    "unknown": (message("Not determined", context="connections"), "warning"),
}


def list_of_checks(checks: Iterable[tuple[Message | str, Document]]) -> dict[str, Any]:
    """Returns the template value of the list of these checks, each with the text of what it
    checks. Lines below it say what was found, and how to fix a failure."""
    rows = [
        [
            cells.cell(cells.chip(_OUTCOMES, check["outcome"]), "chip"),
            cells.lines([what, *(check[name] for name in ("details", "fix") if check.get(name))]),
        ]
        for what, check in checks
    ]
    title = message("Checks", context="connections")
    return cells.sub_list(title, [_OUTCOME, _CHECK], rows, _CHECK)
