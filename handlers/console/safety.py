"""/ui/console/settings/safety: the checks of `idp doctor` that need only store and settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from handlers.console import commands
from handlers.console.base import ConsoleHandler
from handlers.console.sections import SECTIONS
from handlers.forms import cells
from handlers.forms.cells import Cell, cell, chip
from handlers.forms.run_operation import BY_NAME
from idp import doctor
from idp.doctor.check import Installation, Result
from idp.foundation.i18n import Message, message

_SECTION: Final = "safety"
_OPERATION: Final = "GET /admin/v1/doctor"
ALSO: Final = ("proxy.address",)  # what the service has warned of in its log
_STATES: Final[dict[str, tuple[Message, str | None]]] = {
    "ok": (message("all well", context="safety"), "good"),
    "warn": (message("warning", context="safety"), "bad"),
    "fail": (message("failed", context="safety"), "bad"),
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
        here = Installation(config=service.config, clock=service.clock, store=service.store)
        results = await doctor.examine(here, doctor.OF_WHAT_IS_STORED, also=ALSO)
        results.sort(key=lambda each: each.finding.state in ("ok", "skipped"))
        self.page(
            "console/list",
            title_text=SECTIONS[_SECTION].label,
            intro=_INTRO,
            search=None,
            columns=_COLUMNS,
            rows=[_row(each) for each in results],
            total=None,
            empty=message("There is nothing here yet.", context="console"),
            first_url=None,
            next_url=None,
            actions=[],
            commands=commands.rendered(
                service.config, BY_NAME[_OPERATION], [], None, None, "doctor"
            ),
        )


def _row(result: Result) -> Sequence[Cell]:
    finding, is_well = result.finding, not result.fix
    return [
        cells.text(result.check.about),
        cell(chip(_STATES, finding.state), "chip"),
        cells.text(None) if is_well else cells.codes(_named(result)),
        cells.text(None if is_well else result.check.fix),
    ]


def _named(result: Result) -> Sequence[str]:
    """Returns the names in the finding, and the total if there are more."""
    finding = result.finding
    more = [f"… ({finding.count})"] if finding.count > len(finding.names) else []
    return [*finding.names, *more]


ROUTES = [(SECTIONS[_SECTION].path, SafetyHandler)]
