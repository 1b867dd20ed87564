"""/ui/console/settings/safety: the checks of `idp doctor` that need only store and settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from handlers.console import commands
from handlers.console.base import ConsoleHandler
from handlers.console.sections import SECTIONS
from handlers.forms import cells
from handlers.forms.cells import Cell, cell, chip
from idp import api, doctor
from idp.doctor.check import Installation, Result
from idp.foundation.i18n import Message, message

_SECTION: Final = "safety"
FURTHER_CHECK_IDS: Final = ("proxy.address",)  # of a warning in the service's log
_STATES: Final[dict[str, tuple[Message, str | None]]] = {
    "ok": (message("OK", context="safety"), "good"),
    "warn": (message("warning", context="safety"), "warning"),
    "fail": (message("failed", context="safety"), "danger"),
    "skipped": (message("skipped", context="safety"), None),
}
_COLUMNS: Final = (
    message("Check", context="safety"),
    message("State", context="console"),
    message("Found", context="safety"),
    message("What to do", context="safety"),
)
_INTRO: Final = message(
    "What is registered and configured, as it is now. On the server, the command “idp doctor”"
    " checks the files, the store and the public address, too.",
    context="safety",
)


class SafetyHandler(ConsoleHandler):
    """Lists the results of the checks of `idp doctor`, those with findings first."""

    section = _SECTION

    async def show(self, *ids: str) -> None:
        service = self.service
        installation = Installation(
            config=service.config, clock=service.clock, store=service.store
        )
        results = await doctor.examine(
            installation, doctor.STORED_AREAS, further_ids=FURTHER_CHECK_IDS
        )
        results.sort(key=lambda result: result.finding.state in ("ok", "skipped"))
        self.page(
            "console/list",
            title_text=SECTIONS[_SECTION].label,
            intro=_INTRO,
            selection=None,
            search=None,
            columns=_COLUMNS,
            rows=[_row(result) for result in results],
            total=None,
            empty=message("There is nothing here yet.", context="console"),
            empty_icon="shield-check",
            first_url=None,
            next_url=None,
            actions=[],
            commands=commands.rendered(
                service.config, api.instance.DOCTOR, [], None, None, "doctor"
            ),
        )


def _row(result: Result) -> Sequence[Cell]:
    finding, is_ok = result.finding, not result.fix
    return [
        cells.text(result.check.about),
        cell(chip(_STATES, finding.state), "chip"),
        cells.text(None) if is_ok else cells.codes(_finding_names(result)),
        cells.text(None if is_ok else result.check.fix),
    ]


def _finding_names(result: Result) -> Sequence[str]:
    """Returns the names in the finding, and the total if the finding has more than it names."""
    finding = result.finding
    total = [f"… ({finding.count})"] if finding.count > len(finding.names) else []
    return [*finding.names, *total]


ROUTES = [(SECTIONS[_SECTION].path, SafetyHandler)]
