"""/ui/console/settings/safety: the checks of `idp doctor` that need only store and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Final

from handlers.console import record_pages
from handlers.console.base import ConsoleHandler
from handlers.console.policies.fields import POLICIES
from handlers.console.sections import SECTIONS
from handlers.forms import cells
from handlers.forms.cells import Cell, cell, chip
from idp import api, doctor
from idp.doctor.check import Installation, Result
from idp.foundation.i18n import Message, message
from idp.records import ORGANIZATIONS

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
    "Checks what is registered and configured now. On the server, “idp "
    "doctor” also checks the files, the store and the public address.",
    context="safety",
)
_POLICY_TITLES: Final[Mapping[str, Message]] = {each.kind: each.title for each in POLICIES}


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
        records = [each for result in results for each in result.finding.records]
        org_ids = {getattr(each, "org_id", None) or "" for each in records} - {""}
        keys = [(ORGANIZATIONS, org_id) for org_id in org_ids]
        organizations = {each.id: each.name for each in await service.store.get_many(keys) if each}
        self.whole_list(
            title_text=SECTIONS[_SECTION].label,
            intro=_INTRO,
            columns=_COLUMNS,
            rows=[self._row(result, organizations) for result in results],
            empty_icon="shield-check",
            actions=[],
            commands=self.shell(api.instance.DOCTOR, [], "doctor"),
        )

    def _row(self, result: Result, organizations: Mapping[str, str]) -> Sequence[Cell]:
        finding, is_ok = result.finding, not result.fix
        found = [
            (name, record_pages.address(self, record), _detail(record, organizations))
            for name, record in zip_longest(finding.names, finding.records)
        ]
        found += [(f"… ({finding.count})", None, None)] if finding.count > len(found) else []
        return [
            cells.text(result.check.about),
            cell(chip(_STATES, finding.state), "chip"),
            cells.text(None) if is_ok or not found else cell(found, "links"),
            cells.text(None if is_ok else result.check.fix),
        ]


def _detail(record: object, organizations: Mapping[str, str]) -> Message | str | None:
    """Returns which policy a record is, or else the name of its organization."""
    title = _POLICY_TITLES.get(getattr(record, "kind", ""))
    return title or organizations.get(getattr(record, "org_id", ""))


ROUTES = [(SECTIONS[_SECTION].path, SafetyHandler)]
