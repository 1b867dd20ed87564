"""The findings as the management API answers them and `idp doctor --json` prints them."""

from __future__ import annotations

from collections.abc import Sequence

from idp import doctor
from idp.doctor.check import Installation, Result
from idp.management.call import Call
from idp.schema.answers import Answer
from idp.search.paging import ListDetails
from idp.service import Service


class CheckView(Answer, frozen=True, kw_only=True):
    """`state` is ok, warn, fail or skipped; `found` describes the finding, and `todo` the remedy.
    `names` are some of the `count` things that have the problem; each of `commands` fixes it for
    one of them.
    """

    id: str
    state: str
    about: str
    found: str
    names: list[str] = []
    count: str = "0"
    todo: str = ""
    commands: list[str] = []


class Findings(Answer, frozen=True, kw_only=True):
    details: ListDetails
    result: list[CheckView] = []


async def of_stored(service: Service, call: Call) -> Findings:
    """Runs the checks of what is registered and configured, and returns their findings."""
    installation = Installation(config=service.config, clock=service.clock, store=service.store)
    return answer_of(await doctor.examine(installation, doctor.STORED_AREAS))


def answer_of(results: Sequence[Result]) -> Findings:
    """Returns the results of checks in the form in which answers contain them."""
    views = [_view(each) for each in results]
    return Findings(details=ListDetails(total_result=str(len(views))), result=views)


def _view(result: Result) -> CheckView:
    check, finding = result.check, result.finding
    return CheckView(
        id=check.id,
        state=finding.state,
        about=check.about.msgid,
        found=finding.sentence,
        names=list(finding.names),
        count=str(finding.count),
        todo=result.fix,
        commands=list(finding.commands),
    )
